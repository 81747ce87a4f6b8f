/** The map of memories with everything around it: what is shown, what is selected, and what is done with that. */
import { Link } from '@tanstack/react-router'
import { useCallback, useMemo, useState } from 'react'
import { type Search, textIn, type usePageSearch } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Empty, Loaded, Notice } from '../../ui/layout.tsx'
import { useActions } from '../memories/queries.ts'
import { CATEGORIES } from '../memories/memory-fields.ts'
import { useLayout } from './layout.ts'
import { CategoryDot, Listed } from './memory-list.tsx'
import styles from './page.module.css'
import {
  AMOUNTS,
  type MappedMemory,
  PLACED_MIN,
  useVectors,
  type VectorsAnswer,
} from './queries.ts'
import { Scatter } from './scatter-plot.tsx'

type Change = ReturnType<typeof usePageSearch>[1]
type Props = { owner: string; search: Search; change: Change; onOpen: (id: string) => void }

function amountIn(search: Search): number {
  return AMOUNTS.find((amount) => amount === Number(search.amount)) ?? AMOUNTS[0]
}

export function MemoriesMap(props: Props) {
  const query = useVectors(props.owner, amountIn(props.search))
  return (
    <Loaded query={query} lines={12}>
      {(answer) => <Drawn {...props} answer={answer} />}
    </Loaded>
  )
}

function Drawn({ owner, search, change, onOpen, answer }: Props & { answer: VectorsAnswer }) {
  const { t } = useI18n()
  const { may } = useSession()
  const amount = amountIn(search)
  const { layout, work, fault, placeable, drawAgain } = useLayout(`${owner} ${amount}`, answer)
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const [isNarrow, setNarrow] = useState(false)
  const hidden = useMemo(() => new Set(textIn(search, 'hide').split(',')), [search])
  const wanted = textIn(search, 'q').toLowerCase()
  const isShown = useCallback(
    ({ category, content }: MappedMemory) =>
      !hidden.has(category) && content.toLowerCase().includes(wanted),
    [hidden, wanted],
  )
  const isFaded = useCallback((memory: MappedMemory) => !isShown(memory), [isShown])
  const chosen = answer.memories.filter(({ id }) => selected.has(id))
  const listed = isNarrow && chosen.length > 0 ? chosen : answer.memories.filter(isShown)
  if (answer.memories.length < PLACED_MIN && answer.because === null) {
    return (
      <Empty title={t('map.tooFew')} icon="map">
        {t('map.tooFewHelp', { count: PLACED_MIN })}
      </Empty>
    )
  }
  const fresh = layout === null ? 0 : placeable.filter(({ id }) => !layout.has(id)).length
  return (
    <div className={styles.map}>
      <Controls search={search} change={change} answer={answer} />
      <Troubles
        answer={answer}
        fault={fault}
        fresh={work === null ? fresh : 0}
        onAgain={drawAgain}
      />
      {chosen.length > 0 && (
        <Selection
          owner={owner}
          ids={chosen.map(({ id }) => id)}
          isNarrow={isNarrow}
          onNarrow={setNarrow}
          onClear={() => {
            setSelected(new Set())
            setNarrow(false)
          }}
        />
      )}
      <div className={styles.sides}>
        {answer.dimensions !== null && placeable.length >= PLACED_MIN && (
          <div className={styles.drawing}>
            {work !== null && <Working {...work} />}
            {layout === null ? (
              <div className={styles.blank} />
            ) : (
              <Scatter
                {...{ layout, isFaded, selected, onOpen }}
                memories={answer.memories}
                onSelect={setSelected}
              />
            )}
            <p className={styles.soft}>{t('map.hint')}</p>
          </div>
        )}
        <Listed
          memories={listed}
          selected={selected}
          onSelect={setSelected}
          onOpen={onOpen}
          canSelect={may('write')}
        />
      </div>
    </div>
  )
}

function Working({ stage, done }: { stage: 'comparing' | 'placing'; done: number }) {
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

/** What keeps the map from being whole, and what can be done about it. */
function Troubles({
  answer,
  fault,
  fresh,
  onAgain,
}: {
  answer: VectorsAnswer
  fault: string | null
  fresh: number
  onAgain: () => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const again = (
    <Button isSmall onClick={onAgain}>
      {t('map.update')}
    </Button>
  )
  const unplaced = answer.memories.filter(({ vector }) => vector === null).length
  if (answer.because !== null) {
    return (
      <Notice
        tone="warn"
        action={may('manage') && <Link to="/studio/engine">{t('map.openEngine')}</Link>}
      >
        {t('map.noVectors', { reason: answer.because })} {t('map.noVectorsHelp')}
      </Notice>
    )
  }
  return (
    <>
      {fault !== null && (
        <Notice tone="bad" action={again}>
          {t('map.failed', { reason: fault })}
        </Notice>
      )}
      {unplaced > 0 && <Notice>{t('map.notEmbedded', { count: unplaced })}</Notice>}
      {fresh > 0 && <Notice action={again}>{t('map.outdated', { count: fresh })}</Notice>}
    </>
  )
}

function Controls({
  search,
  change,
  answer,
}: {
  search: Search
  change: Change
  answer: VectorsAnswer
}) {
  const { t, number } = useI18n()
  const hidden = textIn(search, 'hide').split(',').filter(Boolean)
  const present = CATEGORIES.filter((each) =>
    answer.memories.some(({ category }) => category === each),
  )
  const turn = (category: string) => {
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
        value={textIn(search, 'q')}
        onChange={({ target }) => change({ q: target.value === '' ? undefined : target.value })}
      />
      {!(answer.isComplete && amountIn(search) === AMOUNTS[0]) && (
        <Select
          label={t('map.limit')}
          isLabelHidden
          value={String(amountIn(search))}
          options={AMOUNTS.map((amount) => ({
            value: String(amount),
            text: t('map.newest', { count: number(amount) }),
          }))}
          onChoose={(amount) => change({ amount: Number(amount) })}
        />
      )}
      <fieldset className={styles.legend} aria-label={t('map.categories')}>
        {present.map((category) => (
          <button
            key={category}
            type="button"
            className={styles.category}
            aria-pressed={!hidden.includes(category)}
            onClick={() => turn(category)}
          >
            <CategoryDot category={category} />
            {category}
          </button>
        ))}
      </fieldset>
    </div>
  )
}

function Selection({
  owner,
  ids,
  isNarrow,
  onNarrow,
  onClear,
}: {
  owner: string
  ids: readonly string[]
  isNarrow: boolean
  onNarrow: (isNarrow: boolean) => void
  onClear: () => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const { forget } = useActions(owner)
  const [isAsking, setAsking] = useState(false)
  return (
    <div className={styles.bulk} role="status">
      <strong>{t('map.selected', { count: ids.length })}</strong>
      <Button isSmall onClick={() => onNarrow(!isNarrow)}>
        {t(isNarrow ? 'map.showAll' : 'map.onlySelected')}
      </Button>
      {may('write') && (
        <Button isSmall icon="forget" onClick={() => setAsking(true)}>
          {t('map.forget')}
        </Button>
      )}
      <Button isSmall look="quiet" onClick={onClear}>
        {t('map.clearSelection')}
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
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
