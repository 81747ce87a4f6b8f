/** The graph of entities: nodes are entities, edges are the memories that mention both. */
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

export type GraphNode = SimulationNodeDatum & {
  readonly name: string
  readonly memories: number
  readonly radius: number
}

/** Indexes of two entities, and the indexes of the memories that mention both. */
export type GraphEdge = {
  readonly a: number
  readonly b: number
  readonly memories: readonly number[]
}

/** The weakest edges are not drawn: they would be indistinguishable. */
const EDGES_MAX = 600
/** Memories with more names do not indicate a relation. */
const NAMES_PER_MEMORY_MAX = 12
const TICKS = 260
const RADIUS_MIN = 5
const RADIUS_RANGE = 15

/** Sorted by the number of memories, largest first. */
export function buildEdges({ memories }: EntitiesAnswer): readonly GraphEdge[] {
  const edges = new Map<string, { a: number; b: number; memories: number[] }>()
  for (const [memoryIndex, { entities }] of memories.entries()) {
    const entityIndexes = entities.slice(0, NAMES_PER_MEMORY_MAX).sort((a, b) => a - b)
    for (const [index, a] of entityIndexes.entries()) {
      for (const b of entityIndexes.slice(index + 1)) {
        const edge = edges.get(`${a} ${b}`) ?? { a, b, memories: [] }
        edge.memories.push(memoryIndex)
        edges.set(`${a} ${b}`, edge)
      }
    }
  }
  return [...edges.values()].sort((x, y) => y.memories.length - x.memories.length)
}

export type EntityGraph = {
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
  readonly simulation: Simulation<GraphNode, undefined>
}

/** Runs the simulation until it settles. Nodes of the previous graph start at their previous position. */
export function createGraph(
  { entities }: EntitiesAnswer,
  edges: readonly GraphEdge[],
  previous?: EntityGraph,
): EntityGraph {
  const memoriesMax = Math.max(1, ...entities.map(({ memories }) => memories))
  const positions = new Map(previous?.nodes.map(({ name, x, y }) => [name, { x, y }]))
  const nodes: GraphNode[] = entities.map(({ name, memories }) => {
    const { x, y } = positions.get(name) ?? {}
    const radius = RADIUS_MIN + RADIUS_RANGE * Math.sqrt(memories / memoriesMax)
    return { name, memories, radius, ...(x === undefined || y === undefined ? {} : { x, y }) }
  })
  const visibleEdges = edges.slice(0, EDGES_MAX)
  const links = visibleEdges.map(({ a, b, memories }) => ({ source: a, target: b, memories }))
  const simulation = forceSimulation(nodes)
    .force(
      'link',
      forceLink<GraphNode, (typeof links)[number]>(links)
        .distance(70)
        .strength(({ memories }) => Math.min(0.7, 0.15 + memories.length * 0.08)),
    )
    .force('charge', forceManyBody().strength(-160).distanceMax(500))
    .force(
      'collide',
      forceCollide<GraphNode>(({ radius }) => radius + 8),
    )
    .force('x', forceX(0).strength(0.06))
    .force('y', forceY(0).strength(0.08))
    .stop()
    .tick(previous === undefined ? TICKS : TICKS / 4)
  return { nodes, edges: visibleEdges, simulation }
}
