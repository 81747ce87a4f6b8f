/**
 * One part of the bench in a process of its own: what it needs of memory is then its own, and so are its pauses.
 * It receives its task as JSON, reports progress, and answers once. It ends with its parent process.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Each loads only what it needs. */
const PARTS = {
  base: async () => (await import('./base.ts')).makeBase,
  nearest: async () => (await import('./base.ts')).findNearest,
  fill: async () => (await import('./store-queries.ts')).fill,
  measureQueries: async () => (await import('./store-queries.ts')).measureQueries,
  fillForLoad: async () => (await import('./load-data.ts')).fillForLoad,
  load: async () => (await import('./load-client.ts')).load,
}
type PartName = keyof typeof PARTS
type Part<P extends PartName> = Awaited<ReturnType<(typeof PARTS)[P]>>
type InputOf<P extends PartName> = Parameters<Part<P>>[0]
type ResultOf<P extends PartName> = Awaited<ReturnType<Part<P>>>

type Message =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly because: string }

export type PartOptions = {
  readonly signal: AbortSignal
  readonly progress?: (share: number) => void
  /** Another Node than this one. */
  readonly node?: string | null
}

const PROGRESS_MS = 500

export function inProcess<P extends PartName>(
  part: P,
  input: InputOf<P>,
  { signal, progress = () => {}, node = null }: PartOptions,
): Promise<ResultOf<P>> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ part, input })], {
      ...(node === null ? {} : { execPath: node }),
    })
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop)
    child.on('message', (message: Message) => {
      if (message.kind === 'progress') progress(message.share)
      else if (message.kind === 'failed') reject(new Error(message.because))
      else resolve(message.result as ResultOf<P>) // what the part of this name gives
    })
    child.on('error', reject)
    child.on('exit', (code, ending) => {
      signal.removeEventListener('abort', stop)
      reject(signal.aborted ? signal.reason : new Error(`${part} ended by ${ending ?? code}.`))
    })
  })
}

async function work(text: string): Promise<void> {
  process.once('disconnect', () => process.exit()) // it has answered, or nobody waits any more
  const tell = (message: Message) => process.send?.(message)
  const { part, input } = JSON.parse(text) as { part: PartName; input: never } // from inProcess
  let reportedAt = 0
  const progress = (share: number) => {
    if (performance.now() - reportedAt < PROGRESS_MS) return
    reportedAt = performance.now()
    tell({ kind: 'progress', share })
  }
  try {
    const begin = await PARTS[part]()
    tell({ kind: 'done', result: await begin(input, progress) })
  } catch (error) {
    tell({ kind: 'failed', because: error instanceof Error ? error.message : String(error) })
  } finally {
    process.disconnect?.()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  await work(process.argv[2])
}
