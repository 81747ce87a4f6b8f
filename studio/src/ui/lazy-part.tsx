/** Parts of a page whose code is loaded when they are first shown. */
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react'

/** A component that renders `fallback` until its code is there. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  fallback: ReactNode = null,
): ComponentType<Props> {
  const Part = lazy(async () => ({ default: await load() }))
  return (props) => (
    <Suspense fallback={fallback}>
      <Part {...props} />
    </Suspense>
  )
}

/** Stays true once `condition` was, so that what closes stays mounted and returns the focus. */
export function useOnceTrue(condition: boolean): boolean {
  const [wasTrue, setTrue] = useState(condition)
  if (condition && !wasTrue) setTrue(true)
  return wasTrue || condition
}
