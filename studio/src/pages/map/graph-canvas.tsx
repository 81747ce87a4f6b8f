/** The net drawn. Knots can be dragged and chosen; what ties two shows when one points at the tie. */
import { type PointerEvent, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import {
  type Camera,
  cameraOver,
  type Point,
  toPlane,
  toScreen,
  useCamera,
  useSize,
} from './camera.ts'
import styles from './graph-canvas.module.css'
import { useHand } from './pointer-gestures.ts'
import type { Knot, Net, Tie } from './entity-graph.ts'
import type { EntitiesAnswer } from './queries.ts'
import frameStyles from './scatter-plot.module.css'

const ZOOM_STEP = 1.5
const QUOTED = 3
/** How many names can be read without lying on each other, at first. */
const NAMES_SHOWN = 36
/** How lively the rest of the net follows one that is dragged. */
const FOLLOWING = 0.25

type Aim =
  | { readonly kind: 'knot'; readonly at: number }
  | { readonly kind: 'tie'; readonly at: number }

export function Graph({
  answer,
  net,
  chosen,
  onChoose,
}: {
  answer: EntitiesAnswer
  net: Net
  chosen: number | null
  onChoose: (entity: number | null) => void
}) {
  const { t } = useI18n()
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  // The net moves on while one drags; the view of the whole must not follow.
  const home = useMemo(() => cameraOver(net.knots.map(placeOf), size), [net, size])
  const { camera, zoom, pan, showAll } = useCamera(frame, size, home)
  const [aim, setAim] = useState<Aim | null>(null)
  const dragging = useDrag(net, camera, frame)
  const hand = useHand({
    onTap: () => onChoose(null),
    onHover: () => undefined,
    onPan: pan,
    onPinch: zoom,
  })
  const places = net.knots.map((knot) => toScreen(camera, size, placeOf(knot)))
  const lit = litBy(net, aim ?? (chosen === null ? null : { kind: 'knot', at: chosen }))
  const closeness = camera.scale / home.scale
  const ties = net.ties.map((tie, index) => ({ tie, index, a: places[tie.a], b: places[tie.b] }))
  return (
    <div className={frameStyles.frame} ref={frame}>
      <svg
        className={styles.net}
        width={size.width}
        height={size.height}
        role="img"
        aria-label={t('map.graph', { count: net.knots.length })}
        {...hand}
      >
        {ties.map(({ tie, index, a, b }) => (
          <g
            key={`${tie.a} ${tie.b}`}
            className={lit !== null && !lit.ties.has(index) ? styles.faded : styles.tie}
            onPointerEnter={() => setAim({ kind: 'tie', at: index })}
            onPointerLeave={() => setAim(null)}
          >
            <line x1={a?.x} y1={a?.y} x2={b?.x} y2={b?.y} strokeWidth={thicknessOf(tie)} />
            <line x1={a?.x} y1={a?.y} x2={b?.x} y2={b?.y} className={styles.reach} />
          </g>
        ))}
        {net.knots.map((knot, index) => {
          const isLit = lit === null || lit.knots.has(index)
          return (
            <g
              key={knot.name}
              data-knot={knot.name}
              className={[
                styles.knot,
                isLit ? '' : styles.faded,
                index === chosen ? styles.chosen : '',
              ].join(' ')}
              transform={`translate(${places[index]?.x ?? 0} ${places[index]?.y ?? 0})`}
              onPointerEnter={() => setAim({ kind: 'knot', at: index })}
              onPointerLeave={() => setAim(null)}
              {...dragging(index, () => onChoose(index))}
            >
              <circle r={knot.radius} />
            </g>
          )
        })}
        {/* After all knots, so that none of them covers a name. */}
        {net.knots.map((knot, index) => {
          const isLit = lit === null || lit.knots.has(index)
          const isNamed = index < NAMES_SHOWN * closeness ** 2 || lit?.knots.has(index) === true
          if (!isNamed) return null
          return (
            <text
              key={knot.name}
              className={[styles.name, isLit ? '' : styles.faded].join(' ')}
              x={places[index]?.x}
              y={(places[index]?.y ?? 0) + knot.radius + 13}
              textAnchor="middle"
            >
              {knot.name}
            </text>
          )
        })}
      </svg>
      {aim !== null && <Told {...{ answer, net, aim, places }} width={size.width} />}
      <div className={frameStyles.tools} role="toolbar" aria-label={t('map.entities')}>
        <IconButton icon="add" name={t('map.zoomIn')} onClick={() => zoom(ZOOM_STEP)} />
        <IconButton icon="less" name={t('map.zoomOut')} onClick={() => zoom(1 / ZOOM_STEP)} />
        <IconButton icon="whole" name={t('map.fit')} onClick={showAll} />
      </div>
    </div>
  )
}

function placeOf({ x = 0, y = 0 }: Knot): Point {
  return { x, y }
}

function thicknessOf({ memories }: Tie): number {
  return Math.min(6, 0.8 + Math.sqrt(memories.length))
}

/** What belongs to that which is pointed at; null when everything does. */
function litBy({ ties }: Net, aim: Aim | null) {
  if (aim === null) return null
  const touched = [...ties.entries()].filter(([index, { a, b }]) =>
    aim.kind === 'tie' ? index === aim.at : a === aim.at || b === aim.at,
  )
  const knots = new Set(touched.flatMap(([, { a, b }]) => [a, b]))
  if (aim.kind === 'knot') knots.add(aim.at)
  return { knots, ties: new Set(touched.map(([index]) => index)) }
}

/** Takes a knot along with the pointer, the rest of the net after it. A still press chooses it. */
function useDrag(net: Net, camera: Camera, frame: RefObject<HTMLDivElement | null>) {
  const [, setTick] = useState(0)
  const held = useRef<{ at: number; moved: number } | null>(null)
  const { simulation, knots } = net
  useEffect(() => {
    simulation.on('tick', () => setTick((before) => before + 1))
    return () => {
      simulation.on('tick', null).stop()
    }
  }, [simulation])
  const isCalm = matchMedia('(prefers-reduced-motion: reduce)').matches
  const release = () => {
    const knot = knots[held.current?.at ?? -1]
    if (knot !== undefined) [knot.fx, knot.fy] = [null, null]
    held.current = null
    simulation.alphaTarget(0)
  }
  return (at: number, onChoose: () => void) => ({
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0) return
      event.stopPropagation()
      event.currentTarget.setPointerCapture(event.pointerId)
      held.current = { at, moved: 0 }
    },
    onPointerMove: (event: PointerEvent) => {
      const knot = knots[at]
      const box = frame.current?.getBoundingClientRect()
      if (held.current?.at !== at || knot === undefined || box === undefined) return
      event.stopPropagation()
      held.current.moved += Math.abs(event.movementX) + Math.abs(event.movementY)
      if (held.current.moved <= 4) return
      const pointer = { x: event.clientX - box.left, y: event.clientY - box.top }
      const { x, y } = toPlane(camera, box, pointer)
      if (isCalm) [knot.x, knot.y] = [x, y]
      else [knot.fx, knot.fy] = [x, y]
      if (isCalm) setTick((before) => before + 1)
      else simulation.alphaTarget(FOLLOWING).restart()
    },
    onPointerUp: (event: PointerEvent) => {
      event.stopPropagation()
      const isStill = (held.current?.moved ?? 0) <= 4
      release()
      if (isStill) onChoose()
    },
    onPointerCancel: release,
  })
}

function Told({
  answer,
  net,
  aim,
  places,
  width,
}: {
  answer: EntitiesAnswer
  net: Net
  aim: Aim
  places: readonly Point[]
  width: number
}) {
  const { t } = useI18n()
  const tie = aim.kind === 'tie' ? net.ties[aim.at] : undefined
  const [a, b] = tie === undefined ? [aim.at, aim.at] : [tie.a, tie.b]
  const [first, second] = [places[a], places[b]]
  const [one, other] = [net.knots[a], net.knots[b]]
  if (first === undefined || second === undefined || one === undefined || other === undefined) {
    return null
  }
  const at = { x: (first.x + second.x) / 2, y: (first.y + second.y) / 2 }
  const isRight = at.x > width / 2
  const quoted = (tie?.memories ?? []).slice(0, QUOTED)
  return (
    <div
      className={frameStyles.aimed}
      aria-hidden="true"
      style={{
        top: at.y + 14,
        ...(isRight ? { right: width - at.x + 12 } : { left: at.x + 12 }),
      }}
    >
      <span>
        {tie === undefined
          ? `${one.name} · ${t('map.entityCount', { count: one.memories })}`
          : t('map.linkedBy', { a: one.name, b: other.name, count: tie.memories.length })}
      </span>
      {quoted.map((place) => (
        <q key={place}>{answer.memories[place]?.content}</q>
      ))}
      {(tie?.memories.length ?? 0) > QUOTED && '…'}
    </div>
  )
}
