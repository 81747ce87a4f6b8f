/**
 * Decides which kind of memories a message needs, in the mode of `gateway.gateMode`: no gate, rules or a model. When the
 * model is missing, late, failing or ambiguous, the rules decide.
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

const NO_GATE: Omit<ReceiptGate, 'mode' | 'by'> = {
  section: 'all',
  reason: 'Every message is looked up.',
}

type GateRunnerDependencies = {
  readonly clock: Clock
  /** The model of an owner, charged to its budget; null when there is none. */
  readonly modelFor: (owner: OwnerId) => LanguageModel | null
}

type GateRequest = {
  readonly owner: OwnerId
  readonly message: string
  readonly settings: Settings
  /** Called only when the mode needs the names. */
  readonly loadKnownNames: () => Promise<readonly string[]>
  readonly getModelTimeoutMs: () => number
  readonly signal: AbortSignal
  /** Called when the model fails and the rules decide. */
  readonly onFailure: (error: unknown) => void
}

/** Enough for one word, and for a model that reasons first. */
const ANSWER_TOKENS_MAX = 256
const CIRCUIT_BREAKERS_MAX = 1_000

export class GateRunner {
  readonly #dependencies: GateRunnerDependencies
  /** By owner and model: the failure of one must not affect the others. */
  readonly #circuitBreakers = new LruCache<string, CircuitBreaker>({
    entriesMax: CIRCUIT_BREAKERS_MAX,
  })

  constructor(dependencies: GateRunnerDependencies) {
    this.#dependencies = dependencies
  }

  async decide(request: GateRequest): Promise<ReceiptGate> {
    const mode = request.settings['gateway.gateMode']
    if (mode === 'off') return { mode, by: mode, ...NO_GATE }
    const entities = await request.loadKnownNames()
    const decision = mode === 'llm' ? await this.#askModel(request, entities) : null
    if (decision !== null) return { mode, by: 'llm', ...decision }
    return { mode, by: 'heuristic', ...classifyMessage(request.message, { entities }) }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#circuitBreakers.values()].map((breaker) => breaker.close()))
  }

  /** Null when there is no model or no clear answer. */
  async #askModel(
    { owner, message, settings, signal, getModelTimeoutMs, onFailure }: GateRequest,
    entities: readonly string[],
  ): Promise<GateDecision | null> {
    const name = settings['gateway.gateModel'] || settings['learning.extractionModel']
    const model = name === '' ? null : this.#dependencies.modelFor(owner)
    if (model === null) return null
    const messages = buildGatePrompt(message, { entities })
    const circuitBreaker = this.#getCircuitBreaker(owner, name)
    const isOpen = circuitBreaker.openReason !== null
    const answer = await circuitBreaker.runGuarded(
      getModelTimeoutMs(),
      async (timeoutSignal, { awaitAnswer }) => {
        const { text } = await awaitAnswer(() =>
          model.complete({
            ...{ model: name, messages, json: false, outputTokensMax: ANSWER_TOKENS_MAX },
            signal: AbortSignal.any([timeoutSignal, signal]),
          }),
        )
        return parseGateAnswer(text)
      },
    )
    if (answer.kind === 'done') return answer.result
    // An open circuit breaker was reported when it opened.
    if (!isOpen && !signal.aborted) onFailure(answer.error)
    return null
  }

  #getCircuitBreaker(owner: OwnerId, model: string): CircuitBreaker {
    const key = JSON.stringify([owner, model])
    return this.#circuitBreakers.getOrCreate(key, () =>
      createModelBreaker(this.#dependencies.clock),
    )
  }
}
