/**
 * Runs one part of a bench in a process of its own, so that its memory and its pauses are its own. The process receives
 * its input as JSON, reports progress, answers once, and ends with its parent process.
 */
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export type Progress = (share: number) => void

/** Loads a part. Each process loads only its own. */
type PartLoader = () => Promise<(input: never, progress: Progress) => Promise<unknown>>
export type Parts = { readonly [name: string]: PartLoader }
type Part<All extends Parts, Name extends keyof All> = Awaited<ReturnType<All[Name]>>
export type PartInput<All extends Parts, Name extends keyof All> = Parameters<Part<All, Name>>[0]
export type PartResult<All extends Parts, Name extends keyof All> = Awaited<
  ReturnType<Part<All, Name>>
>

type Message =
  | { readonly kind: 'progress'; readonly share: number }
  | { readonly kind: 'done'; readonly result: unknown }
  | { readonly kind: 'failed'; readonly because: string }

const PROGRESS_MS = 500

export type PartOptions = {
  readonly signal?: AbortSignal
  readonly progress?: Progress
  /** Another Node than this one. */
  readonly node?: string | null
  readonly nodeOptions?: readonly string[]
}

/** `moduleUrl` is that of the module that calls `servePart` with the same parts. */
export function runPart<All extends Parts, Name extends keyof All & string>(
  moduleUrl: string,
  part: Name,
  input: PartInput<All, Name>,
  { signal, progress = () => {}, node = null, nodeOptions = [] }: PartOptions = {},
): Promise<PartResult<All, Name>> {
  signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(moduleUrl), [JSON.stringify({ part, input })], {
      ...(node === null ? {} : { execPath: node }),
      execArgv: [...process.execArgv, ...nodeOptions],
    })
    const stop = () => child.kill('SIGKILL')
    signal?.addEventListener('abort', stop)
    child.on('message', (message: Message) => {
      if (message.kind === 'progress') progress(message.share)
      else if (message.kind === 'failed') reject(new Error(message.because))
      else resolve(message.result as PartResult<All, Name>) // the result of the part of this name
    })
    child.on('error', reject)
    child.on('exit', (code, ending) => {
      signal?.removeEventListener('abort', stop)
      const error = new Error(`${part} ended by ${ending ?? code}.`)
      reject(signal?.aborted === true ? signal.reason : error)
    })
  })
}

/** Runs the part that `runPart` has started this process for, if it has. */
export async function servePart(moduleUrl: string, parts: Parts): Promise<void> {
  const [, program, order] = process.argv
  if (program !== fileURLToPath(moduleUrl) || order === undefined) return
  process.once('disconnect', () => process.exit()) // it has answered, or nobody waits any more
  const send = (message: Message) => process.send?.(message)
  const { part, input } = JSON.parse(order) as { part: string; input: never } // from runPart
  let reportedAt = 0
  const progress = (share: number) => {
    if (performance.now() - reportedAt < PROGRESS_MS) return
    reportedAt = performance.now()
    send({ kind: 'progress', share })
  }
  try {
    const run = await parts[part]?.()
    if (run === undefined) throw new Error(`There is no part ${part}.`)
    send({ kind: 'done', result: (await run(input, progress)) ?? null })
  } catch (error) {
    send({ kind: 'failed', because: error instanceof Error ? error.message : String(error) })
  } finally {
    process.disconnect?.()
  }
}
