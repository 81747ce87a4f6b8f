/** Previews the block that the gateway would inject for a message. Nothing is injected, recorded or counted. */

import { stripBlocks } from '../../domain/context-block.ts'
import { parseScope, type ScopeInput } from '../../domain/scope.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { RecalledMemory } from '../../recall/recall-result.ts'
import { estimateTokens } from '../../text/tokens.ts'
import type { SkipReason } from '../conversations.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import type { ContextBlock } from './block-composer.ts'
import type { ContextBuilder } from './context-builder.ts'
import { toBlockBudget } from './context-preparation.ts'

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
  /** The owner's settings with those to try. */
  readonly settings: Settings
  /** Null when the gate was not asked. */
  readonly gate: ReceiptGate | null
  /** Present even when a setting prevents its injection. */
  readonly block: ContextBlock | null
  /** Why the gateway would inject nothing; null when it would inject the block. */
  readonly skipped: SkipReason | null
  readonly recalled: readonly RecalledMemory[]
  readonly degraded: readonly string[]
  /** The gateway would give up after `gateway.contextTimeoutMs`. */
  readonly durationMs: number
}

export async function previewContext(
  {
    ports,
    buildContext,
  }: {
    readonly ports: MemoryDependencies
    readonly buildContext: ContextBuilder['buildContext']
  },
  scope: ScopeInput,
  message: string,
  settings: Settings,
  signal: AbortSignal,
): Promise<ContextPreview> {
  const started = performance.now()
  const degraded = new Set<string>()
  const finish = (
    result: Pick<ContextPreview, 'skipped'> &
      Partial<Pick<ContextPreview, 'gate' | 'block' | 'recalled'>>,
  ): ContextPreview => ({
    ...{ settings, gate: null, block: null, recalled: [] },
    ...result,
    degraded: [...degraded],
    durationMs: Math.round((performance.now() - started) * 1_000) / 1_000,
  })
  const text = stripBlocks(message).trim()
  if (text === '') return finish({ skipped: 'no-user-message' })
  const tokensMax = toBlockBudget(settings)
  if (tokensMax === 0) return finish({ skipped: 'no-budget' })
  const { owner, user = null, session } = parseScope(scope)
  const userScope = { owner, user }
  const isSessionScope = settings['recall.scope'] === 'session' && session !== undefined
  const { gate, block, recalled } = await buildContext({
    ...{ userScope, text, settings, tokensMax, signal, degraded },
    resolveScope: async () => (isSessionScope ? { ...userScope, session } : userScope),
    at: ports.clock.now(),
    countTokens: ports.countTokens ?? estimateTokens,
    recallOptions: {
      strategy: settings['recall.strategy'],
      fusion: settings['recall.fusion'],
      purpose: 'search',
    },
    getRemainingMs: () => settings['gateway.contextTimeoutMs'],
  })
  if (typeof block === 'string') return finish({ gate, recalled, skipped: block })
  return finish({ gate, recalled, block, skipped: getSkipReason(settings) })
}

/** The setting that prevents a block from being injected. */
function getSkipReason(settings: Settings): SkipReason | null {
  if (!settings['gateway.enabled']) return 'off'
  if (!settings['gateway.contextEnabled']) return 'context-disabled'
  return settings['gateway.dryRun'] ? 'dry-run' : null
}
