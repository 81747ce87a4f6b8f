/** What the gateway would give a model for a message: found in the same way, but given to nobody and counted nowhere. */

import { stripBlocks } from '../../domain/context-block.ts'
import { parseScope, type ScopeInput } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { RecalledMemory } from '../../recall/recall-result.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { SkipReason } from '../conversations.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import type { ContextBlock } from './block-composer.ts'
import type { ContextBuilder } from './types.ts'

/** Settings that can be tried without changing them. */
export type PreviewSettings = Partial<
  Pick<
    Settings,
    | 'recall.strategy'
    | 'recall.fusion'
    | 'gateway.gateMode'
    | 'gateway.contextSources'
    | 'gateway.contextTokensMax'
    | 'gateway.contextPosition'
  >
>

export type ContextPreview = {
  /** Those of the owner, with what is tried. */
  readonly settings: Settings
  /** Null when there is nothing to decide about. */
  readonly gate: ReceiptGate | null
  /** Also there when the settings keep it from being given. */
  readonly block: ContextBlock | null
  /** Why the gateway would give nothing; null when it would. */
  readonly skipped: SkipReason | null
  readonly recalled: readonly RecalledMemory[]
  readonly degraded: readonly string[]
  /** The gateway goes on without memories when it takes longer than `injectDeadlineMs`. */
  readonly durationMs: number
}

type PreviewParts = {
  readonly ports: MemoryDependencies
  readonly read: ContextBuilder['buildContext']
}

export async function previewContext(
  { ports, read }: PreviewParts,
  scope: ScopeInput,
  message: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<ContextPreview> {
  const started = performance.now()
  const degraded = new Set<string>()
  const end = (
    outcome: Pick<ContextPreview, 'skipped'> &
      Partial<Pick<ContextPreview, 'gate' | 'block' | 'recalled'>>,
  ): ContextPreview => ({
    settings,
    gate: null,
    block: null,
    recalled: [],
    ...outcome,
    degraded: [...degraded],
    durationMs: Math.round((performance.now() - started) * 1_000) / 1_000,
  })
  const text = stripBlocks(message).trim()
  if (text === '') return end({ skipped: 'no-user-message' })
  if (settings['gateway.contextTokensMax'] === 0) return end({ skipped: 'no-budget' })
  const { owner, user = null, session } = parseScope(scope)
  const home = { owner, user }
  const {
    'recall.strategy': strategy,
    'recall.fusion': fusion,
    'recall.scope': recallScope,
  } = settings
  const { gate, block, recalled } = await read({
    home,
    place: async () =>
      recallScope === 'session' && session !== undefined ? { ...home, session } : home,
    text,
    at: ports.clock.now(),
    settings,
    budget: settings['gateway.contextTokensMax'],
    countTokens: ports.countTokens ?? estimateTokens,
    recallOptions: { strategy, fusion, purpose: 'search' },
    getRemainingMs: () => settings['gateway.contextTimeoutMs'],
    signal,
    degraded,
  })
  if (typeof block === 'string') return end({ gate, recalled, skipped: block })
  return end({ gate, recalled, block, skipped: getSkipReason(settings) })
}

/** What keeps a block from being given that there is. */
function getSkipReason({
  'gateway.enabled': enabled,
  'gateway.contextEnabled': inject,
  'gateway.dryRun': shadow,
}: Settings): SkipReason | null {
  if (!enabled) return 'off'
  if (!inject) return 'context-disabled'
  return shadow ? 'dry-run' : null
}
