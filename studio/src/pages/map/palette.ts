/** The resolved colors of the current theme, for drawing on a canvas. They update with the theme. */
import { useEffect, useState } from 'react'
import { CATEGORIES } from '../memories/memory-fields.ts'

const NAMES = [
  ...CATEGORIES.map((category) => `--category-${category}` as const),
  '--surface',
  '--text',
  '--accent',
  '--line-strong',
] as const
type Name = (typeof NAMES)[number]
export type Palette = Readonly<Record<Name, string>>

function readPalette(): Palette {
  const colors = NAMES.map((name) => {
    // A new element for each color: the color of an existing one would be animated by its transition.
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return [name, color]
  })
  return Object.fromEntries(colors) as Palette // one entry per name
}

export function usePalette(): Palette {
  const [palette, setPalette] = useState(readPalette)
  useEffect(() => {
    const refresh = () => setPalette(readPalette())
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', refresh)
    const themeObserver = new MutationObserver(refresh)
    themeObserver.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      system.removeEventListener('change', refresh)
      themeObserver.disconnect()
    }
  }, [])
  return palette
}
