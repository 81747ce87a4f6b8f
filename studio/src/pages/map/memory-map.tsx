/** The map of memories with filters, selection and bulk actions. */
import { Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { type SearchParams, textParam, type useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { EmptyState, Notice, QueryResult } from '../../ui/layout.tsx'
import { CATEGORIES } from '../memories/memory-fields.ts'
import { useActions } from '../memories/queries.ts'
import { useValueName } from '../memories/value-names.ts'
import { useMapLayout } from './layout.ts'
import { CategoryDot, ColorDot, MemoryList } from './memory-list.tsx'
import styles from './page.module.css'
import {
  COLORING_NAMES,
  COLORINGS,
  type Coloring,
  colorNameOf,
  colorValueOf,
  colorValuesOf,
} from './point-colors.ts'
import {
  LIMITS,
  MAP_MEMORIES_MIN,
  type MappedMemory,
  useVectors,
  type VectorsAnswer,
} from './queries.ts'
import { ScatterPlot } from './scatter-plot.tsx'

type Change = ReturnType<typeof useSearchParams>[1]
type Props = { owner: string; search: SearchParams; change: Change; onOpen: (id: string) => void }

function amountIn(search: SearchParams): number {
  return LIMITS.find((amount) => amount === Number(search.amount)) ?? LIMITS[0]
}

function coloringIn(search: SearchParams): Coloring {
  return COLORINGS.find((each) => each === search.color) ?? COLORINGS[0]
}

function createColors(memories: readonly MappedMemory[], coloring: Coloring) {
  const now = Date.now()
  const values = colorValuesOf(memories, coloring, now)
  return (memory: MappedMemory) =>
    colorNameOf(colorValueOf(memory, coloring, now), coloring, values)
}

export function MemoryMap(props: Props) {
  const query = useVectors(props.owner, amountIn(props.search))
  return (
    <QueryResult query={query} lines={12}>
      {(answer) => <MapContent {...props} answer={answer} />}
    </QueryResult>
  )
}

function MapContent({ owner, search, change, onOpen, answer }: Props & { answer: VectorsAnswer }) {
  const { t } = useI18n()
  const { can } = useSession()
  const amount = amountIn(search)
  const {
    layout,
    progress: work,
    fault,
    embedded: placeable,
    recompute,
  } = useMapLayout(`${owner} ${amount}`, answer)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isOnlySelected, setOnlySelected] = useState(false)
  const hidden = useMemo(() => new Set(textParam(search, 'hide').split(',')), [search])
  const searchText = textParam(search, 'q').toLowerCase()
  const isShown = useCallback(
    ({ category, content }: MappedMemory) =>
      !hidden.has(category) && content.toLowerCase().includes(searchText),
    [hidden, searchText],
  )
  const coloring = coloringIn(search)
  const colorOf = useMemo(() => createColors(answer.memories, coloring), [answer, coloring])
  const isFaded = useCallback((memory: MappedMemory) => !isShown(memory), [isShown])
  const chosen = answer.memories.filter(({ id }) => selected.has(id))
  const listed = isOnlySelected && chosen.length > 0 ? chosen : answer.memories.filter(isShown)
  if (answer.memories.length < MAP_MEMORIES_MIN && answer.reason === null) {
    return (
      <EmptyState title={t('map.tooFew')} icon="map">
        {t('map.tooFewHelp', { count: MAP_MEMORIES_MIN })}
      </EmptyState>
    )
  }
  const addedCount = layout === null ? 0 : placeable.filter(({ id }) => !layout.has(id)).length
  return (
    <div className={styles.map}>
      <Controls search={search} change={change} answer={answer} />
      <MapNotices
        answer={answer}
        fault={fault}
        addedCount={work === null ? addedCount : 0}
        onUpdate={recompute}
      />
      {chosen.length > 0 && (
        <Selection
          owner={owner}
          ids={chosen.map(({ id }) => id)}
          isOnlySelected={isOnlySelected}
          onOnlySelected={setOnlySelected}
          onClear={() => {
            setSelected(new Set())
            setOnlySelected(false)
          }}
        />
      )}
      <div className={styles.sides}>
        {answer.dimensions !== null && placeable.length >= MAP_MEMORIES_MIN && (
          <div className={styles.drawing}>
            {work !== null && <LayoutProgress {...work} />}
            {layout === null ? (
              <div className={styles.blank} />
            ) : (
              <ScatterPlot
                {...{ layout, isFaded, colorOf, selected, onOpen }}
                memories={answer.memories}
                onSelect={setSelected}
              />
            )}
            <p className={styles.soft}>{t('map.hint')}</p>
          </div>
        )}
        <MemoryList
          memories={listed}
          selected={selected}
          onSelect={setSelected}
          onOpen={onOpen}
          canSelect={can('write')}
        />
      </div>
    </div>
  )
}

function LayoutProgress({ stage, done }: { stage: 'comparing' | 'placing'; done: number }) {
  const { t, number } = useI18n()
  const name = t(stage === 'comparing' ? 'map.comparing' : 'map.computing')
  return (
    <div className={styles.working} role="status">
      <span>
        {name} {number(done, { style: 'percent' })}
      </span>
      <progress aria-label={name} value={done} max={1} />
    </div>
  )
}

/** Why memories are missing on the map, and what to do about it. */
function MapNotices({
  answer,
  fault,
  addedCount,
  onUpdate,
}: {
  answer: VectorsAnswer
  fault: string | null
  addedCount: number
  onUpdate: () => void
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const updateButton = (
    <Button isSmall onClick={onUpdate}>
      {t('map.update')}
    </Button>
  )
  const notEmbedded = answer.memories.filter(({ vector }) => vector === null).length
  if (answer.reason !== null) {
    return (
      <Notice
        tone="warn"
        action={can('manage') && <Link to="/studio/engine">{t('map.openEngine')}</Link>}
      >
        {t('map.noVectors', { reason: answer.reason })} {t('map.noVectorsHelp')}
      </Notice>
    )
  }
  return (
    <>
      {fault !== null && (
        <Notice tone="bad" action={updateButton}>
          {t('map.failed', { reason: fault })}
        </Notice>
      )}
      {notEmbedded > 0 && <Notice>{t('map.notEmbedded', { count: notEmbedded })}</Notice>}
      {addedCount > 0 && (
        <Notice action={updateButton}>{t('map.outdated', { count: addedCount })}</Notice>
      )}
    </>
  )
}

function Controls({
  search,
  change,
  answer,
}: {
  search: SearchParams
  change: Change
  answer: VectorsAnswer
}) {
  const { t, number } = useI18n()
  const nameOf = useValueName()
  const coloring = coloringIn(search)
  const hidden = textParam(search, 'hide').split(',').filter(Boolean)
  const present = CATEGORIES.filter((each) =>
    answer.memories.some(({ category }) => category === each),
  )
  const toggleCategory = (category: string) => {
    const next = hidden.includes(category)
      ? hidden.filter((each) => each !== category)
      : [...hidden, category]
    change({ hide: next.length === 0 ? undefined : next.join(',') })
  }
  return (
    <div className={styles.controls}>
      <TextField
        label={t('map.search')}
        isLabelHidden
        type="search"
        data-search=""
        placeholder={t('map.search')}
        value={textParam(search, 'q')}
        onChange={({ target }) => change({ q: target.value === '' ? undefined : target.value })}
      />
      {!(answer.isComplete && amountIn(search) === LIMITS[0]) && (
        <Select
          label={t('map.limit')}
          isLabelHidden
          value={String(amountIn(search))}
          options={LIMITS.map((amount) => ({
            value: String(amount),
            text: t('map.newest', { count: number(amount) }),
          }))}
          onValueChange={(amount) => change({ amount: Number(amount) })}
        />
      )}
      <Select
        label={t('map.colorBy')}
        isLabelHidden
        value={coloring}
        options={COLORINGS.map((value) => ({
          value,
          text: `${t('map.colorBy')}: ${t(COLORING_NAMES[value])}`,
        }))}
        onValueChange={(value) => change({ color: value === COLORINGS[0] ? undefined : value })}
      />
      {coloring !== 'category' && <ColorLegend memories={answer.memories} coloring={coloring} />}
      <fieldset className={styles.legend} aria-label={t('map.categories')}>
        {present.map((category) => (
          <button
            key={category}
            type="button"
            className={styles.category}
            aria-pressed={!hidden.includes(category)}
            onClick={() => toggleCategory(category)}
          >
            {coloring === 'category' && <CategoryDot category={category} />}
            {nameOf(category)}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

function ColorLegend({
  memories,
  coloring,
}: {
  memories: readonly MappedMemory[]
  coloring: Coloring
}) {
  const { t } = useI18n()
  const nameOf = useValueName()
  const values = colorValuesOf(memories, coloring, Date.now())
  return (
    <ul className={styles.legend} aria-label={t('map.legend')}>
      {values.map((value) => (
        <li key={value} className={styles.category}>
          <ColorDot color={colorNameOf(value, coloring, values)} />
          {nameOf(value)}
        </li>
      ))}
    </ul>
  )
}

function Selection({
  owner,
  ids,
  isOnlySelected,
  onOnlySelected,
  onClear,
}: {
  owner: string
  ids: readonly string[]
  isOnlySelected: boolean
  onOnlySelected: (isOnlySelected: boolean) => void
  onClear: () => void
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const { forget } = useActions(owner)
  const [isConfirming, setConfirming] = useState(false)
  return (
    <div className={styles.bulk} role="status">
      <strong>{t('map.selected', { count: ids.length })}</strong>
      <Button isSmall onClick={() => onOnlySelected(!isOnlySelected)}>
        {t(isOnlySelected ? 'map.showAll' : 'map.onlySelected')}
      </Button>
      {can('write') && (
        <Button isSmall icon="forget" onClick={() => setConfirming(true)}>
          {t('map.forget')}
        </Button>
      )}
      <Button isSmall look="quiet" onClick={onClear}>
        {t('map.clearSelection')}
      </Button>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('map.forgetTitle', { count: ids.length })}
        description={t('map.forgetHelp')}
        action={t('map.forget')}
        onConfirm={async () => {
          await forget(ids)
          onClear()
        }}
      />
    </div>
  )
}
