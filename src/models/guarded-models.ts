/** Language models behind guards: a few calls at a time, none to a model that is down, and no more tokens than allowed. */

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
   * The same model, on the account of an owner. Over budget, `too_many_requests`; `facts.until` says for how long. What
   * somebody waits for doesn't stand in line behind background work.
   */
  for(owner: OwnerId, lane?: ModelPriority): LanguageModel
  /** What was used today. */
  spent(owner: OwnerId): Promise<BudgetUsage>
  /** Until when a model is not asked because it fails; null when it is. */
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
  /** Failures in a row after which a model is not called for `openMs`. */
  readonly failuresMax?: number
  readonly openMs?: number
  /** Tokens an owner may use on a day; 0 for no limit. */
  readonly budgetOf: (owner: OwnerId) => Promise<number>
  /** Calls at once in each lane, of all owners together. */
  readonly concurrency?: number
  /** Hears of each call that was made or refused. Must not fail. */
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

/** A provider that refuses a request is there and answers. */
function classifyError({ code }: AppError): ErrorVerdict {
  if (code === 'cancelled') return 'nothing'
  return code === 'invalid_input' || code === 'not_found' ? 'answer' : 'failure'
}

function createOpenCircuitError(model: string, until: number): AppError {
  const name = model.slice(0, MODEL_CHARACTERS_SHOWN)
  const at = new Date(until).toISOString()
  const message = `The model ${name} failed several times in a row and is not called until ${at}.`
  return new AppError('unavailable', message, { until })
}
