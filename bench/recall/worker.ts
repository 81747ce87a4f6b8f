/**
 * One part of the bench in a process of its own: what it needs of memory is then its own, and so are its pauses.
 * It receives its task as JSON, reports progress, and answers once.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Each loads only what it needs, because one of them is about how soon a process answers. */
const PARTS = {
  model: async () => (await import('./model.ts')).measureModel,
  fill: async () => (await import('./engine-queries.ts')).fill,
  measureQueries: async () => (await import('./engine-queries.ts')).measureQueries,
  answerOnce: async () => (await import('./engine-queries.ts')).answerOnce,
  base: async () => (await import('../stores/base.ts')).makeBase,
  fillLargeOwner: async () => (await import('./large-owner.ts')).fillLargeOwner,
  queryLargeOwner: async () => (await import('./large-owner.ts')).queryLargeOwner,
  queryWhileEmbedding: async () => (await import('./background-embedding.ts')).queryWhileEmbedding,
  peer: async () => (await import('./peers.ts')).measurePeer,
}
type PartName = keyof typeof PARTS
type Part<P extends PartName> = Awaited<ReturnType<(typeof PARTS)[P]>>
type InputOf<P extends PartName> = Parameters<Part<P>>[0]
type ResultOf<P extends PartName> = Awaited<ReturnType<Part<P>>>

type Message =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly because: string }

/** A hundred thousand documents of Orama need more than Node gives by default. */
const HEAP_MB = 8_192
const PROGRESS_MS = 500

/** Does a part in a new process. `tookMs` counts from before that process was there to its answer. */
export function inProcess<P extends PartName>(
  part: P,
  input: InputOf<P>,
  progress: (share: number) => void = () => {},
): Promise<ResultOf<P> & { readonly tookMs: number }> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ part, input })], {
      // Only where it is needed: with so much room, garbage stays on the heap and would count as memory in use.
      execArgv: [
        ...process.execArgv,
        ...(part === 'peer' ? [`--max-old-space-size=${HEAP_MB}`] : []),
      ],
    })
    child.on('message', (message: Message) => {
      if (message.kind === 'progress') progress(message.share)
      else if (message.kind === 'failed') reject(new Error(message.because))
      else {
        const result = message.result as ResultOf<P> // what the part of this name gives
        resolve({ ...result, tookMs: performance.now() - began })
      }
    })
    child.on('error', reject)
    child.on('exit', (code, signal) => reject(new Error(`${part} ended by ${signal ?? code}.`)))
  })
}

async function work(text: string): Promise<void> {
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
