/** Models that refused a request because of its tools, so that they are not offered any for a while. */

import type { Clock } from '../../../lib/clock.ts'
import type { Route } from '../../../models/provider.ts'

/** What serves a model may be set up anew. */
const BELIEVED_MS = 60 * 60_000
const MODELS_MAX = 1_000

export class ToollessModels {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  has(route: Route): boolean {
    return this.#clock.now() < (this.#until.get(nameOf(route)) ?? 0)
  }

  add(route: Route): void {
    if (this.#until.size >= MODELS_MAX) this.#until.clear()
    this.#until.set(nameOf(route), this.#clock.now() + BELIEVED_MS)
  }
}

function nameOf({ provider, model }: Route): string {
  return `${provider.name}/${model}`
}
