/** The memories of the map as a list by category, for screen readers and keyboards. */
import { useState } from 'react'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { EmptyState } from '../../ui/layout.tsx'
import { CATEGORIES } from '../memories/memory-fields.ts'
import { useValueName } from '../memories/value-names.ts'
import styles from './memory-list.module.css'
import type { Category, MappedMemory } from './queries.ts'

const PAGE_SIZE = 30
const NAME_CHARACTERS = 60

type ListProps = {
  memories: readonly MappedMemory[]
  selected: ReadonlySet<string>
  onSelect: (ids: ReadonlySet<string>) => void
  onOpen: (id: string) => void
  canSelect: boolean
}

export function MemoryList(props: ListProps) {
  const { t } = useI18n()
  const { memories } = props
  const groups = CATEGORIES.map(
    (category) => [category, memories.filter((memory) => memory.category === category)] as const,
  ).filter(([, group]) => group.length > 0)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <section className={styles.listed} aria-label={t('map.list')} tabIndex={0}>
      {groups.length === 0 ? (
        <EmptyState title={t('map.noMatch')} icon="search" />
      ) : (
        groups.map(([category, group]) => (
          <Group key={category} {...props} category={category} memories={group} />
        ))
      )}
    </section>
  )
}

function Group({
  category,
  memories,
  selected,
  onSelect,
  onOpen,
  canSelect,
}: ListProps & { category: Category }) {
  const { t, number } = useI18n()
  const nameOf = useValueName()
  const [shown, setShown] = useState(PAGE_SIZE)
  const selectedCount = memories.filter(({ id }) => selected.has(id)).length
  const toggleSelection = (ids: readonly string[], isOn: boolean) => {
    const rest = [...selected].filter((id) => !ids.includes(id))
    onSelect(new Set(isOn ? [...rest, ...ids] : rest))
  }
  const hiddenCount = memories.length - shown
  return (
    <section className={styles.group} aria-labelledby={`group-${category}`}>
      <header className={styles.head}>
        {canSelect && (
          <Checkbox
            name={t('map.selectGroup', { category })}
            isOn={selectedCount === memories.length}
            isMixed={selectedCount > 0 && selectedCount < memories.length}
            onCheckedChange={(isOn) =>
              toggleSelection(
                memories.map(({ id }) => id),
                isOn,
              )
            }
          />
        )}
        <CategoryDot category={category} />
        <h3 id={`group-${category}`}>{nameOf(category)}</h3>
        <span className={styles.count}>{number(memories.length)}</span>
      </header>
      <ul>
        {memories.slice(0, shown).map(({ id, content }) => (
          <li key={id} className={styles.memory}>
            {canSelect && (
              <Checkbox
                name={t('map.select', { content: content.slice(0, NAME_CHARACTERS) })}
                isOn={selected.has(id)}
                onCheckedChange={(isOn) => toggleSelection([id], isOn)}
              />
            )}
            <button type="button" className={styles.open} onClick={() => onOpen(id)}>
              {content}
            </button>
          </li>
        ))}
      </ul>
      {hiddenCount > 0 && (
        <Button isSmall look="quiet" onClick={() => setShown(shown + PAGE_SIZE * 4)}>
          {t('map.showMore', { count: Math.min(hiddenCount, PAGE_SIZE * 4) })}
        </Button>
      )}
    </section>
  )
}

export function CategoryDot({ category }: { category: Category }) {
  return <ColorDot color={`--category-${category}`} />
}

/** The name of a color variable as a dot. */
export function ColorDot({ color }: { color: string }) {
  return <span className={styles.dot} aria-hidden="true" style={{ background: `var(${color})` }} />
}
