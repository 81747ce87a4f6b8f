// biome-ignore-all lint/a11y/useSemanticElements: rows are positioned absolutely, which table elements do not allow
// biome-ignore-all lint/a11y/useFocusableInteractive: the controls in a row are focusable
/** The virtualized list of memories: only visible rows are rendered, and their pages are fetched on demand. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { type SearchParams, textParam, useSearchParams } from '../../app/search-params.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Checkbox } from '../../ui/field.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, ErrorState, LoadingState, Meter, type Tone } from '../../ui/layout.tsx'
import { Tooltip } from '../../ui/tooltip.tsx'
import { Highlight } from './highlight.tsx'
import styles from './list.module.css'
import { isGeneratedKey } from './memory-fields.ts'
import {
  listPage,
  ORDER_LABELS,
  type Order,
  orderIn,
  orderParams,
  ROWS_PER_PAGE,
} from './queries.ts'
import { useValueName } from './value-names.ts'

const ROW_PX = 60
/** Pages before and after the visible ones that stay loaded. */
const PAGES_OVERSCAN = 1

export type Selection = {
  /** Selected memories by id. */
  readonly memories: ReadonlyMap<string, Memory>
  readonly set: (memories: ReadonlyMap<string, Memory>) => void
}

/** Moves by rows: opens the next memory while one is open. Set by the list. */
export type RowStep = RefObject<((by: 1 | -1) => void) | null>

type ListProps = {
  owner: string
  search: SearchParams
  /** Set by the list, for buttons outside of it. */
  step?: RowStep
  /** Null if the role has no bulk actions. */
  selection: Selection | null
  onOpen: (id: string) => void
  /** Null if the role cannot edit. */
  onEdit: ((memory: Memory) => void) | null
  empty: ReactNode
}

/** The list of all memories that match the filters. */
export function PagedMemoryList({ owner, search, empty, ...rest }: ListProps) {
  const [shown, setShown] = useState({ first: 0, last: 0 })
  const head = useQuery(listPage(owner, search, 0))
  const total = head.data?.total ?? 0
  const pages = useMemo(() => visiblePages(shown, total), [shown, total])
  const loaded = useQueries({ queries: pages.map((page) => listPage(owner, search, page)) })
  if (head.error !== null && head.data === undefined) {
    return <ErrorState error={head.error} onRetry={() => void head.refetch()} />
  }
  if (head.data === undefined) return <LoadingState lines={10} />
  if (total === 0) return empty
  const rowsOf = (page: number): readonly Memory[] => {
    if (page === 0) return head.data.data
    const results = loaded[pages.indexOf(page)]?.data
    return results?.page === page + 1 ? results.data : [] // the query keeps the previous page as a placeholder until this one is loaded
  }
  const rowAt = (index: number): Memory | undefined =>
    rowsOf(Math.floor(index / ROWS_PER_PAGE))[index % ROWS_PER_PAGE]
  const loadedRows = [...new Set([0, ...pages])].flatMap(rowsOf)
  return (
    <MemoryRows
      {...rest}
      count={total}
      rowAt={rowAt}
      loadedRows={loadedRows}
      onVisibleRows={setShown}
      isSearch={false}
    />
  )
}

function visiblePages({ first, last }: { first: number; last: number }, total: number): number[] {
  const lastPage = Math.max(0, Math.ceil(total / ROWS_PER_PAGE) - 1)
  const from = Math.max(0, Math.floor(first / ROWS_PER_PAGE) - PAGES_OVERSCAN)
  const to = Math.min(lastPage, Math.floor(last / ROWS_PER_PAGE) + PAGES_OVERSCAN)
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

/** The results of a ranked search. */
export function RankedMemoryList({
  results,
  ...rest
}: Omit<ListProps, 'owner' | 'search' | 'empty'> & {
  results: readonly Memory[]
  weakIds: ReadonlySet<string>
}) {
  return (
    <MemoryRows
      {...rest}
      count={results.length}
      rowAt={(index) => results[index]}
      loadedRows={results}
      isSearch
    />
  )
}

type RowsProps = Omit<ListProps, 'owner' | 'search' | 'empty'> & {
  count: number
  rowAt: (index: number) => Memory | undefined
  /** All loaded rows, visible or not. */
  loadedRows: readonly Memory[]
  onVisibleRows?: (shown: { first: number; last: number }) => void
  isSearch: boolean
  /** Results of a search that are below the similarity threshold. */
  weakIds?: ReadonlySet<string>
  /** Set for lists with several owners. */
  showsOwner?: boolean
}

export function MemoryRows({
  count,
  rowAt,
  loadedRows,
  selection,
  onOpen,
  onEdit,
  onVisibleRows,
  isSearch,
  weakIds,
  step,
  showsOwner = false,
}: RowsProps) {
  const { t } = useI18n()
  const [search, change] = useSearchParams()
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
  const lastQuery = useRef(search.q)
  useEffect(() => {
    if (lastQuery.current === search.q) return
    // A new query starts at the top.
    lastQuery.current = search.q
    setCurrent(undefined)
    frame.current?.scrollTo({ top: 0 })
  }, [search.q])
  const items = rows.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => onVisibleRows?.({ first, last }), [first, last, onVisibleRows])
  const top = Math.floor((rows.scrollOffset ?? 0) / ROW_PX)
  useEffect(() => {
    if (isSearch) return
    const timer = setTimeout(() => change({ row: top === 0 ? undefined : top }), 400)
    return () => clearTimeout(timer)
  }, [top, change, isSearch])

  const openId = textParam(search, 'memory')
  // A memory may have been opened by its address.
  const openIndex = openId === '' ? -1 : loadedRows.findIndex(({ id }) => id === openId)
  const moveFocus = (by: number) => {
    const from = current ?? openIndex
    const next = Math.max(0, Math.min(count - 1, from + by))
    setCurrent(next)
    rows.scrollToIndex(next)
    const memory = rowAt(next)
    if (openId !== '' && memory !== undefined) onOpen(memory.id)
    requestAnimationFrame(() =>
      frame.current?.querySelector<HTMLElement>(`[data-row="${next}"] button`)?.focus(),
    )
  }
  useEffect(() => {
    if (step !== undefined) step.current = moveFocus
  })
  const focusedMemory = current === undefined ? undefined : rowAt(current)
  useShortcuts({
    j: () => moveFocus(1),
    k: () => moveFocus(-1),
    ...(onEdit === null ? {} : { e: () => focusedMemory !== undefined && onEdit(focusedMemory) }),
    ...(selection === null
      ? {}
      : { x: () => focusedMemory !== undefined && toggle(selection, focusedMemory) }),
  })
  return (
    <div
      className={[styles.list, selection === null ? styles.reading : ''].join(' ')}
      role="table"
      aria-label={t('memories.title')}
      aria-rowcount={count}
    >
      <div className={styles.head} role="row">
        {selection !== null && <SelectAll loadedRows={loadedRows} selection={selection} />}
        <span role="columnheader">{t('memories.content')}</span>
        <span role="columnheader" className={styles.kind}>
          {t('memories.category')}
          <span className={styles.faint}>{t('memories.type')}</span>
        </span>
        <SortableHeader name={t('memories.importance')} by={['importance']} isStatic={isSearch} />
        <SortableHeader
          name={t('memories.salience')}
          by={['salience']}
          isStatic={isSearch}
          info={t('memories.salienceHelp')}
        />
        <span role="columnheader">{t('memories.session')}</span>
        <SortableHeader
          name={t('memories.created')}
          by={['newest', 'oldest']}
          isStatic={isSearch}
        />
        <SortableHeader
          name={t('memories.lastUsed')}
          by={['lastUsed', 'mostUsed', 'leastUsed']}
          isStatic={isSearch}
        />
      </div>
      <div className={styles.frame} ref={frame} data-scroll-restoration-id={scrollKey(search)}>
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
                    query={textParam(search, 'q')}
                    isWeak={weakIds?.has(memory.id) ?? false}
                    selection={selection}
                    showsOwner={showsOwner}
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

/** The scroll restoration key: the position belongs to one search. */
function scrollKey({ row: _row, memory: _memory, panel: _panel, ...search }: SearchParams): string {
  return encodeURIComponent(JSON.stringify(search))
}

/** A column header that cycles through its sort orders. */
function SortableHeader({
  name,
  by,
  isStatic,
  info,
}: {
  name: string
  by: readonly [Order, ...Order[]]
  isStatic: boolean
  /** Explains the name, in the tooltip. */
  info?: string
}) {
  const { t } = useI18n()
  const [search, change] = useSearchParams()
  if (isStatic) return <span role="columnheader">{name}</span>
  const order = orderIn(search)
  const at = by.indexOf(order)
  const next = by[(at + 1) % by.length] ?? by[0]
  const isUp = order === 'oldest' || order === 'leastUsed'
  const isSorted = at !== -1
  const label = t(ORDER_LABELS[isSorted ? order : next])
  return (
    <span role="columnheader" aria-sort={isSorted ? (isUp ? 'ascending' : 'descending') : 'none'}>
      <Tooltip text={info === undefined ? label : `${label}. ${info}`}>
        <button
          type="button"
          className={[styles.sort, isSorted ? styles.sorted : ''].join(' ')}
          onClick={() => change(orderParams(next))}
        >
          {name}
          <span aria-hidden="true" className={styles.arrow}>
            {isSorted && isUp ? '↑' : '↓'}
          </span>
        </button>
      </Tooltip>
    </span>
  )
}

function toggle({ memories, set }: Selection, memory: Memory): void {
  const next = new Map(memories)
  if (!next.delete(memory.id)) next.set(memory.id, memory)
  set(next)
}

function SelectAll({
  loadedRows,
  selection,
}: {
  loadedRows: readonly Memory[]
  selection: Selection
}) {
  const { t } = useI18n()
  const selectedCount = loadedRows.filter(({ id }) => selection.memories.has(id)).length
  return (
    <span role="columnheader" className={styles.select}>
      <Checkbox
        name={t('memories.selectAll')}
        isOn={loadedRows.length > 0 && selectedCount === loadedRows.length}
        isMixed={selectedCount > 0 && selectedCount < loadedRows.length}
        onCheckedChange={(isOn) =>
          selection.set(new Map(isOn ? loadedRows.map((memory) => [memory.id, memory]) : []))
        }
      />
    </span>
  )
}

const STATUS_TONES: Record<string, Tone> = {
  disabled: 'plain',
  superseded: 'plain',
  forgotten: 'bad',
}

function Cells({
  memory,
  query,
  isWeak,
  selection,
  onOpen,
  showsOwner,
}: {
  memory: Memory
  query: string
  isWeak: boolean
  selection: Selection | null
  onOpen: () => void
  showsOwner: boolean
}) {
  const { t, day, ago, number } = useI18n()
  const nameOf = useValueName()
  const { content, status, trust, pinned, importance, salience } = memory
  return (
    <>
      {selection !== null && (
        <span role="cell" className={styles.select}>
          <Checkbox
            name={t('memories.select', { content: content.slice(0, 60) })}
            isOn={selection.memories.has(memory.id)}
            onCheckedChange={() => toggle(selection, memory)}
          />
        </span>
      )}
      <span role="cell" className={styles.content}>
        <button type="button" onClick={onOpen} className={styles.open} data-memory={memory.id}>
          <Highlight text={content} query={query} />
        </button>
        <span className={styles.marks}>
          {showsOwner && <Chip>{memory.owner}</Chip>}
          {pinned && (
            <Chip tone="accent">
              <Icon name="pin" size={12} /> {t('memories.pinned')}
            </Chip>
          )}
          {status !== 'active' && (
            <Chip tone={STATUS_TONES[status] ?? 'plain'}>{nameOf(status)}</Chip>
          )}
          {trust === 'suspect' && <Chip tone="warn">{nameOf(trust)}</Chip>}
          {isWeak && (
            <span title={t('memories.weakMatchHelp')}>
              <Chip>{t('memories.weakMatch')}</Chip>
            </span>
          )}
          {memory.key !== null && !isGeneratedKey(memory.key) && (
            <code className={styles.key}>{memory.key}</code>
          )}
          {memory.user !== null && <span className={styles.faint}>{memory.user}</span>}
        </span>
      </span>
      <span role="cell" className={styles.kind}>
        {nameOf(memory.category)}
        <span className={styles.faint}>{nameOf(memory.type)}</span>
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
          <Link
            to="/studio/sessions"
            search={{ owner: memory.owner, session: memory.sessionId } as never} // read by the target page
          >
            {memory.sessionId}
          </Link>
        )}
      </span>
      <span role="cell" className={styles.faint}>
        {day(memory.createdAt)}
      </span>
      <span role="cell" className={styles.used}>
        {memory.lastAccessedAt === null ? '–' : ago(memory.lastAccessedAt)}
        {memory.accessCount > 0 && <span>{t('memories.uses', { count: memory.accessCount })}</span>}
      </span>
    </>
  )
}
