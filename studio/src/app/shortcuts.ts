import { useEffect, useRef } from 'react'

type Keys = Readonly<Record<string, () => void>>

/** The registered shortcuts, from which the help dialog lists those of the current page. */
const listening = new Set<{ readonly current: Keys }>()

export function activeShortcuts(): ReadonlySet<string> {
  return new Set([...listening].flatMap(({ current }) => Object.keys(current)))
}

/** Registers single-key shortcuts. They are ignored while the focus is in a text field. */
export function useShortcuts(keys: Keys): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const run = latest.current[event.key]
      if (run === undefined) return
      event.preventDefault()
      run()
    }
    listening.add(latest)
    window.addEventListener('keydown', listen)
    return () => {
      listening.delete(latest)
      window.removeEventListener('keydown', listen)
    }
  }, [])
}

/** Fields, and what is on top of the page; a side panel stands beside it. */
const TYPED_INTO =
  'input:not([type=checkbox]), textarea, select, [role=dialog]:not([data-side-panel]), [role=alertdialog], [role=menu]'

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest(TYPED_INTO) !== null)
  )
}

/** The search field of the page, if it has one. */
export function searchField(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('[data-search]')
}
