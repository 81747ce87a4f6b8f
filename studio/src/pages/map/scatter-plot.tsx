/** The map itself, drawn on a canvas. Whatever can be done on it can be done in the list beside it too. */
import { useCallback, useMemo, useRef, useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { cameraOver, isInside, type Point, toScreen, useCamera, useSize } from './camera.ts'
import { Drawing, radiusOf, type Spot } from './scatter-canvas.tsx'
import { useHand } from './pointer-gestures.ts'
import type { Layout } from './layout.ts'
import type { MappedMemory } from './queries.ts'
import styles from './scatter-plot.module.css'

/** How far beside a point one may aim. */
const AIM_PX = 7
const ZOOM_STEP = 1.5

export function Scatter({
  memories,
  layout,
  isFaded,
  selected,
  onSelect,
  onOpen,
}: {
  memories: readonly MappedMemory[]
  layout: Layout
  isFaded: (memory: MappedMemory) => boolean
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame)
  const home = useMemo(() => cameraOver(layout.values(), size), [layout, size])
  const { camera, zoom, pan, showAll } = useCamera(frame, size, home)
  const [isSelecting, setSelecting] = useState(false)
  const [lasso, setLasso] = useState<readonly Point[] | null>(null)
  const [aimed, setAimed] = useState<Spot | null>(null)
  const spots = useMemo(
    () =>
      memories.flatMap((memory): Spot[] => {
        const place = layout.get(memory.id)
        return place === undefined ? [] : [{ memory, place, isFaded: isFaded(memory) }]
      }),
    [memories, layout, isFaded],
  )
  const at = useCallback((place: Point) => toScreen(camera, size, place), [camera, size])
  const nearest = (pointer: Point) => nearestTo(spots, at, pointer)
  const hand = useHand({
    isSelecting,
    onTap: (pointer) => {
      const spot = nearest(pointer)
      if (spot !== null) onOpen(spot.memory.id)
    },
    onHover: (pointer) => setAimed(pointer === null ? null : nearest(pointer)),
    onPan: pan,
    onPinch: zoom,
    onLasso: setLasso,
    onLassoed: (polygon, isMore) => {
      setLasso(null)
      const inside = spots.filter(({ place, isFaded: out }) => !out && isInside(polygon, at(place)))
      const ids = inside.map(({ memory }) => memory.id)
      onSelect(new Set(isMore ? [...selected, ...ids] : ids))
    },
  })
  return (
    <div className={styles.frame} ref={frame}>
      <Drawing
        {...{ spots, camera, size, selected, lasso, hand }}
        aimed={aimed?.memory.id ?? null}
        label={t('map.canvas', { count: spots.length })}
        cursor={aimed !== null ? 'pointer' : isSelecting ? 'crosshair' : 'grab'}
      />
      {aimed !== null && lasso === null && <Aimed spot={aimed} at={at(aimed.place)} size={size} />}
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

function nearestTo(
  spots: readonly Spot[],
  at: (place: Point) => Point,
  pointer: Point,
): Spot | null {
  let best: Spot | null = null
  let closest = Number.POSITIVE_INFINITY
  for (const spot of spots) {
    if (spot.isFaded) continue
    const { x, y } = at(spot.place)
    const distance = Math.hypot(x - pointer.x, y - pointer.y) - radiusOf(spot.memory)
    if (distance < closest) [best, closest] = [spot, distance]
  }
  return closest <= AIM_PX ? best : null
}

/** What points at the map, follows it here. */
function Aimed({ spot, at, size }: { spot: Spot; at: Point; size: { width: number } }) {
  const isRight = at.x > size.width / 2
  return (
    <div
      className={styles.aimed}
      aria-hidden="true"
      style={{
        top: at.y + 12,
        ...(isRight ? { right: size.width - at.x + 8 } : { left: at.x + 8 }),
      }}
    >
      <span style={{ color: `var(--category-${spot.memory.category})` }}>
        {spot.memory.category}
      </span>
      {spot.memory.content}
    </div>
  )
}
