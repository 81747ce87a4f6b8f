/** The messages of a request: a model reads them anyway, so memory does not repeat them. */
import type { Asked } from '../formats/format.ts'
import { stripBlocks } from './block.ts'

/** Trimmed, without blocks of memories. */
export function shownMessages({ exchanges }: Pick<Asked, 'exchanges'>): ReadonlySet<string> {
  const messages = exchanges.flatMap(({ user, assistant }) => [user, assistant ?? ''])
  return new Set(messages.map((text) => stripBlocks(text).trim()))
}
