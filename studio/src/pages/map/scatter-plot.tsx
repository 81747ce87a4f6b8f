/** The scatter plot of the map. The list next to it offers the same actions. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { useValueName } from '../memories/value-names.ts'
import { fitCamera, isPointInPolygon, type Point, toScreen, useCamera, useSize } from './camera.ts'
import { findClusters } from './clusters.ts'
import type { Layout } from './layout.ts'
import type { Palette } from './palette.ts'
import { usePointerGestures } from './pointer-gestures.ts'
import type { MappedMemory } from './queries.ts'
import { type PlottedMemory, radiusOf, ScatterCanvas } from './scatter-canvas.tsx'
import styles from './scatter-plot.module.css'

/** The distance from a point that still counts as hovering it. */
const HIT_RADIUS_PX = 7
const ZOOM_STEP = 1.5

export function ScatterPlot({
  memories,
  layout,
  isFaded,
  colorOf,
  selected,
  onSelect,
  onOpen,
}: {
  memories: readonly MappedMemory[]
  layout: Layout
  isFaded: (memory: MappedMemory) => boolean
  colorOf: (memory: MappedMemory) => keyof Palette
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  const home = useMemo(() => fitCamera(layout.values(), size), [layout, size])
  const { camera, zoom, pan, showAll } = useCamera(frame, size, home)
  const [isSelecting, setSelecting] = useState(false)
  const [lasso, setLasso] = useState<readonly Point[] | null>(null)
  const [hovered, setHovered] = useState<PlottedMemory | null>(null)
  const points = useMemo(
    () =>
      memories.flatMap((memory): PlottedMemory[] => {
        const position = layout.get(memory.id)
        return position === undefined
          ? []
          : [{ memory, position, isFaded: isFaded(memory), color: colorOf(memory) }]
      }),
    [memories, layout, isFaded, colorOf],
  )
  const clusters = useMemo(
    () =>
      findClusters(
        memories.flatMap(({ id, content }) => {
          const position = layout.get(id)
          return position === undefined ? [] : [{ position, content }]
        }),
      ),
    [memories, layout],
  )
  const toScreenPoint = useCallback(
    (position: Point) => toScreen(camera, size, position),
    [camera, size],
  )
  const nearest = (pointer: Point) => nearestPoint(points, toScreenPoint, pointer)
  const gestures = usePointerGestures({
    isSelecting,
    onTap: (pointer) => {
      const spot = nearest(pointer)
      if (spot !== null) onOpen(spot.memory.id)
    },
    onHover: (pointer) => setHovered(pointer === null ? null : nearest(pointer)),
    onPan: pan,
    onPinch: zoom,
    onLasso: setLasso,
    onLassoed: (polygon, isMore) => {
      setLasso(null)
      const enclosed = points.filter(
        ({ position, isFaded: out }) => !out && isPointInPolygon(polygon, toScreenPoint(position)),
      )
      const ids = enclosed.map(({ memory }) => memory.id)
      onSelect(new Set(isMore ? [...selected, ...ids] : ids))
    },
  })
  return (
    <div className={styles.frame} ref={frame}>
      <ScatterCanvas
        {...{ points, camera, size, selected, lasso, gestures }}
        hoveredId={hovered?.memory.id ?? null}
        label={t('map.canvas', { count: points.length })}
        cursor={hovered !== null ? 'pointer' : isSelecting ? 'crosshair' : 'grab'}
      />
      {clusters.map(({ center, label }) => {
        const { x, y } = toScreenPoint(center)
        return (
          <span key={label} className={styles.cluster} style={{ left: x, top: y }}>
            {label}
          </span>
        )
      })}
      {hovered !== null && lasso === null && (
        <HoverCard spot={hovered} toScreenPoint={toScreenPoint(hovered.position)} size={size} />
      )}
      <div className={styles.tools} role="toolbar" aria-label={t('map.title')}>
        <button
          type="button"
          className={styles.mode}
          aria-pressed={isSelecting}
          onClick={() => setSelecting(!isSelecting)}
        >
          <Icon name="check" size={16} /> {t('map.modeSelect')}
        </button>
        <IconButton icon="add" name={t('map.zoomIn')} onClick={() => zoom(ZOOM_STEP)} />
        <IconButton icon="less" name={t('map.zoomOut')} onClick={() => zoom(1 / ZOOM_STEP)} />
        <IconButton icon="whole" name={t('map.fit')} onClick={showAll} />
      </div>
    </div>
  )
}

function nearestPoint(
  points: readonly PlottedMemory[],
  toScreenPoint: (position: Point) => Point,
  pointer: Point,
): PlottedMemory | null {
  let best: PlottedMemory | null = null
  let closest = Number.POSITIVE_INFINITY
  for (const spot of points) {
    if (spot.isFaded) continue
    const { x, y } = toScreenPoint(spot.position)
    const distance = Math.hypot(x - pointer.x, y - pointer.y) - radiusOf(spot.memory)
    if (distance < closest) [best, closest] = [spot, distance]
  }
  return closest <= HIT_RADIUS_PX ? best : null
}

/** The hovered memory, shown next to the pointer. */
function HoverCard({
  spot,
  toScreenPoint,
  size,
}: {
  spot: PlottedMemory
  toScreenPoint: Point
  size: { width: number }
}) {
  const nameOf = useValueName()
  const isRight = toScreenPoint.x > size.width / 2
  return (
    <div
      className={styles.hoverCard}
      aria-hidden="true"
      style={{
        top: toScreenPoint.y + 12,
        ...(isRight ? { right: size.width - toScreenPoint.x + 8 } : { left: toScreenPoint.x + 8 }),
      }}
    >
      <span style={{ color: `var(${spot.color})` }}>{nameOf(spot.memory.category)}</span>
      {spot.memory.content}
    </div>
  )
}
