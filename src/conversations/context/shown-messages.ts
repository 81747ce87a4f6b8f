/** The messages of a request: a model reads them anyway, so memory does not repeat them. */

import { stripBlocks } from '../../domain/context-block.ts'
import type { ModelRequest } from '../../domain/model-call.ts'

/** Trimmed, without blocks of memories. */
export function collectShownMessages({
  exchanges,
}: Pick<ModelRequest, 'exchanges'>): ReadonlySet<string> {
  const messages = exchanges.flatMap(({ user, assistant }) => [user, assistant ?? ''])
  return new Set(messages.map((text) => stripBlocks(text).trim()))
}
