import type { MemoryId } from '../../domain/ids.ts'
import { type Memory, TRUSTED_LEVELS } from '../../domain/memory.ts'
import { type Scope, toPlace, toUserScope } from '../../domain/scope.ts'
import { forget } from '../../memory/memory-editor.ts'
import { type RememberResult, toRememberResult, writeDraft } from '../../memory/memory-writer.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { extractQueryTerms, extractTerms } from '../../text/search/terms.ts'
import {
  buildPatternDrafts,
  type PatternLearningOptions,
  parseUserRequests,
} from './pattern-drafts.ts'

export type LearnResult = {
  readonly remembered: readonly RememberResult[]
  /** Facts that were not stored because they were forgotten after they were said. */
  readonly refused: number
  /** Memories that the user asked to forget; the change of each can be undone. */
  readonly forgotten: readonly Memory[]
}

/** Stores what the user says about themself in a text, and forgets what the user asks to forget. */
export async function learnPatterns(
  ports: MemoryDependencies,
  scope: Scope,
  text: string,
  options: PatternLearningOptions = {},
): Promise<LearnResult> {
  const remembered: RememberResult[] = []
  let refused = 0
  // No model adjudicates here, because recording a request must not wait for one.
  const { adjudicate: _, ...dependencies } = ports
  const forgotten = await forgetRequested(dependencies, scope, text, options)
  for (const draft of buildPatternDrafts(text, options)) {
    const decision = await writeDraft(dependencies, scope, draft, {
      isHistory: options.isHistory ?? false,
      dryRun: options.dryRun ?? false,
    })
    if (decision.kind === 'refused') refused++
    else remembered.push(toRememberResult(decision))
  }
  return { remembered, refused, forgotten }
}

const CANDIDATES_MAX = 50
const FORGOTTEN_MAX = 20
/** A memory of which the request has so many terms is the one that it names. */
const NAMED_SHARE = 0.75

/** Requests of earlier messages are left alone: what they name may have been stored again since. */
async function forgetRequested(
  ports: MemoryDependencies,
  scope: Scope,
  text: string,
  options: PatternLearningOptions,
): Promise<readonly Memory[]> {
  if (options.isHistory === true || options.dryRun === true) return []
  const requests = parseUserRequests(text, options).filter(({ kind }) => kind === 'forget')
  const forgotten: Memory[] = []
  for (const { content } of requests) {
    for (const id of await findNamedMemories(ports, scope, content)) {
      forgotten.push(await forget(ports, scope, id))
    }
  }
  return forgotten
}

async function findNamedMemories(
  { store }: MemoryDependencies,
  scope: Scope,
  request: string,
): Promise<readonly MemoryId[]> {
  const where = { statuses: ['active'], trusts: TRUSTED_LEVELS } as const
  const userScope = toUserScope(toPlace(scope))
  const { hits } = await store.searchText(userScope, {
    text: request,
    limit: CANDIDATES_MAX,
    where,
  })
  const ids = hits.map(({ id }) => id)
  if (ids.length === 0) return []
  const { rows } = await store.find('memory', userScope, {
    where: { ...where, ids },
    limit: ids.length,
  })
  return rows
    .filter(({ content }) => isNamedBy(content, request))
    .slice(0, FORGOTTEN_MAX)
    .map(({ id }) => id)
}

/** Whether the memory has all terms of the request, or the request most of the memory's. */
function isNamedBy(content: string, request: string): boolean {
  const isFull = computeShare(extractQueryTerms(request), content) === 1
  return isFull || computeShare(extractQueryTerms(content), request) >= NAMED_SHARE
}

function computeShare(terms: readonly string[], text: string): number {
  const present = new Set(extractTerms(text))
  return terms.length === 0 ? 0 : terms.filter((term) => present.has(term)).length / terms.length
}
