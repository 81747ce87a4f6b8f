import { useEffect, useRef } from 'react'
import { type Camera, type Point, type Size, toScreen } from './camera.ts'
import type { useHand } from './pointer-gestures.ts'
import { type Palette, usePalette } from './palette.ts'
import type { MappedMemory } from './queries.ts'
import styles from './scatter-plot.module.css'

export type Spot = {
  readonly memory: MappedMemory
  readonly place: Point
  readonly isFaded: boolean
}

type Scene = {
  readonly spots: readonly Spot[]
  readonly camera: Camera
  readonly size: Size
  readonly selected: ReadonlySet<string>
  readonly lasso: readonly Point[] | null
  /** The memory that is pointed at. */
  readonly aimed: string | null
}

const RADIUS_PX_MIN = 3
const RADIUS_PX_MORE = 6

export function radiusOf({ salience }: MappedMemory): number {
  return RADIUS_PX_MIN + RADIUS_PX_MORE * Math.min(1, Math.max(0, salience))
}

export function Drawing({
  label,
  cursor,
  hand,
  ...scene
}: Scene & { label: string; cursor: string; hand: ReturnType<typeof useHand> }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  const palette = usePalette()
  const { width, height } = scene.size
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (context === null || context === undefined) return
    const density = window.devicePixelRatio || 1
    context.canvas.width = Math.round(width * density)
    context.canvas.height = Math.round(height * density)
    context.setTransform(density, 0, 0, density, 0, 0)
    draw(context, scene, palette)
  })
  return (
    <canvas
      ref={canvas}
      className={styles.canvas}
      style={{ width, height, cursor }}
      role="img"
      aria-label={label}
      {...hand}
    />
  )
}

function draw(
  context: CanvasRenderingContext2D,
  { spots, camera, size, selected, lasso, aimed }: Scene,
  palette: Palette,
): void {
  const circle = ({ memory, place }: Spot, more: number) => {
    const { x, y } = toScreen(camera, size, place)
    context.beginPath()
    context.arc(x, y, radiusOf(memory) + more, 0, 2 * Math.PI)
  }
  for (const spot of spots) {
    circle(spot, 0)
    context.globalAlpha = spot.isFaded ? 0.12 : 0.82
    context.fillStyle = palette[`--category-${spot.memory.category}`]
    context.fill()
    context.globalAlpha = spot.isFaded ? 0.12 : 1
    context.strokeStyle = palette['--surface']
    context.lineWidth = 1
    context.stroke()
  }
  context.globalAlpha = 1
  for (const spot of spots) {
    if (!selected.has(spot.memory.id) && spot.memory.id !== aimed) continue
    circle(spot, 2)
    context.strokeStyle = palette['--text']
    context.lineWidth = spot.memory.id === aimed ? 3 : 1.5
    context.stroke()
  }
  if (lasso === null) return
  context.beginPath()
  for (const { x, y } of lasso) context.lineTo(x, y)
  context.closePath()
  context.setLineDash([5, 4])
  context.strokeStyle = palette['--accent']
  context.lineWidth = 1.5
  context.stroke()
  context.globalAlpha = 0.1
  context.fillStyle = palette['--accent']
  context.fill()
  context.globalAlpha = 1
  context.setLineDash([])
}
