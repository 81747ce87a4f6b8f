/** The positions of memories on the map, computed in a worker and cached until the page is closed. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Stage } from './projection.ts'
import type { WorkerMessage } from './projection.worker.ts'
import { MAP_MEMORIES_MIN, type MappedMemory, type VectorsAnswer } from './queries.ts'

export type Layout = ReadonlyMap<string, { readonly x: number; readonly y: number }>

type LayoutProgress = { readonly stage: Stage; readonly done: number }

type State = {
  readonly layout: Layout | null
  readonly progress: LayoutProgress | null
  readonly fault: string | null
}

const INITIAL: State = { layout: null, progress: null, fault: null }
const layoutCache = new Map<string, Layout>()

/**
 * `name` identifies the layout in the cache. Existing positions stay when memories are added or removed; new memories
 * get a position when the layout is recomputed.
 */
export function useMapLayout(name: string, answer: VectorsAnswer | undefined) {
  const [states, setStates] = useState<Readonly<Record<string, State>>>({})
  const [round, setRound] = useState(0)
  const embedded = useMemo(
    () => answer?.memories.filter(({ vector }) => vector !== null) ?? [],
    [answer],
  )
  const canDraw = answer?.dimensions != null && embedded.length >= MAP_MEMORIES_MIN
  const isCached = layoutCache.has(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: computed once per name and round
  useEffect(() => {
    if (!canDraw || layoutCache.has(name)) return
    const ids = embedded.map(({ id }) => id)
    const set = (state: Partial<State>) =>
      setStates((before) => ({ ...before, [name]: { ...(before[name] ?? INITIAL), ...state } }))
    set({ progress: { stage: 'comparing', done: 0 }, fault: null })
    const worker = new Worker(new URL('./projection.worker.ts', import.meta.url), {
      type: 'module',
    })
    worker.onmessage = ({ data }: MessageEvent<WorkerMessage>) => {
      if (data.kind === 'failed') set({ progress: null, fault: data.reason })
      if (data.kind === 'progress') {
        const { stage, done, positions: places } = data
        set({
          progress: { stage, done },
          ...(places === null ? {} : { layout: layoutOf(ids, places) }),
        })
      }
      if (data.kind === 'done') {
        const layout = layoutOf(ids, data.positions)
        layoutCache.set(name, layout)
        set({ progress: null, layout })
      }
    }
    worker.onerror = (event) => set({ progress: null, fault: event.message || 'Worker' })
    const vectors = vectorsOf(embedded, answer?.dimensions ?? 0)
    worker.postMessage(vectors, [vectors.bytes.buffer])
    return () => worker.terminate()
  }, [name, canDraw, round])
  const recompute = useCallback(() => {
    layoutCache.delete(name)
    setRound((before) => before + 1)
  }, [name])
  const state = states[name] ?? INITIAL
  const layout = layoutCache.get(name) ?? state.layout
  return {
    layout,
    progress: isCached ? null : state.progress,
    fault: state.fault,
    embedded,
    recompute,
  }
}

function layoutOf(ids: readonly string[], places: Float32Array): Layout {
  return new Map(
    ids.map((id, index) => [id, { x: places[index * 2] ?? 0, y: places[index * 2 + 1] ?? 0 }]),
  )
}

function vectorsOf(memories: readonly MappedMemory[], dimensions: number) {
  const bytes = new Int8Array(memories.length * dimensions)
  for (const [index, { vector }] of memories.entries()) {
    const text = atob(vector ?? '')
    for (let at = 0; at < dimensions; at++) bytes[index * dimensions + at] = text.charCodeAt(at)
  }
  return { bytes, count: memories.length, dimensions }
}
