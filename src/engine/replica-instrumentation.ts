import type { TierListener, TierState } from '../storage/vector-replication.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

const AMISS: ReadonlySet<TierState> = new Set(['down', 'refused', 'lagging'])

/** A vector store that stops answering is never silent, though no request fails for it. */
export function tellingTiers(telemetry: Telemetry): TierListener {
  return {
    onState: ({ state, mirror }) => {
      const level = AMISS.has(state) ? 'warn' : 'info'
      telemetry.log(level, 'vector_tier', { state, host: mirror })
    },
    onSearch: (tier, outcome) => {
      telemetry.count('recollect_vector_searches_total', { tier, outcome })
    },
  }
}
