/** Moves a store and tells each step on a line of its own; or writes to one until that is refused, and tells each write. */
import { writeSync } from 'node:fs'
import { createCliEnvironment } from '../../src/app/cli-environment.ts'
import { createEngine } from '../../src/app/composition.ts'
import { readConfig } from '../../src/app/config/config.ts'
import { AppError } from '../../src/lib/errors.ts'

const [what, folder = '', target = ''] = process.argv.slice(2)
const tell = (line: object) => writeSync(1, `${JSON.stringify(line)}\n`)

async function move(): Promise<void> {
  const environment = { RECOLLECT_DATA: folder, RECOLLECT_EMBEDDING_SOURCE: 'none' }
  const system = { platform: 'linux', home: '/nowhere' } as const
  const config = readConfig({}, environment, system)
  const serveMcp = () => Promise.reject(new Error('Nobody speaks MCP here.'))
  const setup = createCliEnvironment({
    config,
    environment,
    now: Date.now,
    askPassphrase: null,
    serveMcp,
  })
  const moved = await setup.database.migrator.migrate(
    { kind: 'folder', folder: target, key: null },
    {
      onProgress: (phase, done) => tell({ phase, done }),
      signal: new AbortController().signal,
    },
  )
  tell({ moved })
}

async function write(): Promise<void> {
  const engine = await createEngine({ path: `${folder}/recollect.db`, embedding: false })
  tell({ ready: true })
  try {
    for (let number = 0; ; number++) {
      const scope = { owner: number % 5 === 0 ? 'bob' : 'ada' }
      const { memory } = await engine.remember(scope, { content: `written meanwhile ${number}` })
      if (number % 4 === 3) await engine.memories.erase(scope, memory.id)
      else tell({ owner: scope.owner, id: memory.id })
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
  } catch (error) {
    tell({ refused: error instanceof AppError ? error.message : String(error) })
  }
  await engine.close()
}

await (what === 'move' ? move() : write())
