/** Folders for tests, inside the one that `global-setup.ts` removes. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function temporaryFolder(): string {
  return mkdtempSync(join(process.env.TEST_FOLDER ?? tmpdir(), 'recollect-'))
}

export function temporaryFile(name: string): string {
  return join(temporaryFolder(), name)
}
