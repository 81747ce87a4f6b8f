import type { Embedder, EmbedOptions } from '../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../src/models/embedders/hashing-embedder.ts'

export type EmbedCall = EmbedOptions & { readonly texts: readonly string[] }

/**
 * The reference embedder with a script: before each call, `before` may throw, or wait, or look at the texts. Every call
 * is noted.
 */
export function scriptedEmbedder(
  before: (call: EmbedCall, number: number) => void | Promise<void> = () => {},
): Embedder & { readonly calls: readonly EmbedCall[]; readonly texts: () => readonly string[] } {
  const inner = createHashingEmbedder()
  const calls: EmbedCall[] = []
  return {
    ...inner,
    calls,
    texts: () => calls.flatMap((call) => call.texts),
    embed: async (texts, options) => {
      const call = { texts, ...options }
      calls.push(call)
      await before(call, calls.length)
      return inner.embed(texts, options)
    },
  }
}

/** Ends when the signal does, with the error that the platform gives. */
export function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => reject(signal?.reason)
    if (signal?.aborted) stop()
    signal?.addEventListener('abort', stop, { once: true })
  })
}

/** A promise to be settled from outside. */
export function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
