/** Folders that are gone when the test process ends. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-test-'))
  folders.push(folder)
  return folder
}

export function temporaryFile(name: string): string {
  return join(temporaryFolder(), name)
}
