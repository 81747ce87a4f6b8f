/** One part of the bench in a process of its own, so that its memory is its own. */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { ask, consolidateOwner, importAll, type ScaleInput } from './measuring.ts'

const PARTS = { importAll, ask, consolidateOwner }
type PartName = keyof typeof PARTS
type ResultOf<P extends PartName> = Awaited<ReturnType<(typeof PARTS)[P]>>

type Message =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly reason: string }

export function runPart<P extends PartName>(
  part: P,
  input: ScaleInput,
  { signal, progress }: { signal: AbortSignal; progress: (share: number) => void },
): Promise<ResultOf<P>> {
  signal.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [JSON.stringify({ part, input })])
    const stop = () => child.kill('SIGKILL')
    signal.addEventListener('abort', stop)
    child.on('message', (message: Message) => {
      if (message.kind === 'progress') progress(message.share)
      else if (message.kind === 'failed') reject(new Error(message.reason))
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
  const send = (message: Message) => process.send?.(message)
  const { part, input } = JSON.parse(text) as { part: PartName; input: ScaleInput } // from runPart
  try {
    const result = await PARTS[part](input, (share) => send({ kind: 'progress', share }))
    send({ kind: 'done', result })
  } catch (error) {
    send({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  } finally {
    process.disconnect?.()
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] !== undefined) {
  await work(process.argv[2])
}
