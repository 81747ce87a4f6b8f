/** Models that refused a request because of its tools, so that they are not offered any for a while. */

import type { Clock } from '../../../lib/clock.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type { ModelRoute } from '../../../models/provider.ts'

/** What serves a model may be set up anew. */
const TTL_MS = HOUR_MS
const MODELS_MAX = 1_000

export class ToolSupportCache {
  readonly #clock: Clock
  readonly #until = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isUnsupported(route: ModelRoute): boolean {
    return this.#clock.now() < (this.#until.get(nameOf(route)) ?? 0)
  }

  markUnsupported(route: ModelRoute): void {
    if (this.#until.size >= MODELS_MAX) this.#until.clear()
    this.#until.set(nameOf(route), this.#clock.now() + TTL_MS)
  }
}

function nameOf({ provider, model }: ModelRoute): string {
  return `${provider.name}/${model}`
}
