/**
 * Stands for a model that was chosen and can't be asked, as one whose key is missing. Recall goes by words meanwhile, and
 * status and health say why: refusing to start would keep people from the very settings that mend it.
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
