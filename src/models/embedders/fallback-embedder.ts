/**
 * Several models in order of preference. The first that can be used at all serves the process: vectors of different models
 * are not comparable, so calls never switch between them, and a model that is only busy or unreachable is waited for.
 */
import { AppError, type ErrorCode, toAppError } from '../../lib/errors.ts'
import type { Embedder } from '../embedder.ts'

/** A key that is refused, a model or a runtime that is not there. */
const UNUSABLE: ReadonlySet<ErrorCode> = new Set([
  'missing_part',
  'invalid_input',
  'not_found',
  'forbidden',
  'unauthenticated',
])

export function createFallbackEmbedder(
  embedders: readonly [Embedder, ...(readonly Embedder[])],
): Embedder {
  let index = 0
  let reason = ''
  let isChosen = false
  const current = (): Embedder => embedders[index] ?? embedders[0]

  const choose = async (signal: AbortSignal | undefined): Promise<Embedder> => {
    while (!isChosen) {
      const candidate = index
      try {
        await current().describe(signal)
        isChosen = true
      } catch (thrown) {
        const { code, message } = toAppError(thrown)
        const isLast = candidate === embedders.length - 1
        if (isLast || !(thrown instanceof AppError) || !UNUSABLE.has(code)) throw thrown
        // A concurrent call may have moved on already.
        if (candidate === index) {
          index++
          reason = message
        }
      }
    }
    return current()
  }

  return {
    describe: async (signal) => (await choose(signal)).describe(signal),
    embed: async (texts, call) => (await choose(call.signal)).embed(texts, call),
    report: () => {
      const report = current().report()
      if (index === 0) return report
      const { source, model } = embedders[0].report()
      const facts = { fallbackFor: `${source}/${model}`, fallbackReason: reason }
      return { ...report, facts: { ...report.facts, ...facts } }
    },
    close: async () => {
      await Promise.all(embedders.map((embedder) => embedder.close()))
    },
  }
}
