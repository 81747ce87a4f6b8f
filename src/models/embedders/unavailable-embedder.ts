/**
 * Stands in for a configured model that cannot be used, for example without its key. Recall uses keywords meanwhile, and
 * status and health show the reason: refusing to start would lock users out of the settings that fix it.
 */
import { AppError } from '../../lib/errors.ts'
import type { Embedder } from '../embedder.ts'

export function createUnavailableEmbedder(
  { source, model }: { readonly source: string; readonly model: string },
  because: string,
): Embedder {
  const refuse = async (): Promise<never> => {
    throw new AppError('missing_part', because, { source, model })
  }
  return {
    describe: refuse,
    embed: refuse,
    report: () => ({ source, model, state: { kind: 'failing', reason: because }, facts: {} }),
    close: async () => {},
  }
}
