/** The body of a drawer: the text of a resource and a list of its details. */
import type { ReactNode } from 'react'
import styles from './detail-list.module.css'
import { Chip } from './layout.tsx'
import { InfoTip } from './tooltip.tsx'

/** Text with its original line breaks. */
export function VerbatimText({ children }: { children: string }) {
  return <p className={styles.verbatim}>{children}</p>
}

export function DetailList({ children }: { children: ReactNode }) {
  return <dl className={styles.details}>{children}</dl>
}

export function Detail({
  name,
  info,
  children,
}: {
  name: string
  /** Explains the name, in a tooltip. */
  info?: string
  children: ReactNode
}) {
  return (
    <div className={styles.detail}>
      <dt>
        {name} {info !== undefined && <InfoTip text={info} />}
      </dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Renders nothing without tags. */
export function TagsDetail({ name, tags }: { name: string; tags: readonly string[] }) {
  if (tags.length === 0) return null
  return (
    <Detail name={name}>
      <span className={styles.chips}>
        {tags.map((tag) => (
          <Chip key={tag}>{tag}</Chip>
        ))}
      </span>
    </Detail>
  )
}
