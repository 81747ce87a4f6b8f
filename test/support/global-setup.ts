/** One folder for everything the tests write, gone when they are done: workers may be stopped before they clean up. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-test-'))
  process.env.TEST_FOLDER = folder
  return () => rmSync(folder, { recursive: true, force: true })
}
