// biome-ignore-all lint/a11y/useSemanticElements: rows are placed by hand, which tables of the browser do not allow
// biome-ignore-all lint/a11y/useFocusableInteractive: what is in a row can be focused, the row itself need not
/** The list of memories, however many there are: only what is in view is drawn, and its pages are asked for as it comes. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { type Search, usePageSearch } from '../../app/address.ts'
import { useKeys } from '../../app/keyboard.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, Failure, Loading, Meter, type Tone } from '../../ui/surface.tsx'
import styles from './list.module.css'
import { listPage, ROWS_PER_PAGE } from './queries.ts'

const ROW_PX = 60
/** Pages that are kept while one scrolls: enough for the view and a quick look back. */
const PAGES_AROUND = 1

export type Selection = {
  readonly ids: ReadonlySet<string>
  readonly set: (ids: ReadonlySet<string>) => void
}

type ListProps = {
  owner: string
  search: Search
  selection: Selection
  onOpen: (id: string) => void
  onEdit: (memory: Memory) => void
  empty: ReactNode
}

/** All memories that pass the filters. */
export function PagedList({ owner, search, empty, ...rest }: ListProps) {
  const [shown, setShown] = useState({ first: 0, last: 0 })
  const head = useQuery(listPage(owner, search, 0))
  const total = head.data?.total ?? 0
  const pages = useMemo(() => pagesAround(shown, total), [shown, total])
  const loaded = useQueries({ queries: pages.map((page) => listPage(owner, search, page)) })
  if (head.error !== null && head.data === undefined) {
    return <Failure error={head.error} onRetry={() => void head.refetch()} />
  }
  if (head.data === undefined) return <Loading lines={10} />
  if (total === 0) return empty
  const rowAt = (index: number): Memory | undefined => {
    const page = Math.floor(index / ROWS_PER_PAGE)
    const found = page === 0 ? head.data : loaded[pages.indexOf(page)]?.data
    const rows = found?.page === page + 1 || page === 0 ? found?.data : undefined
    return rows?.[index % ROWS_PER_PAGE]
  }
  return <Rows {...rest} count={total} rowAt={rowAt} onShown={setShown} isSearch={false} />
}

function pagesAround({ first, last }: { first: number; last: number }, total: number): number[] {
  const lastPage = Math.max(0, Math.ceil(total / ROWS_PER_PAGE) - 1)
  const from = Math.max(0, Math.floor(first / ROWS_PER_PAGE) - PAGES_AROUND)
  const to = Math.min(lastPage, Math.floor(last / ROWS_PER_PAGE) + PAGES_AROUND)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** What a search has found, best first. */
export function FoundList({
  found,
  ...rest
}: Omit<ListProps, 'owner' | 'search' | 'empty'> & { found: readonly Memory[] }) {
  return <Rows {...rest} count={found.length} rowAt={(index) => found[index]} isSearch />
}

type RowsProps = Omit<ListProps, 'owner' | 'search' | 'empty'> & {
  count: number
  rowAt: (index: number) => Memory | undefined
  onShown?: (shown: { first: number; last: number }) => void
  isSearch: boolean
}

function Rows({ count, rowAt, selection, onOpen, onEdit, onShown, isSearch }: RowsProps) {
  const { t } = useI18n()
  const [search, change] = usePageSearch()
  const frame = useRef<HTMLDivElement>(null)
  const [current, setCurrent] = useState<number>()
  const firstRow = useRef(isSearch ? 0 : Number(search.row ?? 0) || 0)
  const rows = useVirtualizer({
    count,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    initialOffset: firstRow.current * ROW_PX,
  })
  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => onShown?.({ first, last }), [first, last, onShown])
  const top = Math.floor((rows.scrollOffset ?? 0) / ROW_PX)
  useEffect(() => {
    if (isSearch) return
    const timer = setTimeout(() => change({ row: top === 0 ? undefined : top }), 400)
    return () => clearTimeout(timer)
  }, [top, change, isSearch])

  const go = (step: number) => {
    const next = Math.max(0, Math.min(count - 1, (current ?? -1) + step))
    setCurrent(next)
    rows.scrollToIndex(next)
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-row="${next}"] button`)?.focus(),
    )
  }
  const here = current === undefined ? undefined : rowAt(current)
  const toggle = (id: string) => {
    const ids = new Set(selection.ids)
    if (!ids.delete(id)) ids.add(id)
    selection.set(ids)
  }
  useKeys({
    j: () => go(1),
    k: () => go(-1),
    e: () => here !== undefined && onEdit(here),
    x: () => here !== undefined && toggle(here.id),
  })
  const loadedIds = items.map(({ index }) => rowAt(index)?.id).filter((id) => id !== undefined)
  const chosen = loadedIds.filter((id) => selection.ids.has(id)).length
  return (
    <div
      className={styles.list}
      role="table"
      aria-label={t('memories.title')}
      aria-rowcount={count}
    >
      <div className={styles.head} role="row">
        <span role="columnheader">
          <Checkbox
            name={t('memories.selectAll')}
            isOn={loadedIds.length > 0 && chosen === loadedIds.length}
            isMixed={chosen > 0 && chosen < loadedIds.length}
            onTurn={(isOn) => selection.set(isOn ? new Set(loadedIds) : new Set())}
          />
        </span>
        <span role="columnheader">{t('memories.content')}</span>
        <span role="columnheader">{t('memories.category')}</span>
        <span role="columnheader">{t('memories.importance')}</span>
        <span role="columnheader">{t('memories.salience')}</span>
        <span role="columnheader">{t('memories.session')}</span>
        <span role="columnheader">{t('memories.created')}</span>
        <span role="columnheader">{t('memories.lastUsed')}</span>
      </div>
      <div className={styles.frame} ref={frame}>
        <div className={styles.rows} style={{ height: rows.getTotalSize() }} role="rowgroup">
          {items.map(({ index, start }) => {
            const memory = rowAt(index)
            return (
              <div
                key={memory?.id ?? index}
                data-row={index}
                role="row"
                aria-rowindex={index + 1}
                className={[styles.row, index === current ? styles.current : ''].join(' ')}
                style={{ transform: `translateY(${start}px)`, height: ROW_PX }}
              >
                {memory === undefined ? (
                  <span className={styles.bone} />
                ) : (
                  <Cells
                    memory={memory}
                    isSelected={selection.ids.has(memory.id)}
                    onToggle={() => toggle(memory.id)}
                    onOpen={() => {
                      setCurrent(index)
                      onOpen(memory.id)
                    }}
                  />
                )}
              </div>
            )
          })}
        </div>
      </div>
    </div>
  )
}

const STATUS_TONES: Record<string, Tone> = {
  disabled: 'plain',
  superseded: 'plain',
  forgotten: 'bad',
}

function Cells({
  memory,
  isSelected,
  onToggle,
  onOpen,
}: {
  memory: Memory
  isSelected: boolean
  onToggle: () => void
  onOpen: () => void
}) {
  const { t, day, ago, number } = useI18n()
  const { content, status, trust, pinned, importance, salience } = memory
  return (
    <>
      <span role="cell">
        <Checkbox
          name={t('memories.select', { content: content.slice(0, 60) })}
          isOn={isSelected}
          onTurn={onToggle}
        />
      </span>
      <span role="cell" className={styles.content}>
        <button type="button" onClick={onOpen} className={styles.open}>
          {content}
        </button>
        <span className={styles.marks}>
          {pinned && (
            <Chip tone="accent">
              <Icon name="pin" size={12} /> {t('memories.pinned')}
            </Chip>
          )}
          {status !== 'active' && <Chip tone={STATUS_TONES[status] ?? 'plain'}>{status}</Chip>}
          {trust === 'suspect' && <Chip tone="warn">{trust}</Chip>}
          {memory.key !== null && <code className={styles.key}>{memory.key}</code>}
          {memory.user !== null && <span className={styles.faint}>{memory.user}</span>}
        </span>
      </span>
      <span role="cell" className={styles.kind}>
        {memory.category}
        <span className={styles.faint}>{memory.type}</span>
      </span>
      <span role="cell" className={styles.number}>
        {importance}
      </span>
      <span role="cell">
        <Meter name={`${t('memories.salience')} ${number(salience)}`} value={salience} />
      </span>
      <span role="cell" className={styles.session}>
        {memory.sessionId === '' ? (
          ''
        ) : (
          <a
            href={`/studio/sessions?owner=${encodeURIComponent(memory.owner)}&session=${encodeURIComponent(memory.sessionId)}`}
          >
            {memory.sessionId}
          </a>
        )}
      </span>
      <span role="cell" className={styles.faint}>
        {day(memory.createdAt)}
      </span>
      <span role="cell" className={styles.faint}>
        {memory.lastAccessedAt === null ? '–' : ago(memory.lastAccessedAt)}
      </span>
    </>
  )
}
