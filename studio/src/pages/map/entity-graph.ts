/** Who and what is named together: entities as knots, tied by the memories that name both. */
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type Simulation,
  type SimulationNodeDatum,
} from 'd3-force'
import type { EntitiesAnswer } from './queries.ts'

export type Knot = SimulationNodeDatum & {
  readonly name: string
  readonly memories: number
  readonly radius: number
}

/** Two places in the list of entities, and the places of the memories that name both. */
export type Tie = { readonly a: number; readonly b: number; readonly memories: readonly number[] }

/** The weakest are not drawn, because nobody could tell them apart. */
const TIES_MAX = 600
/** One that lists everybody ties nobody in particular. */
const NAMES_PER_MEMORY_MAX = 12
const TICKS = 260
const RADIUS_MIN = 5
const RADIUS_MORE = 15

/** Strongest first. */
export function tiesIn({ memories }: EntitiesAnswer): readonly Tie[] {
  const ties = new Map<string, { a: number; b: number; memories: number[] }>()
  for (const [place, { entities }] of memories.entries()) {
    const named = entities.slice(0, NAMES_PER_MEMORY_MAX).sort((a, b) => a - b)
    for (const [index, a] of named.entries()) {
      for (const b of named.slice(index + 1)) {
        const tie = ties.get(`${a} ${b}`) ?? { a, b, memories: [] }
        tie.memories.push(place)
        ties.set(`${a} ${b}`, tie)
      }
    }
  }
  return [...ties.values()].sort((x, y) => y.memories.length - x.memories.length)
}

export type Net = {
  readonly knots: readonly Knot[]
  readonly ties: readonly Tie[]
  readonly simulation: Simulation<Knot, undefined>
}

/** Comes to rest before it is shown. Knots that were there before begin where they were. */
export function createNet({ entities }: EntitiesAnswer, ties: readonly Tie[], before?: Net): Net {
  const most = Math.max(1, ...entities.map(({ memories }) => memories))
  const places = new Map(before?.knots.map(({ name, x, y }) => [name, { x, y }]))
  const knots: Knot[] = entities.map(({ name, memories }) => {
    const { x, y } = places.get(name) ?? {}
    const radius = RADIUS_MIN + RADIUS_MORE * Math.sqrt(memories / most)
    return { name, memories, radius, ...(x === undefined || y === undefined ? {} : { x, y }) }
  })
  const drawn = ties.slice(0, TIES_MAX)
  const links = drawn.map(({ a, b, memories }) => ({ source: a, target: b, memories }))
  const simulation = forceSimulation(knots)
    .force(
      'link',
      forceLink<Knot, (typeof links)[number]>(links)
        .distance(70)
        .strength(({ memories }) => Math.min(0.7, 0.15 + memories.length * 0.08)),
    )
    .force('charge', forceManyBody().strength(-160).distanceMax(500))
    .force(
      'collide',
      forceCollide<Knot>(({ radius }) => radius + 8),
    )
    .force('x', forceX(0).strength(0.06))
    .force('y', forceY(0).strength(0.08))
    .stop()
    .tick(before === undefined ? TICKS : TICKS / 4)
  return { knots, ties: drawn, simulation }
}
