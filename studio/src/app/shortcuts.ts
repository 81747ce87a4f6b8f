import { useEffect, useRef } from 'react'

type Keys = Readonly<Record<string, () => void>>

/** What listens now, so that the help can tell of what works here and of nothing else. */
const listening = new Set<{ readonly current: Keys }>()

export function activeShortcuts(): ReadonlySet<string> {
  return new Set([...listening].flatMap(({ current }) => Object.keys(current)))
}

/** Single keys, as people know them from mail programs. They do nothing while somebody writes. */
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

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable ||
      target.closest('input:not([type=checkbox]), textarea, select, [role=dialog], [role=menu]') !==
        null)
  )
}
