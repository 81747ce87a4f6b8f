/** Wires adapters to the engine. The only place, with its siblings here, that knows both. */

import { openSqliteStore } from '../adapters/sqlite/store.ts'
import { systemClock } from '../adapters/system/clock.ts'
import { createIds } from '../adapters/system/ids.ts'
import { parseSettings } from '../core/settings.ts'
import { createEngineOn, type Engine } from '../engine/engine.ts'
import type { Store } from '../ports/store.ts'

export type EngineOptions = {
  /** A SQLite file that is made when missing, or `:memory:` (the default) for a store that is gone with the process. */
  readonly path?: string
  /** Any other store; it is closed with the engine. */
  readonly store?: Store
  /** Overrides of the defaults in the settings table. */
  readonly settings?: { readonly [name: string]: unknown }
}

export async function createEngine(options: EngineOptions = {}): Promise<Engine> {
  const settings = parseSettings(options.settings ?? {})
  const store =
    options.store ??
    (await openSqliteStore({ path: options.path ?? ':memory:', now: () => systemClock.now() }))
  return createEngineOn({ store, clock: systemClock, ids: createIds(), settings })
}
