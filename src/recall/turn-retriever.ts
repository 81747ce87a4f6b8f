/** Keyword search over conversation turns. */
import type { TurnId } from '../domain/ids.ts'
import type { Scope } from '../domain/scope.ts'
import type { Turn } from '../domain/turn.ts'
import type { DocumentFilter, Store } from '../storage/store.ts'

export type TurnHit = { readonly turn: Turn; readonly score: number }

type TurnQuery = {
  readonly text: string
  readonly limit: number
  readonly where: Omit<DocumentFilter, 'types'>
}

/** Best first. */
export async function retrieveTurns(
  store: Store,
  scope: Scope,
  { text, limit, where }: TurnQuery,
): Promise<readonly TurnHit[]> {
  const { hits } = await store.searchText(scope, {
    text,
    limit,
    where: { ...where, types: ['turn'] },
  })
  if (hits.length === 0) return []
  const ids = hits.map(({ id }) => id as string as TurnId) // documents of turns go by the ids of turns
  const { rows } = await store.find('turn', scope, { where: { ids }, limit: ids.length })
  const turns = new Map<string, Turn>(rows.map((turn) => [turn.id, turn]))
  return hits.flatMap(({ id, score }) => {
    const turn = turns.get(id)
    return turn === undefined ? [] : [{ turn, score }]
  })
}
