import type { Memory } from '../../api/client.ts'
import { Chip } from '../../ui/layout.tsx'
import styles from './memory-panel.module.css'

const COMPARED_FIELDS = [
  'key',
  'category',
  'type',
  'importance',
  'status',
  'trust',
  'pinned',
  'expiresAt',
] as const

/** The changed fields of a memory other than its content. */
export function FieldChanges({ before, after }: { before: Memory | undefined; after: Memory }) {
  if (before === undefined) return null
  const changed = COMPARED_FIELDS.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return null
  return (
    <p className={styles.chips}>
      {changed.map((name) => (
        <Chip key={name}>
          {name}: {String(before[name])} → {String(after[name])}
        </Chip>
      ))}
    </p>
  )
}
