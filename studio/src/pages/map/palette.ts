/** The colours of the theme in force, as a canvas needs them: worked out, and again when the theme changes. */
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

function read(): Palette {
  const colours = NAMES.map((name) => {
    // A new one for each: the colour of one that is there already would change over time.
    const probe = document.createElement('span')
    probe.style.color = `var(${name})`
    document.body.append(probe)
    const { color } = getComputedStyle(probe)
    probe.remove()
    return [name, color]
  })
  return Object.fromEntries(colours) as Palette // one for each name
}

export function usePalette(): Palette {
  const [palette, setPalette] = useState(read)
  useEffect(() => {
    const renew = () => setPalette(read())
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', renew)
    const chosen = new MutationObserver(renew)
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      system.removeEventListener('change', renew)
      chosen.disconnect()
    }
  }, [])
  return palette
}
