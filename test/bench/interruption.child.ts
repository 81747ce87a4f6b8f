/** A bench as short as can be: makes a folder, and has a part done elsewhere that takes until it is interrupted. */
import { mkdirSync, rmSync } from 'node:fs'
import { interruptible } from '../../bench/interruption.ts'
import { inProcess } from '../../bench/stores/worker.ts'

// The part is done by this program too, in another process that is told so.
if (process.argv[2] === undefined) {
  await interruptible(async (signal) => {
    mkdirSync('bench')
    try {
      const nobody = { call: 'search', urls: ['http://127.0.0.1:9'], key: 'none' } as const
      const much = { owners: 1, memories: 1, connections: 1, seconds: 600, run: 0 }
      const part = inProcess('load', { ...nobody, ...much }, { signal })
      process.stdout.write('started\n')
      await part
    } finally {
      rmSync('bench', { recursive: true })
    }
  })
  process.stdout.write('went on\n')
}
