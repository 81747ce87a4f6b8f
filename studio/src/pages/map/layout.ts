/** Where memories lie on the map. Worked out beside the page, and kept as long as the page is open. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { Stage } from './projection.ts'
import type { FromWorker } from './projection.worker.ts'
import { type MappedMemory, PLACED_MIN, type VectorsAnswer } from './queries.ts'

export type Layout = ReadonlyMap<string, { readonly x: number; readonly y: number }>

type Work = { readonly stage: Stage; readonly done: number }

type State = {
  readonly layout: Layout | null
  readonly work: Work | null
  readonly fault: string | null
}

const NOTHING: State = { layout: null, work: null, fault: null }
const kept = new Map<string, Layout>()

/**
 * `name` says what is drawn. What was drawn under it stays where it is when memories come and go; those that came since
 * get their places when it is drawn again.
 */
export function useLayout(name: string, answer: VectorsAnswer | undefined) {
  const [states, setStates] = useState<Readonly<Record<string, State>>>({})
  const [round, setRound] = useState(0)
  const placeable = useMemo(
    () => answer?.memories.filter(({ vector }) => vector !== null) ?? [],
    [answer],
  )
  const canDraw = answer?.dimensions != null && placeable.length >= PLACED_MIN
  const isKept = kept.has(name)
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn once for a name and a round, not for every change
  useEffect(() => {
    if (!canDraw || kept.has(name)) return
    const ids = placeable.map(({ id }) => id)
    const set = (state: Partial<State>) =>
      setStates((before) => ({ ...before, [name]: { ...(before[name] ?? NOTHING), ...state } }))
    set({ work: { stage: 'comparing', done: 0 }, fault: null })
    const worker = new Worker(new URL('./projection.worker.ts', import.meta.url), {
      type: 'module',
    })
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.kind === 'failed') set({ work: null, fault: data.reason })
      if (data.kind === 'progress') {
        const { stage, done, places } = data
        set({
          work: { stage, done },
          ...(places === null ? {} : { layout: layoutOf(ids, places) }),
        })
      }
      if (data.kind === 'done') {
        const layout = layoutOf(ids, data.places)
        kept.set(name, layout)
        set({ work: null, layout })
      }
    }
    worker.onerror = (event) => set({ work: null, fault: event.message || 'Worker' })
    const vectors = vectorsOf(placeable, answer?.dimensions ?? 0)
    worker.postMessage(vectors, [vectors.bytes.buffer])
    return () => worker.terminate()
  }, [name, canDraw, round])
  const drawAgain = useCallback(() => {
    kept.delete(name)
    setRound((before) => before + 1)
  }, [name])
  const state = states[name] ?? NOTHING
  const layout = kept.get(name) ?? state.layout
  return { layout, work: isKept ? null : state.work, fault: state.fault, placeable, drawAgain }
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
