import type { IdGenerator } from '../../domain/ids.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Store } from '../store.ts'

/** What code on top of a store needs to read and commit rows. */
export type StoreDependencies = {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdGenerator
}
