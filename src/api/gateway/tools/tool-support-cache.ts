/** Models that refused a request because of its tools, so that they are not offered any for a while. */

import type { Clock } from '../../../lib/clock.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type { ModelRoute } from '../../../models/provider.ts'

/** What serves a model may be set up anew. */
const TTL_MS = HOUR_MS
const MODELS_MAX = 1_000

export class ToolSupportCache {
  readonly #unsupported: LruCache<string, true>

  constructor(clock: Clock) {
    const options = { entriesMax: MODELS_MAX, ttlMs: TTL_MS, now: () => clock.now() }
    this.#unsupported = new LruCache(options)
  }

  isUnsupported(route: ModelRoute): boolean {
    return this.#unsupported.get(nameOf(route)) ?? false
  }

  markUnsupported(route: ModelRoute): void {
    this.#unsupported.set(nameOf(route), true)
  }
}

function nameOf({ provider, model }: ModelRoute): string {
  return `${provider.name}/${model}`
}
