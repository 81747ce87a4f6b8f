/** Workers run compiled; an old one would be tested in place of the sources. */
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

export function expectFreshWorker(worker: string, sources: readonly string[]): void {
  const files = sources.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  if (changedAt(worker) < Math.max(...files.map(changedAt))) {
    throw new Error(`${worker} is missing or older than its sources. Run: node scripts/ready.mjs`)
  }
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
