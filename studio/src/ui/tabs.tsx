import { Tabs as Radix } from 'radix-ui'
import { type ReactNode, useEffect, useRef } from 'react'
import styles from './tabs.module.css'

export type Tab<Name extends string> = {
  readonly name: Name
  readonly text: string
  readonly content: ReactNode
}

export function Tabs<Name extends string>({
  tabs,
  value,
  onValueChange,
  label,
}: {
  tabs: readonly Tab<Name>[]
  value: Name
  onValueChange: (name: Name) => void
  label: string
}) {
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => scrollToTab(list.current, value), [value])
  return (
    <Radix.Root
      className={styles.tabs}
      value={value}
      onValueChange={(name) => onValueChange(name as Name)} // a tab name
    >
      <Radix.List ref={list} className={styles.list} aria-label={label}>
        {tabs.map(({ name, text }) => (
          <Radix.Trigger key={name} value={name} data-tab={name} className={styles.tab}>
            {text}
          </Radix.Trigger>
        ))}
      </Radix.List>
      {tabs.map(({ name, content }) => (
        <Radix.Content key={name} value={name} className={styles.content}>
          {content}
        </Radix.Content>
      ))}
    </Radix.Root>
  )
}

/** Scrolls the selected tab to the center if not all tabs fit. */
function scrollToTab(list: HTMLElement | null, value: string): void {
  const tab = list?.querySelector<HTMLElement>(`[data-tab="${value}"]`)
  if (list == null || tab == null) return
  list.scrollLeft = tab.offsetLeft - list.offsetLeft - (list.clientWidth - tab.offsetWidth) / 2
}
