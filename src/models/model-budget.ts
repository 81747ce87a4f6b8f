/** Token usage per owner and day, stored with the data so that it survives restarts and is shared by all servers. */
import type { ModelBudgetBody } from '../domain/entries/learning-entries.ts'
import type { OwnerId } from '../domain/ids.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import { retryBriefly } from '../lib/retry.ts'
import { addMs, DAY_MS, type Instant } from '../lib/time.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import {
  buildEntryChange,
  getSystemEntry,
  removeExpiredEntries,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Completion } from './language-model.ts'

export type BudgetUsage = {
  /** UTC, such as `2026-03-01`. */
  readonly day: string
  readonly calls: number
  readonly input: number
  readonly output: number
  /** Tokens per owner and day; 0 disables the limit. */
  readonly budget: number
  readonly until: Instant
}

type TokenSum = ModelBudgetBody

export const BUDGET_KIND = 'model-budget'
const KEPT_MS = 40 * DAY_MS
const NOTHING: TokenSum = { calls: 0, input: 0, output: 0 }

export class ModelBudget {
  readonly #ports: StoreDependencies
  readonly #budgetOf: (owner: OwnerId) => Promise<number>
  /** Usage that could not be stored yet, by entry. */
  readonly #owed = new Map<string, TokenSum>()
  #sweptOn: string | null = null

  constructor(ports: StoreDependencies, budgetOf: (owner: OwnerId) => Promise<number>) {
    this.#ports = ports
    this.#budgetOf = budgetOf
  }

  async of(owner: OwnerId): Promise<BudgetUsage> {
    const { day, until } = this.#today()
    const id = buildBudgetId(owner, day)
    const entry = await getSystemEntry(this.#ports, BUDGET_KIND, id)
    const sum = addTokens(entry?.body ?? NOTHING, this.#owed.get(id) ?? NOTHING)
    return { day, ...sum, budget: await this.#budgetOf(owner), until }
  }

  /** Throws when the budget is exhausted. Calls in flight may exceed it. */
  async check(owner: OwnerId): Promise<void> {
    const { input, output, budget, until } = await this.of(owner)
    if (budget === 0 || input + output < budget) return
    const at = new Date(until).toISOString()
    throw new AppError(
      'too_many_requests',
      `Models may use ${budget} tokens a day for this owner (\`learning.modelTokensPerDay\`); the budget is used up until ${at}.`,
      { until, budget },
    )
  }

  /** Never throws: the answer is already paid for, and unsaved usage is stored with the next write. */
  async charge(owner: OwnerId, { input, output }: Completion['tokens']): Promise<void> {
    const { day, start } = this.#today()
    const id = buildBudgetId(owner, day)
    const cost = addTokens(this.#owed.get(id) ?? NOTHING, { calls: 1, input, output })
    this.#owed.delete(id)
    try {
      await retryBriefly(this.#ports.clock, () => this.#add(id, owner, start, cost))
    } catch {
      this.#owed.set(id, addTokens(this.#owed.get(id) ?? NOTHING, cost))
    }
    await this.#sweep(day)
  }

  async #add(id: string, owner: OwnerId, at: Instant, cost: TokenSum): Promise<void> {
    await commitWithRetry(this.#ports, async () => {
      const before = await getSystemEntry(this.#ports, BUDGET_KIND, id)
      const expiresAt = addMs(at, KEPT_MS)
      const body = addTokens(before?.body ?? NOTHING, cost)
      const { change } = buildEntryChange(
        { id, kind: BUDGET_KIND, about: owner, at, expiresAt, body },
        before,
      )
      return { changes: [change], result: null }
    })
  }

  /** Once a day, removes outdated usage. */
  async #sweep(day: string): Promise<void> {
    if (this.#sweptOn === day) return
    this.#sweptOn = day
    for (const id of this.#owed.keys()) if (!id.endsWith(day)) this.#owed.delete(id)
    await removeExpiredEntries(this.#ports, [BUDGET_KIND]).catch(() => {}) // retried tomorrow
  }

  #today(): { readonly day: string; readonly start: Instant; readonly until: Instant } {
    const start = (Math.floor(this.#ports.clock.now() / DAY_MS) * DAY_MS) as Instant // a multiple of a day
    const day = new Date(start).toISOString().slice(0, 'yyyy-mm-dd'.length)
    return { day, start, until: addMs(start, DAY_MS) }
  }
}

function buildBudgetId(owner: OwnerId, day: string): string {
  return `spend_${sha256(owner)}_${day}`
}

function addTokens(a: TokenSum, b: TokenSum): TokenSum {
  return { calls: a.calls + b.calls, input: a.input + b.input, output: a.output + b.output }
}
