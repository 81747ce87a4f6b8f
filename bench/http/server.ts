/**
 * The server in a process of its own, filled with memories. It receives its data folder, answers with its address and
 * key, and reports its memory usage on request.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createEngine } from '../../src/app/composition.ts'
import { serve } from '../../src/app/serve.ts'
import { fill, OWNER, SETTINGS } from './calls.ts'

type Order = {
  readonly path: string
  readonly memories: number
  /** The folder of the built Studio, when it is served too. */
  readonly studioFolder?: string
}
type Ready = { readonly url: string; readonly key: string }

export type BenchServer = Ready & {
  rssMb(): Promise<number>
  /** Durations of requests inside the server since the last call, without health checks. */
  insideMs(): Promise<readonly number[]>
  stop(): Promise<void>
}

export async function startServer(order: Order): Promise<BenchServer> {
  const child = fork(fileURLToPath(import.meta.url), [JSON.stringify(order)])
  const ready = (await answerOf(child)) as Ready // the first thing it says
  return {
    ...ready,
    rssMb: async () => {
      child.send('memory')
      return Number(await answerOf(child))
    },
    insideMs: async () => {
      child.send('times')
      return (await answerOf(child)) as readonly number[] // what it answers to that
    },
    stop: async () => {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}

function answerOf(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The server ended.'))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      resolve(answer)
    })
  })
}

async function run({ path, memories, studioFolder }: Order): Promise<void> {
  const engine = await createEngine({ path, embedding: false, settings: SETTINGS })
  await fill(engine, memories)
  let times: number[] = []
  const serving = await serve({
    host: '127.0.0.1',
    port: 0,
    engine,
    version: 'bench',
    ...(studioFolder === undefined ? {} : { studioFolder }),
    onRequest: ({ route, ms }) => {
      if (!route.startsWith('/health')) times.push(ms)
    },
  })
  const { secret } = await engine.admin.keys.create({
    name: 'bench',
    defaultOwner: OWNER,
    role: 'user',
  })
  process.on('message', (message) => {
    if (message === 'times') {
      process.send?.(times)
      times = []
      return
    }
    process.send?.(Math.round(process.memoryUsage().rss / 2 ** 20))
  })
  process.once('disconnect', async () => {
    await serving.close()
    await engine.close()
  })
  process.send?.({ url: serving.url, key: secret })
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  await run(JSON.parse(process.argv[2]) as Order) // from startServer
}
