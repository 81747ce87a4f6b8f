/** A camera over a plane: the visible part, and pan and zoom by mouse, wheel and touch. */
import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'

export type Point = { readonly x: number; readonly y: number }
export type Size = { readonly width: number; readonly height: number }

/** `x` and `y` are the center of the view; `scale` is pixels per unit of the plane. */
export type Camera = Point & { readonly scale: number }

/** Space for labels around the outermost points. */
const MARGIN_PX = 44
const ZOOM_MAX = 40

export function toScreen({ x, y, scale }: Camera, { width, height }: Size, point: Point): Point {
  return { x: (point.x - x) * scale + width / 2, y: (point.y - y) * scale + height / 2 }
}

export function toPlane({ x, y, scale }: Camera, { width, height }: Size, point: Point): Point {
  return { x: (point.x - width / 2) / scale + x, y: (point.y - height / 2) / scale + y }
}

/** The camera that shows all points. */
export function fitCamera(points: Iterable<Point>, { width, height }: Size): Camera {
  let [left, right, top, bottom] = [
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
  ]
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  if (left > right) return { x: 0, y: 0, scale: 1 }
  const scaleToFit = (pixels: number, length: number) =>
    Math.max(1, pixels - 2 * MARGIN_PX) / Math.max(length, 1e-6)
  return {
    x: (left + right) / 2,
    y: (top + bottom) / 2,
    scale: Math.min(scaleToFit(width, right - left), scaleToFit(height, bottom - top)),
  }
}

/** Zooms by a factor and keeps the point at `at` in place. */
function zoomAt(camera: Camera, size: Size, factor: number, at: Point): Camera {
  const target = toPlane(camera, size, at)
  const scale = camera.scale * factor
  return {
    x: target.x - (at.x - size.width / 2) / scale,
    y: target.y - (at.y - size.height / 2) / scale,
    scale,
  }
}

export function isPointInPolygon(polygon: readonly Point[], { x, y }: Point): boolean {
  let isInside = false
  for (let index = 0, before = polygon.length - 1; index < polygon.length; before = index++) {
    const [a, b] = [polygon[index], polygon[before]]
    if (a === undefined || b === undefined) continue
    const crosses = a.y > y !== b.y > y && x < ((b.x - a.x) * (y - a.y)) / (b.y - a.y) + a.x
    if (crosses) isInside = !isInside
  }
  return isInside
}

/** Observes the size of an element. */
export function useSize(element: RefObject<Element | null>): Size {
  const [size, setSize] = useState<Size>({ width: 0, height: 0 })
  useEffect(() => {
    const observed = element.current
    if (observed === null) return
    const observer = new ResizeObserver(([entry]) => {
      const { width = 0, height = 0 } = entry?.contentRect ?? {}
      setSize({ width, height })
    })
    observer.observe(observed)
    return () => observer.disconnect()
  }, [element])
  return size
}

/** A camera that shows everything until the user moves it. `home` is that view; callers must memoize it. */
export function useCamera(element: RefObject<Element | null>, size: Size, home: Camera) {
  const [movedCamera, setMovedCamera] = useState<Camera | null>(null)
  const camera = movedCamera ?? home
  const latest = useRef({ camera, size, home })
  latest.current = { camera, size, home }
  const zoom = useCallback((factor: number, at?: Point) => {
    const { camera: from, size: now, home: whole } = latest.current
    const nearest = (whole.scale * ZOOM_MAX) / from.scale
    const farthest = whole.scale / 2 / from.scale
    const clamped = Math.min(nearest, Math.max(farthest, factor))
    setMovedCamera(zoomAt(from, now, clamped, at ?? { x: now.width / 2, y: now.height / 2 }))
  }, [])
  const pan = useCallback((dx: number, dy: number) => {
    const { camera: from } = latest.current
    setMovedCamera({ ...from, x: from.x - dx / from.scale, y: from.y - dy / from.scale })
  }, [])
  useEffect(() => {
    const frame = element.current
    if (frame === null) return
    // React registers wheel listeners as passive, so they cannot prevent scrolling.
    const onWheel = (event: Event) => {
      if (!(event instanceof WheelEvent)) return
      event.preventDefault()
      const box = frame.getBoundingClientRect()
      zoom(2 ** (-event.deltaY / 400), { x: event.clientX - box.left, y: event.clientY - box.top })
    }
    frame.addEventListener('wheel', onWheel, { passive: false })
    return () => frame.removeEventListener('wheel', onWheel)
  }, [element, zoom])
  return { camera, zoom, pan, showAll: () => setMovedCamera(null) }
}
