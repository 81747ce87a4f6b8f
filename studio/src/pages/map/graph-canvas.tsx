/** Draws the entity graph. Nodes can be dragged and selected; hovering an edge shows its memories. */
import { type PointerEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import {
  type Camera,
  fitCamera,
  type Point,
  toPlane,
  toScreen,
  useCamera,
  useSize,
} from './camera.ts'
import type { EntityGraph, GraphEdge, GraphNode } from './entity-graph.ts'
import styles from './graph-canvas.module.css'
import { usePointerGestures } from './pointer-gestures.ts'
import type { EntitiesAnswer } from './queries.ts'
import frameStyles from './scatter-plot.module.css'

const ZOOM_STEP = 1.5
const QUOTES_MAX = 3
/** The number of names that fit without overlap at the initial zoom. */
const NAMES_MAX = 36
/** The simulation alpha while a node is dragged. */
const DRAG_ALPHA = 0.25

type HoverTarget =
  | { readonly kind: 'node'; readonly at: number }
  | { readonly kind: 'edge'; readonly at: number }

export function GraphCanvas({
  answer,
  graph,
  chosen,
  onChoose,
}: {
  answer: EntitiesAnswer
  graph: EntityGraph
  chosen: number | null
  onChoose: (entity: number | null) => void
}) {
  const { t } = useI18n()
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  // Computed once per graph: the camera must not follow nodes that move during a drag.
  const home = useMemo(() => fitCamera(graph.nodes.map(positionOf), size), [graph, size])
  const { camera, zoom, pan, showAll } = useCamera(frame, size, home)
  const [hovered, setHovered] = useState<HoverTarget | null>(null)
  const dragHandlers = useNodeDrag(graph, camera, frame)
  const gestures = usePointerGestures({
    onTap: () => onChoose(null),
    onHover: () => undefined,
    onPan: pan,
    onPinch: zoom,
  })
  const positions = graph.nodes.map((node) => toScreen(camera, size, positionOf(node)))
  const highlighted = highlightedBy(
    graph,
    hovered ?? (chosen === null ? null : { kind: 'node', at: chosen }),
  )
  const zoomFactor = camera.scale / home.scale
  const edges = graph.edges.map((edge, index) => ({
    edge,
    index,
    a: positions[edge.a],
    b: positions[edge.b],
  }))
  return (
    <div className={frameStyles.frame} ref={frame}>
      <svg
        className={styles.graph}
        width={size.width}
        height={size.height}
        role="img"
        aria-label={t('map.graph', { count: graph.nodes.length })}
        {...gestures}
      >
        {edges.map(({ edge, index, a, b }) => (
          <g
            key={`${edge.a} ${edge.b}`}
            className={
              highlighted !== null && !highlighted.edges.has(index) ? styles.faded : styles.edge
            }
            onPointerEnter={() => setHovered({ kind: 'edge', at: index })}
            onPointerLeave={() => setHovered(null)}
          >
            <line x1={a?.x} y1={a?.y} x2={b?.x} y2={b?.y} strokeWidth={strokeWidthOf(edge)} />
            <line x1={a?.x} y1={a?.y} x2={b?.x} y2={b?.y} className={styles.reach} />
          </g>
        ))}
        {graph.nodes.map((node, index) => {
          const isHighlighted = highlighted === null || highlighted.nodes.has(index)
          return (
            <g
              key={node.name}
              data-node={node.name}
              className={[
                styles.node,
                isHighlighted ? '' : styles.faded,
                index === chosen ? styles.chosen : '',
              ].join(' ')}
              transform={`translate(${positions[index]?.x ?? 0} ${positions[index]?.y ?? 0})`}
              onPointerEnter={() => setHovered({ kind: 'node', at: index })}
              onPointerLeave={() => setHovered(null)}
              {...dragHandlers(index, () => onChoose(index))}
            >
              <circle r={node.radius} />
            </g>
          )
        })}
        {/* Rendered after all nodes, so that no node covers a name. */}
        {graph.nodes.map((node, index) => {
          const isHighlighted = highlighted === null || highlighted.nodes.has(index)
          const isLinked =
            index < NAMES_MAX * zoomFactor ** 2 || highlighted?.nodes.has(index) === true
          if (!isLinked) return null
          return (
            <text
              key={node.name}
              className={[styles.name, isHighlighted ? '' : styles.faded].join(' ')}
              x={positions[index]?.x}
              y={(positions[index]?.y ?? 0) + node.radius + 13}
              textAnchor="middle"
            >
              {node.name}
            </text>
          )
        })}
      </svg>
      {hovered !== null && (
        <HoverCard {...{ answer, graph, hovered, positions }} width={size.width} />
      )}
      <div className={frameStyles.tools} role="toolbar" aria-label={t('map.entities')}>
        <IconButton icon="add" name={t('map.zoomIn')} onClick={() => zoom(ZOOM_STEP)} />
        <IconButton icon="less" name={t('map.zoomOut')} onClick={() => zoom(1 / ZOOM_STEP)} />
        <IconButton icon="whole" name={t('map.fit')} onClick={showAll} />
      </div>
    </div>
  )
}

function positionOf({ x = 0, y = 0 }: GraphNode): Point {
  return { x, y }
}

function strokeWidthOf({ memories }: GraphEdge): number {
  return Math.min(6, 0.8 + Math.sqrt(memories.length))
}

/** The nodes and edges to highlight; null highlights everything. */
function highlightedBy({ edges }: EntityGraph, hovered: HoverTarget | null) {
  if (hovered === null) return null
  const connected = [...edges.entries()].filter(([index, { a, b }]) =>
    hovered.kind === 'edge' ? index === hovered.at : a === hovered.at || b === hovered.at,
  )
  const nodes = new Set(connected.flatMap(([, { a, b }]) => [a, b]))
  if (hovered.kind === 'node') nodes.add(hovered.at)
  return { nodes, edges: new Set(connected.map(([index]) => index)) }
}

/** Drags a node with the pointer while the simulation moves the others. A press without movement selects the node. */
function useNodeDrag(graph: EntityGraph, camera: Camera, frame: RefObject<HTMLDivElement | null>) {
  const [, setTick] = useState(0)
  const dragged = useRef<{ at: number; moved: number } | null>(null)
  const { simulation, nodes } = graph
  useEffect(() => {
    simulation.on('tick', () => setTick((before) => before + 1))
    return () => {
      simulation.on('tick', null).stop()
    }
  }, [simulation])
  const isMotionReduced = matchMedia('(prefers-reduced-motion: reduce)').matches
  const release = () => {
    const node = nodes[dragged.current?.at ?? -1]
    if (node !== undefined) [node.fx, node.fy] = [null, null]
    dragged.current = null
    simulation.alphaTarget(0)
  }
  return (at: number, onChoose: () => void) => ({
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      event.stopPropagation()
      event.currentTarget.setPointerCapture(event.pointerId)
      dragged.current = { at, moved: 0 }
    },
    onPointerMove: (event: PointerEvent) => {
      const node = nodes[at]
      const box = frame.current?.getBoundingClientRect()
      if (dragged.current?.at !== at || node === undefined || box === undefined) return
      event.stopPropagation()
      dragged.current.moved += Math.abs(event.movementX) + Math.abs(event.movementY)
      if (dragged.current.moved <= 4) return
      const pointer = { x: event.clientX - box.left, y: event.clientY - box.top }
      const { x, y } = toPlane(camera, box, pointer)
      if (isMotionReduced) [node.x, node.y] = [x, y]
      else [node.fx, node.fy] = [x, y]
      if (isMotionReduced) setTick((before) => before + 1)
      else simulation.alphaTarget(DRAG_ALPHA).restart()
    },
    onPointerUp: (event: PointerEvent) => {
      event.stopPropagation()
      const isClick = (dragged.current?.moved ?? 0) <= 4
      release()
      if (isClick) onChoose()
    },
    onPointerCancel: release,
  })
}

function HoverCard({
  answer,
  graph,
  hovered,
  positions,
  width,
}: {
  answer: EntitiesAnswer
  graph: EntityGraph
  hovered: HoverTarget
  positions: readonly Point[]
  width: number
}) {
  const { t } = useI18n()
  const edge = hovered.kind === 'edge' ? graph.edges[hovered.at] : undefined
  const [a, b] = edge === undefined ? [hovered.at, hovered.at] : [edge.a, edge.b]
  const [first, second] = [positions[a], positions[b]]
  const [one, other] = [graph.nodes[a], graph.nodes[b]]
  if (first === undefined || second === undefined || one === undefined || other === undefined) {
    return null
  }
  const at = { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 }
  const isRight = at.x > width / 2
  const quotes = (edge?.memories ?? []).slice(0, QUOTES_MAX)
  return (
    <div
      className={frameStyles.hoverCard}
      aria-hidden="true"
      style={{
        top: at.y + 14,
        ...(isRight ? { right: width - at.x + 12 } : { left: at.x + 12 }),
      }}
    >
      <span>
        {edge === undefined
          ? `${one.name} · ${t('map.entityCount', { count: one.memories })}`
          : t('map.linkedBy', { a: one.name, b: other.name, count: edge.memories.length })}
      </span>
      {quotes.map((place) => (
        <q key={place}>{answer.memories[place]?.content}</q>
      ))}
      {(edge?.memories.length ?? 0) > QUOTES_MAX && '…'}
    </div>
  )
}
