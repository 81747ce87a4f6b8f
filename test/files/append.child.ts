/** Appends lines, one after the other, and changes a counter in a second file. */

import { systemClock } from '../../src/app/system-clock.ts'
import { createWorkspace } from '../../src/files/local/local-workspace.ts'

type Options = { readonly path: string; readonly writer: number; readonly lines: number }

const { path, writer, lines }: Options = JSON.parse(String(process.argv[2]))
const workspace = createWorkspace({ path, clock: systemClock, lockWaitMs: 60_000 })
for (let line = 0; line < lines; line++) {
  await workspace.append('memory/log.md', `${writer}:${line}`)
  await workspace.update('counter.txt', (text) => String(Number(text ?? '0') + 1))
  process.stdout.write('.')
}
