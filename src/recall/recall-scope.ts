/** Recall scopes: the owner's memories and shared memory are searched separately, then merged by score. */

import { type Scope, SHARED_OWNER } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import type { RecallQuery } from './recall-query.ts'
import type { RecalledMemory, RecallResult } from './recall-result.ts'

export type RecallScope = Settings['recall.scope']

/** The scopes that a recall searches. */
export function resolveRecallScopes(
  scope: Scope,
  requested: RecallScope | undefined,
  settings: ScopeSettings,
): readonly Scope[] {
  const scopes = resolveOwnScopes(scope, requested, settings)
  const { owner, user = null } = scope
  return settings['recall.ownerMemoryForUsers'] && user !== null
    ? [...scopes, { owner, user: null }]
    : scopes
}

type ScopeSettings = Pick<
  Settings,
  'recall.scope' | 'recall.sharedMemoryEnabled' | 'recall.ownerMemoryForUsers'
>

function resolveOwnScopes(
  scope: Scope,
  requested: RecallScope | undefined,
  settings: ScopeSettings,
): readonly Scope[] {
  const { session, ...everywhere } = scope
  const isSessionNamed = session !== undefined && session !== null
  if (requested === 'session' && !isSessionNamed) {
    throw new AppError('invalid_input', '`sessionId` is required for the scope `session`.', {
      field: 'sessionId',
    })
  }
  const reach = requested ?? (isSessionNamed ? 'session' : settings['recall.scope'])
  if (reach === 'session' && isSessionNamed) return [scope]
  if (reach !== 'global') return [everywhere]
  if (!settings['recall.sharedMemoryEnabled']) {
    if (requested === undefined) return [everywhere]
    throw new AppError(
      'invalid_input',
      'Shared memory is disabled. Turn on `recall.sharedMemoryEnabled` to use the scope `global`.',
      { field: 'scope' },
    )
  }
  return scope.owner === SHARED_OWNER ? [everywhere] : [everywhere, { owner: SHARED_OWNER }]
}

/** Merges results of one question; their scores are comparable, because all were ranked by the same evidence. */
export function mergeRecallResults(
  results: readonly RecallResult[],
  limit: number,
  { tokensMax }: Pick<RecallQuery, 'tokensMax'>,
): RecallResult {
  const [own] = results
  if (own === undefined) throw new AppError('internal', 'There is no recall result to merge.')
  if (results.length === 1) return own
  const ranked = results.flatMap(({ memories }) => memories).sort((a, b) => b.score - a.score)
  const memories = takeWithinTokens(ranked.slice(0, limit), tokensMax ?? Number.POSITIVE_INFINITY)
  const similarities = results.flatMap(({ topSimilarity }) => topSimilarity ?? [])
  return {
    ...own,
    memories,
    abstained: memories.length === 0 && results.some(({ abstained }) => abstained),
    topSimilarity: similarities.length === 0 ? null : Math.max(...similarities),
    tokens: memories.reduce((sum, { tokens }) => sum + tokens, 0),
  }
}

function takeWithinTokens(
  ranked: readonly RecalledMemory[],
  tokensMax: number,
): readonly RecalledMemory[] {
  let remaining = tokensMax
  return ranked.filter(({ tokens }, position) => {
    const fits = position === 0 || tokens <= remaining
    if (fits) remaining -= tokens
    return fits
  })
}
