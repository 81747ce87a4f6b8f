/** What was said, found by its words. */
import type { Scope } from '../core/ids.ts'
import type { Turn } from '../core/transcript.ts'
import type { Store, TurnQuery } from '../ports/store.ts'

export type FoundTurn = { readonly turn: Turn; readonly score: number }

/** Best first. */
export async function findSaid(
  store: Store,
  scope: Scope,
  query: TurnQuery,
): Promise<readonly FoundTurn[]> {
  const { hits } = await store.matchTurns(scope, query)
  if (hits.length === 0) return []
  const ids = hits.map(({ id }) => id)
  const { rows } = await store.find('turn', scope, { where: { ids }, limit: ids.length })
  const turns = new Map(rows.map((turn) => [turn.id, turn]))
  return hits.flatMap(({ id, score }) => {
    const turn = turns.get(id)
    return turn === undefined ? [] : [{ turn, score }]
  })
}
