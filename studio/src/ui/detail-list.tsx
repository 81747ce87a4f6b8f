/** What a drawer tells about one thing: its words, and what is known of it, each by its name. */
import type { ReactNode } from 'react'
import styles from './detail-list.module.css'
import { Chip } from './layout.tsx'

/** As it was written, line for line. */
export function Said({ children }: { children: string }) {
  return <p className={styles.said}>{children}</p>
}

export function Facts({ children }: { children: ReactNode }) {
  return <dl className={styles.facts}>{children}</dl>
}

export function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Nothing where there are no words. */
export function WordsFact({ name, words }: { name: string; words: readonly string[] }) {
  if (words.length === 0) return null
  return (
    <Fact name={name}>
      <span className={styles.chips}>
        {words.map((word) => (
          <Chip key={word}>{word}</Chip>
        ))}
      </span>
    </Fact>
  )
}
