import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import styles from './tabs.module.css'

export type Tab<Name extends string> = {
  readonly name: Name
  readonly text: string
  readonly content: ReactNode
}

export function Tabs<Name extends string>({
  tabs,
  chosen,
  onChoose,
  label,
}: {
  tabs: readonly Tab<Name>[]
  chosen: Name
  onChoose: (name: Name) => void
  label: string
}) {
  return (
    <Radix.Root
      className={styles.tabs}
      value={chosen}
      onValueChange={(name) => onChoose(name as Name)} // one of the tabs
    >
      <Radix.List className={styles.list} aria-label={label}>
        {tabs.map(({ name, text }) => (
          <Radix.Trigger key={name} value={name} className={styles.tab}>
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
