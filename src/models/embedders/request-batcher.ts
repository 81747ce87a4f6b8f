/**
 * Splits a call into batches within a service's limits and truncates texts, preserving order.
 *
 * When a batch is rejected, bisection finds the offending text. A rejected long text is retried with ever less of its
 * beginning, because token counts are estimates. A text that is rejected even so is reported by its position after all
 * others were embedded.
 */

import { throwIfAborted } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import type { Embedder, EmbedOptions } from '../embedder.ts'
import { estimateBilledTokens, truncateToTokens } from './billed-tokens.ts'

export type RequestLimits = {
  /** Per request, unless a single text exceeds it. */
  readonly tokensMax?: number
  readonly textsMax?: number
  /** Per text; longer ones are truncated. */
  readonly textTokensMax?: number
}

const TOKENS_MAX = 8_000
const TEXTS_MAX = 96
const TEXT_TOKENS_MAX = 8_000
/** Shorter texts are rejected for other reasons than their length. */
const REFUSED_TOKENS_MIN = 256
/** A text that every model accepts. */
const HARMLESS = 'Hello, world.'

type BatchItem = { readonly index: number; readonly text: string; readonly tokens: number }

export function withRequestBatches(embedder: Embedder, limits: RequestLimits = {}): Embedder {
  return {
    describe: (signal) => embedder.describe(signal),
    embed: (texts, options) => new BatchedCall(embedder, options).run(texts, limits),
    report: () => embedder.report(),
    close: () => embedder.close(),
  }
}

class BatchedCall {
  readonly #embedder: Embedder
  readonly #options: EmbedOptions
  readonly #vectors = new Map<number, Float32Array>()
  readonly #refused: number[] = []
  #refusal: AppError | null = null
  #isSound = false

  constructor(embedder: Embedder, options: EmbedOptions) {
    this.#embedder = embedder
    this.#options = options
  }

  async run(texts: readonly string[], limits: RequestLimits): Promise<readonly Float32Array[]> {
    throwIfAborted(this.#options.signal)
    const { textTokensMax = TEXT_TOKENS_MAX } = limits
    const items = texts.map((text, index) =>
      toBatchItem(index, truncateToTokens(text, textTokensMax)),
    )
    for (const batch of splitIntoRequests(items, limits)) await this.#embed(batch)
    if (this.#refusal !== null) throw this.#blamed(this.#refusal, texts.length)
    // Every item has a vector, or the call has thrown.
    return items.map(({ index }) => this.#vectors.get(index) as Float32Array)
  }

  async #embed(items: readonly BatchItem[]): Promise<void> {
    try {
      const texts = items.map(({ text }) => text)
      const vectors = await this.#embedder.embed(texts, this.#options)
      for (const [at, { index }] of items.entries()) {
        const vector = vectors[at]
        if (vector !== undefined) this.#vectors.set(index, vector)
      }
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code !== 'invalid_input') throw thrown
      await this.#embedParts(items, thrown)
    }
  }

  async #embedParts(items: readonly BatchItem[], refusal: AppError): Promise<void> {
    await this.#expectSound(refusal)
    const [first] = items
    if (items.length > 1) {
      const middle = Math.ceil(items.length / 2)
      await this.#embed(items.slice(0, middle))
      await this.#embed(items.slice(middle))
    } else if (first !== undefined && first.tokens > REFUSED_TOKENS_MIN) {
      const shorter = truncateToTokens(first.text, Math.ceil(first.tokens / 2))
      await this.#embed([toBatchItem(first.index, shorter)])
    } else if (first !== undefined) {
      this.#refused.push(first.index)
      this.#refusal ??= refusal
    }
  }

  /** When even a harmless text is refused, the request as such is wrong and no text is to blame. */
  async #expectSound(refusal: AppError): Promise<void> {
    if (this.#isSound) return
    try {
      await this.#embedder.embed([HARMLESS], this.#options)
      this.#isSound = true
    } catch (thrown) {
      throw thrown instanceof AppError && thrown.code === 'invalid_input' ? refusal : thrown
    }
  }

  #blamed(refusal: AppError, count: number): AppError {
    const positions = this.#refused.map((index) => index + 1).join(', ')
    const message = `${refusal.message} To blame, of ${count} texts: number ${positions}.`
    const facts = { index: this.#refused[0] ?? 0, refused: this.#refused.join(',') }
    return new AppError('invalid_input', message, { ...refusal.facts, ...facts }, refusal)
  }
}

function toBatchItem(index: number, text: string): BatchItem {
  return { index, text, tokens: estimateBilledTokens(text) }
}

function splitIntoRequests(
  items: readonly BatchItem[],
  limits: RequestLimits,
): readonly (readonly BatchItem[])[] {
  const { tokensMax = TOKENS_MAX, textsMax = TEXTS_MAX } = limits
  const batches: BatchItem[][] = []
  let current: BatchItem[] = []
  let tokens = 0
  for (const item of items) {
    const isFull = current.length === textsMax || tokens + item.tokens > tokensMax
    if (isFull && current.length > 0) {
      batches.push(current)
      current = []
      tokens = 0
    }
    current.push(item)
    tokens += item.tokens
  }
  if (current.length > 0) batches.push(current)
  return batches
}
