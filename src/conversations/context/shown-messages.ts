/** The messages of a request: a model reads them anyway, so memory does not repeat them. */

import { stripBlocks } from '../../domain/context-block.ts'
import type { Asked } from '../../domain/model-call.ts'

/** Trimmed, without blocks of memories. */
export function collectShownMessages({ exchanges }: Pick<Asked, 'exchanges'>): ReadonlySet<string> {
  const messages = exchanges.flatMap(({ user, assistant }) => [user, assistant ?? ''])
  return new Set(messages.map((text) => stripBlocks(text).trim()))
}
