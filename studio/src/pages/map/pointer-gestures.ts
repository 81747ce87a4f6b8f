import { type PointerEvent as ReactPointerEvent, useRef } from 'react'
import type { Point } from './camera.ts'

/** Movement up to this distance still counts as a click. */
const CLICK_TOLERANCE_PX = 4

type GestureOptions = {
  readonly isSelecting?: boolean
  readonly onTap: (at: Point) => void
  readonly onHover: (at: Point | null) => void
  readonly onPan: (dx: number, dy: number) => void
  readonly onPinch: (factor: number, at: Point) => void
  /** Lasso selection is disabled without these. */
  readonly onLasso?: (polygon: readonly Point[] | null) => void
  readonly onLassoed?: (polygon: readonly Point[], isAdditive: boolean) => void
}

/** Pointer gestures: a drag pans or draws a lasso, a pinch zooms, a tap opens. */
export function usePointerGestures(options: GestureOptions) {
  const pointers = useRef(new Map<number, Point>())
  const drag = useRef<{ polygon: Point[] | null; moved: number } | null>(null)
  const { onTap, onHover, onPan, onPinch, onLasso, onLassoed } = options
  const pointOf = ({ currentTarget, clientX, clientY }: ReactPointerEvent): Point => {
    const { left, top } = currentTarget.getBoundingClientRect()
    return { x: clientX - left, y: clientY - top }
  }
  return {
    onPointerDown: (event: ReactPointerEvent) => {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      const start = pointOf(event)
      pointers.current.set(event.pointerId, start)
      const isLasso = onLassoed !== undefined && (options.isSelecting === true || event.shiftKey)
      drag.current = { polygon: isLasso ? [start] : null, moved: 0 }
    },
    onPointerMove: (event: ReactPointerEvent) => {
      const now = pointOf(event)
      const before = pointers.current.get(event.pointerId)
      if (before === undefined || drag.current === null) {
        onHover(now)
        return
      }
      const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId)
      pointers.current.set(event.pointerId, now)
      drag.current.moved += Math.hypot(now.x - before.x, now.y - before.y)
      if (drag.current.moved <= CLICK_TOLERANCE_PX) return
      onHover(null)
      if (other !== undefined) {
        const [, fixed] = other
        const distance = (point: Point) => Math.hypot(point.x - fixed.x, point.y - fixed.y)
        onPinch(distance(now) / Math.max(1, distance(before)), fixed)
      } else if (drag.current.polygon !== null) {
        drag.current.polygon.push(now)
        onLasso?.([...drag.current.polygon])
      } else onPan(now.x - before.x, now.y - before.y)
    },
    onPointerUp: (event: ReactPointerEvent) => {
      pointers.current.delete(event.pointerId)
      const finished = drag.current
      if (finished === null || pointers.current.size > 0) return
      drag.current = null
      if (finished.moved <= CLICK_TOLERANCE_PX) onTap(pointOf(event))
      else if (finished.polygon !== null)
        onLassoed?.(finished.polygon, event.ctrlKey || event.metaKey)
    },
    onPointerCancel: (event: ReactPointerEvent) => {
      pointers.current.delete(event.pointerId)
      drag.current = null
      onLasso?.(null)
    },
    onPointerLeave: () => onHover(null),
  }
}
