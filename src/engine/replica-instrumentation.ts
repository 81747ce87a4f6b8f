import type { ReplicaState, ReplicationListener } from '../storage/vector-replication.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

const AMISS: ReadonlySet<ReplicaState> = new Set(['down', 'refused', 'lagging'])

/** A vector store that stops answering is never silent, though no request fails for it. */
export function createReplicationListener(telemetry: Telemetry): ReplicationListener {
  return {
    onState: ({ state, backend }) => {
      const level = AMISS.has(state) ? 'warn' : 'info'
      telemetry.log(level, 'vector_tier', { state, host: backend })
    },
    onSearch: (tier, outcome) => {
      telemetry.count('recollect_vector_searches_total', { tier, outcome })
    },
  }
}
