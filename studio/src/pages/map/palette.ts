/** The colours of the theme in force, as a canvas needs them: worked out, and again when the theme changes. */
import { useEffect, useState } from 'react'
import { CATEGORIES } from '../memories/words.ts'

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
  const probe = document.createElement('span')
  document.body.append(probe)
  const colours = NAMES.map((name) => {
    probe.style.color = `var(${name})`
    return [name, getComputedStyle(probe).color]
  })
  probe.remove()
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
