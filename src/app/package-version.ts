import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findPackageFolder } from '../lib/package-folder.ts'

/** The version in the package's `package.json`. */
export function readPackageVersion(): string {
  const file = join(findPackageFolder(), 'package.json')
  const { version }: { version: unknown } = JSON.parse(readFileSync(file, 'utf8'))
  return String(version)
}
