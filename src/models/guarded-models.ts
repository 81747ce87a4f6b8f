/** Guards language model calls: concurrency limits, circuit breakers and token budgets. */

import type { OwnerId } from '../domain/ids.ts'
import { CircuitBreaker, type ErrorVerdict } from '../lib/circuit-breaker.ts'
import type { Clock } from '../lib/clock.ts'
import { AppError, type ErrorCode, toAppError } from '../lib/errors.ts'
import { LruCache } from '../lib/lru-cache.ts'
import { Semaphore } from '../lib/semaphore.ts'
import { MINUTE_MS } from '../lib/time.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Completion, CompletionRequest, LanguageModel } from './language-model.ts'
import { type BudgetUsage, ModelBudget } from './model-budget.ts'

export type { BudgetUsage as Spent } from './model-budget.ts'

export interface GuardedModels {
  /**
   * The model charged to an owner. Over budget, calls fail with `too_many_requests` and `facts.until`. Interactive calls
   * do not queue behind background work.
   */
  for(owner: OwnerId, lane?: ModelPriority): LanguageModel
  /** Usage of today. */
  spent(owner: OwnerId): Promise<BudgetUsage>
  /** End of the open circuit breaker; null when it is closed. */
  openUntil(model: string): number | null
}

export type ModelPriority = 'background' | 'waited-for'

export type ModelCallReport = {
  readonly model: string
  readonly outcome: 'ok' | ErrorCode
  readonly tokens: Completion['tokens'] | null
  readonly ms: number
}

export type ModelGuardOptions = {
  /** Consecutive failures that open the circuit for `openMs`. */
  readonly failuresMax?: number
  readonly openMs?: number
  /** Tokens per owner and day; 0 disables the limit. */
  readonly budgetOf: (owner: OwnerId) => Promise<number>
  /** Concurrent calls per lane, across owners. */
  readonly concurrency?: number
  /** Called for every call, made or refused. Must not throw. */
  readonly onAsked?: (asked: ModelCallReport) => void
}

const CONCURRENCY = 2
const FAILURES_MAX = 5
const OPEN_MS = MINUTE_MS
const MODELS_MAX = 1_000
const MODEL_CHARACTERS_SHOWN = 200

export function guardModel(
  model: LanguageModel,
  ports: StoreDependencies,
  options: ModelGuardOptions,
): GuardedModels {
  const { budgetOf, concurrency = CONCURRENCY, onAsked = () => {} } = options
  const breakers = new LruCache<string, CircuitBreaker>({ entriesMax: MODELS_MAX })
  const breakerOf = (name: string) =>
    breakers.getOrCreate(name, () => createCompletionBreaker(ports.clock, options))
  const lanes = { background: new Semaphore(concurrency), 'waited-for': new Semaphore(concurrency) }
  const spending = new ModelBudget(ports, budgetOf)

  const complete = (
    owner: OwnerId,
    lane: ModelPriority,
    request: CompletionRequest,
  ): Promise<Completion> =>
    lanes[lane].run(request.signal, async () => {
      await spending.check(owner)
      const breaker = breakerOf(request.model)
      const until = breaker.openUntil()
      if (until !== null) throw createOpenCircuitError(request.model, until)
      const completion = await breaker.call(() => model.complete(request))
      await spending.charge(owner, completion.tokens)
      return completion
    })

  return {
    for: (owner, lane = 'background') => ({
      complete: async (request) => {
        const began = ports.clock.now()
        const tell = (outcome: ModelCallReport['outcome'], tokens: ModelCallReport['tokens']) => {
          const ms = Math.max(0, ports.clock.now() - began)
          onAsked({ model: request.model, outcome, tokens, ms })
        }
        try {
          const completion = await complete(owner, lane, request)
          tell('ok', completion.tokens)
          return completion
        } catch (thrown) {
          tell(toAppError(thrown).code, null)
          throw thrown
        }
      },
    }),
    spent: (owner) => spending.of(owner),
    openUntil: (name) => breakers.peek(name)?.openUntil() ?? null,
  }
}

function createCompletionBreaker(
  clock: Clock,
  { failuresMax = FAILURES_MAX, openMs = OPEN_MS }: ModelGuardOptions,
): CircuitBreaker {
  return new CircuitBreaker({ clock, failuresMax, resetMs: openMs, classify: classifyError })
}

/** A refusal proves that the provider is up. */
function classifyError({ code }: AppError): ErrorVerdict {
  if (code === 'cancelled') return 'nothing'
  return code === 'invalid_input' || code === 'not_found' ? 'answer' : 'failure'
}

function createOpenCircuitError(model: string, until: number): AppError {
  const name = model.slice(0, MODEL_CHARACTERS_SHOWN)
  const at = new Date(until).toISOString()
  const message = `The model ${name} failed repeatedly and is not called until ${at}.`
  return new AppError('unavailable', message, { until })
}
