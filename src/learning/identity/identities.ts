/** Identity profiles: pinned statements and the narrative derived from them, all stored as memories. */

import type { MemoryId, UserId } from '../../domain/ids.ts'
import { type Memory, NARRATIVE_KEY, TRUSTED_LEVELS, type Trust } from '../../domain/memory.ts'
import type { Scope, ScopeInput } from '../../domain/scope.ts'
import { AppError } from '../../lib/errors.ts'
import type { DraftInput } from '../../memory/draft.ts'
import type { RememberResult } from '../../memory/memory-writer.ts'
import { AUTO_PIN, isAutoPinned } from '../../memory/pins.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { pages } from '../../storage/access/row-pages.ts'
import { normalizeStatement } from '../../text/fingerprint.ts'
import { type Author, assessAuthorship } from '../statement-trust.ts'
import { IDENTITY_IMPORTANCE, IDENTITY_SALIENCE } from './identity-grade.ts'

export type IdentityProfile = {
  /** Null for the owner itself, without users. */
  readonly user: UserId | null
  /** Oldest first. */
  readonly overrides: readonly Memory[]
  readonly narrative: Memory | null
}

export type AddIdentityResult = {
  /** `known`: the statement exists, ignoring case, and nothing was changed. */
  readonly outcome: RememberResult['outcome'] | 'known'
  readonly memory: Memory
  /** The memory that was replaced or contradicted. */
  readonly other: Memory | null
}

export async function listIdentities(
  ports: MemoryDependencies,
  scope: Scope,
): Promise<readonly IdentityProfile[]> {
  const found = new Map<UserId | null, { overrides: Memory[]; narrative: Memory | null }>()
  for (const memory of await identityMemories(ports, scope)) {
    const { user } = memory.place
    const known = found.get(user) ?? { overrides: [], narrative: null }
    found.set(user, known)
    if (memory.key === NARRATIVE_KEY) known.narrative = memory
    else known.overrides.push(memory)
  }
  return [...found].map(([user, identity]) => ({ user, ...identity }))
}

async function identityMemories(
  { store }: MemoryDependencies,
  { owner, user }: Scope,
): Promise<readonly Memory[]> {
  const found: Memory[] = []
  const scope = user === undefined ? { owner } : { owner, user }
  const where = {
    categories: ['identity'],
    statuses: ['active', 'disabled'],
    // Suspect memories are not part of the context, so they are not listed either.
    trusts: TRUSTED_LEVELS,
  } as const
  for await (const page of pages(store, 'memory', scope, { where, order: 'oldest' })) {
    found.push(...page)
  }
  return found
}

/** Fails with `not_found` for memories that are no identity statements. */
export async function getIdentity(
  { store }: MemoryDependencies,
  scope: Scope,
  id: MemoryId,
): Promise<Memory> {
  const memory = await store.get('memory', scope, id)
  if (memory?.category === 'identity') return memory
  throw new AppError('not_found', `Identity statement ${id} not found.`, { id })
}

export type IdentityInput = {
  readonly content: string
  readonly source: string
  /** Whose words it holds. Default: a person's. */
  readonly author?: Author
}

export async function addIdentity(
  ports: MemoryDependencies,
  remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>,
  { owner, user }: Scope,
  { content, source, author = 'person' }: IdentityInput,
): Promise<AddIdentityResult> {
  const home = { owner, user: user ?? null }
  const normalized = normalizeStatement(content)
  const known = (await identityMemories(ports, home)).find(
    (memory) => memory.key !== NARRATIVE_KEY && normalizeStatement(memory.content) === normalized,
  )
  // Adding a learned statement by hand makes it the user's own.
  const isUserStatement = known !== undefined && !isAutoPinned(known)
  if (isUserStatement) return { outcome: 'known', memory: known, other: null }
  // A fact with the same statement becomes part of the identity.
  const trust = assessAuthorship(author, [content])
  const { outcome, memory, other } = await remember(home, {
    content,
    category: 'identity',
    importance: IDENTITY_IMPORTANCE,
    salience: IDENTITY_SALIENCE,
    ...toPin(trust),
    trust,
    provenance: { source, ...(author === 'model' ? { speaker: 'assistant' } : {}) },
  })
  return { outcome, memory, other }
}

/** A pinned memory is in every context, so a suspect one is not pinned; a person may replace what others pinned. */
function toPin(trust: Trust): Pick<DraftInput, 'pinned' | 'metadata'> {
  if (trust === 'suspect') return {}
  return trust === 'user' ? { pinned: true } : { pinned: true, metadata: AUTO_PIN }
}
