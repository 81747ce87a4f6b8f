/** Keeps what is shown in step with the server: it tells what has changed, and what is shown of that is asked for again. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'

/** What is told, and the first words of the queries that may show it. */
const CHANGED_BY: Readonly<Record<string, readonly string[]>> = {
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
  // Of what was removed, only that it was an entry is told.
  entry: ['keys', 'settings', 'jobs', 'signals', 'files'],
}

export type Liveness = 'live' | 'connecting'

/** A connection that is back sooner was never missed. */
export const NOTICED_MS = 1_500

/** After an answer that is no stream, as from a proxy without its server, the browser gives up: then we begin anew. */
const ANEW_MS = 2_000

/** Opens the stream for as long as the page is shown. `onBack`: it was lost for a while, and is there again. */
export function useLive(onBack: () => void): Liveness {
  const cache = useQueryClient()
  const [state, setState] = useState<Liveness>('connecting')
  const latest = useRef(onBack)
  latest.current = onBack
  useEffect(() => {
    let source: EventSource
    let again: ReturnType<typeof setTimeout> | undefined
    let lostAt: number | null = null
    let wasOpen = false
    const open = () => {
      source = new EventSource('/api/events')
      source.onopen = () => {
        setState('live')
        // Whatever happened while nobody listened.
        if (wasOpen) void cache.invalidateQueries()
        if (lostAt !== null && Date.now() - lostAt > NOTICED_MS) latest.current()
        wasOpen = true
        lostAt = null
      }
      source.onerror = () => {
        setState('connecting')
        if (wasOpen) lostAt ??= Date.now()
        if (source.readyState !== EventSource.CLOSED) return
        again = setTimeout(open, ANEW_MS)
        // The key may be the reason; then there is nothing to show any more.
        void cache.invalidateQueries({ queryKey: ['session'] })
      }
      source.addEventListener('changed', ({ data }) => {
        const { kinds } = JSON.parse(data) as { kinds: readonly string[] } // as the server writes it
        for (const name of new Set(kinds.flatMap((kind) => CHANGED_BY[kind] ?? []))) {
          void cache.invalidateQueries({ queryKey: [name] })
        }
      })
    }
    open()
    return () => {
      clearTimeout(again)
      source.close()
    }
  }, [cache])
  return state
}
