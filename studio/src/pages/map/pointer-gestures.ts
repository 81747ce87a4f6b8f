import { type PointerEvent as ReactPointerEvent, useRef } from 'react'
import type { Point } from './camera.ts'

/** A hand that clicks is never quite still. */
const STILL_PX = 4

type HandOptions = {
  readonly isSelecting?: boolean
  readonly onTap: (at: Point) => void
  readonly onHover: (at: Point | null) => void
  readonly onPan: (dx: number, dy: number) => void
  readonly onPinch: (factor: number, at: Point) => void
  /** Without these, nothing can be drawn around. */
  readonly onLasso?: (polygon: readonly Point[] | null) => void
  readonly onLassoed?: (polygon: readonly Point[], isMore: boolean) => void
}

/** Mouse and fingers: one that drags moves the map or draws a lasso, two zoom, one that is still opens. */
export function useHand(options: HandOptions) {
  const fingers = useRef(new Map<number, Point>())
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
      fingers.current.set(event.pointerId, start)
      const isLasso = onLassoed !== undefined && (options.isSelecting === true || event.shiftKey)
      drag.current = { polygon: isLasso ? [start] : null, moved: 0 }
    },
    onPointerMove: (event: ReactPointerEvent) => {
      const now = pointOf(event)
      const before = fingers.current.get(event.pointerId)
      if (before === undefined || drag.current === null) {
        onHover(now)
        return
      }
      const [other] = [...fingers.current].filter(([id]) => id !== event.pointerId)
      fingers.current.set(event.pointerId, now)
      drag.current.moved += Math.hypot(now.x - before.x, now.y - before.y)
      if (drag.current.moved <= STILL_PX) return
      onHover(null)
      if (other !== undefined) {
        const [, still] = other
        const apart = (point: Point) => Math.hypot(point.x - still.x, point.y - still.y)
        onPinch(apart(now) / Math.max(1, apart(before)), still)
      } else if (drag.current.polygon !== null) {
        drag.current.polygon.push(now)
        onLasso?.([...drag.current.polygon])
      } else onPan(now.x - before.x, now.y - before.y)
    },
    onPointerUp: (event: ReactPointerEvent) => {
      fingers.current.delete(event.pointerId)
      const ended = drag.current
      if (ended === null || fingers.current.size > 0) return
      drag.current = null
      if (ended.moved <= STILL_PX) onTap(pointOf(event))
      else if (ended.polygon !== null) onLassoed?.(ended.polygon, event.ctrlKey || event.metaKey)
    },
    onPointerCancel: (event: ReactPointerEvent) => {
      fingers.current.delete(event.pointerId)
      drag.current = null
      onLasso?.(null)
    },
    onPointerLeave: () => onHover(null),
  }
}
