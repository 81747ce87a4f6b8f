/**
 * What kind of memories a message needs, in each mode of the setting `relevanceGateMode`: nobody decides, rules do, or a
 * model does. A model that is not there, late, down or unclear leaves it to the rules.
 */

import type { OwnerId } from '../../domain/ids.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import { type CircuitBreaker, createModelBreaker } from '../../lib/circuit-breaker.ts'
import type { Clock } from '../../lib/clock.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import type { ReceiptGate } from '../receipts/receipt.ts'
import { classifyMessage, type GateDecision } from './gate.ts'
import { buildGatePrompt, parseGateAnswer } from './gate-prompt.ts'

/** Whatever stands in the way of recall's own judgement is off by default. */
const UNDECIDED: Omit<ReceiptGate, 'mode' | 'by'> = {
  section: 'all',
  reason: 'Every message is looked up.',
}

export type GateRunnerDependencies = {
  readonly clock: Clock
  /** On the account of an owner; null where there is none. */
  readonly modelFor: (owner: OwnerId) => LanguageModel | null
}

export type GateRequest = {
  readonly owner: OwnerId
  readonly message: string
  readonly settings: Settings
  /** Asked for only where they are needed. */
  readonly names: () => Promise<readonly string[]>
  /** How long a model may take. */
  readonly modelMs: () => number
  readonly signal: AbortSignal
}

/** Enough for a word, and for a model that thinks before it says it. */
const ANSWER_TOKENS_MAX = 256
const GUARDS_MAX = 1_000

export class GateRunner {
  readonly #parts: GateRunnerDependencies
  /** By owner and model: what keeps one from being asked need not keep the others. */
  readonly #guards = new LruCache<string, CircuitBreaker>({ entriesMax: GUARDS_MAX })

  constructor(parts: GateRunnerDependencies) {
    this.#parts = parts
  }

  async decide(asked: GateRequest): Promise<ReceiptGate> {
    const mode = asked.settings['gateway.gateMode']
    if (mode === 'off') return { mode, by: mode, ...UNDECIDED }
    const entities = await asked.names()
    const said = mode === 'llm' ? await this.#ask(asked, entities) : null
    if (said !== null) return { mode, by: 'llm', ...said }
    return { mode, by: 'heuristic', ...classifyMessage(asked.message, { entities }) }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#guards.values()].map((guard) => guard.close()))
  }

  /** Null when it is to be decided without. */
  async #ask(asked: GateRequest, entities: readonly string[]): Promise<GateDecision | null> {
    const { owner, message, settings, signal } = asked
    const name = settings['gateway.gateModel'] || settings['learning.extractionModel']
    const model = name === '' ? null : this.#parts.modelFor(owner)
    if (model === null) return null
    const messages = buildGatePrompt(message, { entities })
    const answered = await this.#guard(owner, name).run(asked.modelMs(), (late) =>
      model.complete({
        model: name,
        messages,
        json: false,
        outputTokensMax: ANSWER_TOKENS_MAX,
        signal: AbortSignal.any([late, signal]),
      }),
    )
    return answered.kind === 'done' ? parseGateAnswer(answered.result.text) : null
  }

  #guard(owner: OwnerId, model: string): CircuitBreaker {
    const key = JSON.stringify([owner, model])
    return this.#guards.getOrCreate(key, () => createModelBreaker(this.#parts.clock))
  }
}
