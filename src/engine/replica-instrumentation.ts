import type { ReplicaState, ReplicationListener } from '../storage/vector-replication.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

const AMISS: ReadonlySet<ReplicaState> = new Set(['down', 'misconfigured', 'lagging'])

/** A vector store that stops answering is never silent, though no request fails for it. */
export function createReplicationListener(telemetry: Telemetry): ReplicationListener {
  return {
    onState: ({ state, backend }) => {
      const level = AMISS.has(state) ? 'warn' : 'info'
      telemetry.log(level, 'vector_replica_state_changed', { state, host: backend })
    },
    onSearch: (backend, outcome) => {
      telemetry.count('recollect_vector_searches_total', { backend, outcome })
    },
  }
}
