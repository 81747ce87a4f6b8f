import type { MemoryId, OwnerId } from '../../domain/ids.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import type { RecallQuery } from '../../recall/recall-query.ts'
import type { RecalledMemory, RecallResult } from '../../recall/recall-result.ts'
import type { Change } from '../../storage/store.ts'
import type { CountTokens } from '../../text/tokens.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import type { ContextBlock } from './block-composer.ts'
import type { UserScope } from './user-cache.ts'

export type ContextRequest = {
  /** Whose message it is. What others told the same owner is not for it. */
  readonly home: UserScope
  /** Everything of the user, or a session. Asked for only when something is looked for. */
  readonly place: () => Promise<Scope>
  readonly text: string
  /** What was said in the request itself: a model that reads it needs no quotation of it. */
  readonly shown?: ReadonlySet<string>
  /** What the person said just before in the session, newest first. */
  readonly context?: readonly string[]
  readonly at: Instant
  readonly settings: Settings
  /** In tokens, for all of the block. */
  readonly budget: number
  readonly countTokens: CountTokens
  /** How many memories at most, besides those that are always given. */
  readonly limit?: number
  /** How long each part of recall may take. */
  readonly retrieverTimeoutMs?: number
  /** How to look, where it is not to be as the settings say. The purpose `search` counts no use. */
  readonly recallOptions?: Pick<RecallQuery, 'strategy' | 'fusion' | 'purpose'>
  /** What is left of the time that all of it may take. */
  readonly getRemainingMs: () => number
  readonly signal: AbortSignal
  /** Parts that failed, noted as soon as it is known. */
  readonly degraded: Set<string>
}

export type ContextBuilderDependencies = {
  readonly ports: MemoryDependencies
  readonly recall: (scope: Scope, query: RecallQuery) => Promise<RecallResult>
  /** On the account of an owner; null where there is none. */
  readonly modelFor: (owner: OwnerId) => LanguageModel | null
  /** Counts that memories were given to a model. */
  readonly countUse: (scope: Scope, ids: readonly MemoryId[]) => void
}

export type ContextResult = {
  readonly gate: ReceiptGate
  /** Or why there is nothing to give. */
  readonly block: ContextBlock | 'not-needed' | 'no-relevant-memories' | 'no-budget'
  /** What recall found, also what did not fit. */
  readonly recalled: readonly RecalledMemory[]
}

export interface ContextBuilder {
  buildContext(message: ContextRequest): Promise<ContextResult>
  /** Is to hear every commit. */
  onCommit(changes: readonly Change[]): void
  /** Looks again the next time, for what other processes have changed. */
  invalidate(owners: readonly OwnerId[] | 'any'): void
  /** Lets go of texts of memories. */
  purgeCaches(): void
  close(): Promise<void>
}
