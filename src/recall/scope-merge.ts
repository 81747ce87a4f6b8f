/** Recall in the owner's own memory and in the one that all share: each on its own, then the best of both. */

import { type Scope, SHARED_OWNER } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import type { RecallQuery } from './recall-query.ts'
import type { RecalledMemory, RecallResult } from './recall-result.ts'

export type RecallScope = Settings['recall.scope']

/** The scopes that a question is asked in. */
export function resolveRecallScopes(
  scope: Scope,
  asked: RecallScope | undefined,
  settings: Pick<Settings, 'recall.scope' | 'recall.sharedMemoryEnabled'>,
): readonly Scope[] {
  const { session, ...everywhere } = scope
  const isSessionNamed = session !== undefined && session !== null
  if (asked === 'session' && !isSessionNamed) {
    throw new AppError('invalid_input', 'Which session? Name it.', { field: 'sessionId' })
  }
  const reach = asked ?? (isSessionNamed ? 'session' : settings['recall.scope'])
  if (reach === 'session' && isSessionNamed) return [scope]
  if (reach !== 'global') return [everywhere]
  if (!settings['recall.sharedMemoryEnabled']) {
    if (asked === undefined) return [everywhere]
    throw new AppError('invalid_input', 'Shared memory is off: the setting `sharedMemory`.', {
      field: 'scope',
    })
  }
  return scope.owner === SHARED_OWNER ? [everywhere] : [everywhere, { owner: SHARED_OWNER }]
}

/** Scores of one question are comparable, because both were ranked by the same evidence. */
export function mergeRecallResults(
  answers: readonly RecallResult[],
  limit: number,
  { tokensMax }: Pick<RecallQuery, 'tokensMax'>,
): RecallResult {
  const [own] = answers
  if (own === undefined) throw new AppError('internal', 'There was no answer to merge.')
  if (answers.length === 1) return own
  const ranked = answers.flatMap(({ memories }) => memories).sort((a, b) => b.score - a.score)
  const memories = takeWithinTokens(ranked.slice(0, limit), tokensMax ?? Number.POSITIVE_INFINITY)
  const closeness = answers.flatMap((answer) => answer.topSimilarity ?? [])
  return {
    ...own,
    memories,
    abstained: memories.length === 0 && answers.some(({ abstained }) => abstained),
    topSimilarity: closeness.length === 0 ? null : Math.max(...closeness),
    tokens: memories.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function takeWithinTokens(
  ranked: readonly RecalledMemory[],
  tokensMax: number,
): readonly RecalledMemory[] {
  let left = tokensMax
  return ranked.filter(({ tokens }, place) => {
    const fits = place === 0 || tokens <= left
    if (fits) left -= tokens
    return fits
  })
}
