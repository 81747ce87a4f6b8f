import type { SettingValues } from '../core/settings.ts'
import type { Clock, Ids } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'

/** Everything the engine needs from outside. */
export type EnginePorts = {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Ids
  /** The operator's settings. */
  readonly settings: SettingValues
}
