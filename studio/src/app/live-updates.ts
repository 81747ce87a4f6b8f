/** Live updates: invalidates queries when the event stream of the server reports a change. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/** Kinds of changes, and the first parts of the keys of the queries that may show them. */
const QUERIES_BY_KIND: Readonly<Record<string, readonly string[]>> = {
  memory: ['memories', 'memory', 'stats', 'review', 'episodes', 'identity', 'map', 'owners'],
  turn: ['sessions', 'turns'],
  signal: ['sessions', 'signals'],
  job: ['jobs', 'reindex'],
  receipt: ['receipts'],
  'consolidation-report': ['jobs', 'consolidations'],
  setting: ['settings', 'engine'],
  key: ['keys'],
  audit: ['audit'],
  'file-root': ['files'],
  // Deletions report only the table.
  entry: ['keys', 'settings', 'jobs', 'signals', 'files'],
}

export type ConnectionState = 'live' | 'connecting'

/** Interruptions shorter than this are not shown. */
export const RECONNECT_NOTICE_MS = 1_500

/** `EventSource` does not reconnect after a response that is not a stream, such as 502 from a proxy. */
const REOPEN_MS = 2_000

/** Keeps the event stream open while the component is mounted. Calls `onBack` when a lost connection is restored. */
export function useLiveUpdates(onBack: () => void): ConnectionState {
  const cache = useQueryClient()
  const [state, setState] = useState<ConnectionState>('connecting')
  const onBackRef = useRef(onBack)
  onBackRef.current = onBack
  useEffect(() => {
    let source: EventSource
    let reopenTimer: ReturnType<typeof setTimeout> | undefined
    let lostAt: number | null = null
    let wasOpen = false
    const open = () => {
      source = new EventSource('/api/events')
      source.onopen = () => {
        setState('live')
        // Events during the interruption are lost.
        if (wasOpen) void cache.invalidateQueries()
        if (lostAt !== null && Date.now() - lostAt > RECONNECT_NOTICE_MS) onBackRef.current()
        wasOpen = true
        lostAt = null
      }
      source.onerror = () => {
        setState('connecting')
        if (wasOpen) lostAt ??= Date.now()
        if (source.readyState !== EventSource.CLOSED) return
        reopenTimer = setTimeout(open, REOPEN_MS)
        // The key may have been revoked.
        void cache.invalidateQueries({ queryKey: ['session'] })
      }
      source.addEventListener('changed', ({ data }) => {
        const { kinds } = JSON.parse(data) as { kinds: readonly string[] } // written by the server
        for (const name of new Set(kinds.flatMap((kind) => QUERIES_BY_KIND[kind] ?? []))) {
          void cache.invalidateQueries({ queryKey: [name] })
        }
      })
    }
    open()
    return () => {
      clearTimeout(reopenTimer)
      source.close()
    }
  }, [cache])
  return state
}
