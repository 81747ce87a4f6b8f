/** The panel and the editor of a memory, as several pages show them: loaded when first opened. */
import type { ComponentProps } from 'react'
import { lazyPart, useOnceTrue } from '../../ui/lazy-part.tsx'
import type { MemoryPanel } from './memory-panel.tsx'

export const LazyEditor = lazyPart(async () => (await import('./editor.tsx')).Editor)

const Panel = lazyPart(async () => (await import('./memory-panel.tsx')).MemoryPanel)

export function LazyMemoryPanel(props: ComponentProps<typeof MemoryPanel>) {
  return useOnceTrue(props.id !== null) ? <Panel {...props} /> : null
}
