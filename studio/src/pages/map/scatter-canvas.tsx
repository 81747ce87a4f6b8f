import { useEffect, useRef } from 'react'
import { type Camera, type Point, type Size, toScreen } from './camera.ts'
import { type Palette, usePalette } from './palette.ts'
import type { usePointerGestures } from './pointer-gestures.ts'
import type { MappedMemory } from './queries.ts'
import styles from './scatter-plot.module.css'

export type PlottedMemory = {
  readonly memory: MappedMemory
  readonly position: Point
  readonly isFaded: boolean
  readonly color: keyof Palette
}

type Scene = {
  readonly points: readonly PlottedMemory[]
  readonly camera: Camera
  readonly size: Size
  readonly selected: ReadonlySet<string>
  readonly lasso: readonly Point[] | null
  /** The hovered memory. */
  readonly hoveredId: string | null
}

const RADIUS_PX_MIN = 3
const RADIUS_PX_SALIENCE = 6

export function radiusOf({ salience }: MappedMemory): number {
  return RADIUS_PX_MIN + RADIUS_PX_SALIENCE * Math.min(1, Math.max(0, salience))
}

export function ScatterCanvas({
  label,
  cursor,
  gestures,
  ...scene
}: Scene & { label: string; cursor: string; gestures: ReturnType<typeof usePointerGestures> }) {
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
      {...gestures}
    />
  )
}

function draw(
  context: CanvasRenderingContext2D,
  { points, camera, size, selected, lasso, hoveredId }: Scene,
  palette: Palette,
): void {
  const circle = ({ memory, position }: PlottedMemory, more: number) => {
    const { x, y } = toScreen(camera, size, position)
    context.beginPath()
    context.arc(x, y, radiusOf(memory) + more, 0, 2 * Math.PI)
  }
  for (const spot of points) {
    circle(spot, 0)
    context.globalAlpha = spot.isFaded ? 0.12 : 0.82
    context.fillStyle = palette[spot.color]
    context.fill()
    context.globalAlpha = spot.isFaded ? 0.12 : 1
    context.strokeStyle = palette['--surface']
    context.lineWidth = 1
    context.stroke()
  }
  context.globalAlpha = 1
  for (const spot of points) {
    if (!selected.has(spot.memory.id) && spot.memory.id !== hoveredId) continue
    circle(spot, 2)
    context.strokeStyle = palette['--text']
    context.lineWidth = spot.memory.id === hoveredId ? 3 : 1.5
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
