/** Keeps what is shown in step with the server: it tells what has changed, and what is shown of that is asked for again. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'

/** What is told, and the first words of the queries that may show it. */
const CHANGED_BY: Readonly<Record<string, readonly string[]>> = {
  memory: ['memories', 'memory', 'stats', 'review', 'episodes', 'identity', 'map', 'owners'],
  turn: ['sessions', 'turns'],
  signal: ['sessions', 'signals'],
  job: ['jobs', 'reindex'],
  receipt: ['receipts'],
  report: ['jobs', 'consolidations'],
  setting: ['settings', 'engine'],
  key: ['keys'],
  audit: ['audit'],
  root: ['files'],
  // Of what was removed, only that it was an entry is told.
  entry: ['keys', 'settings', 'jobs', 'signals', 'files'],
}

export type Liveness = 'live' | 'connecting'

/** Opens the stream for as long as the page is shown. The browser connects again by itself. */
export function useLive(): Liveness {
  const cache = useQueryClient()
  const [state, setState] = useState<Liveness>('connecting')
  useEffect(() => {
    const source = new EventSource('/api/events')
    let wasOpen = false
    source.onopen = () => {
      setState('live')
      // Whatever happened while nobody listened.
      if (wasOpen) void cache.invalidateQueries()
      wasOpen = true
    }
    source.onerror = () => setState('connecting')
    source.addEventListener('changed', ({ data }) => {
      const { kinds } = JSON.parse(data) as { kinds: readonly string[] } // as the server writes it
      for (const name of new Set(kinds.flatMap((kind) => CHANGED_BY[kind] ?? []))) {
        void cache.invalidateQueries({ queryKey: [name] })
      }
    })
    return () => source.close()
  }, [cache])
  return state
}
