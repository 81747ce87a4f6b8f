/** The list of requests, newest first. */
import type { Receipt } from '../../api/client.ts'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useShortcuts } from '../../app/shortcuts.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, EmptyState, QueryResult, type Tone } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Table } from '../../ui/table.tsx'
import styles from './list.module.css'
import { costOf, usePrices } from './prices.ts'
import { FILTERS, reasonOf, useReceipts } from './queries.ts'

export function ReceiptList({
  owner,
  search,
  onOpen,
}: {
  owner: string
  search: SearchParams
  onOpen: (id: string) => void
}) {
  const { t, time, ago } = useI18n()
  const query = useReceipts(owner, search)
  useShortcuts({ j: () => moveFocus(1), k: () => moveFocus(-1) })
  return (
    <QueryResult query={query} lines={8}>
      {({ pages }) => {
        const rows = pages.flatMap(({ receipts }) => receipts)
        return (
          <div aria-busy={query.isFetching}>
            {rows.length === 0 ? (
              <NoReceipts isFiltered={FILTERS.some((name) => textParam(search, name) !== '')} />
            ) : (
              <Table
                name={t('receipts.list')}
                rows={rows}
                idOf={({ id }) => id}
                columns={[
                  {
                    name: t('receipts.time'),
                    cell: ({ id, at }) => (
                      <button
                        type="button"
                        className={styles.open}
                        data-receipt={id}
                        title={time(at)}
                        onClick={() => onOpen(id)}
                      >
                        {ago(at)}
                      </button>
                    ),
                  },
                  {
                    name: t('receipts.question'),
                    cell: ({ question, owner: receiptOwner, user }) => (
                      <div className={styles.model}>
                        <span className={styles.question}>{question ?? '–'}</span>
                        <span className={styles.soft}>
                          {[receiptOwner, user].filter(Boolean).join(' · ')}
                        </span>
                      </div>
                    ),
                  },
                  { name: t('receipts.result'), cell: (row) => <Outcome receipt={row} /> },
                  { name: t('receipts.model'), cell: (row) => <Model receipt={row} /> },
                  { name: t('receipts.status'), cell: (row) => <Status receipt={row} /> },
                  {
                    name: t('receipts.tokens'),
                    isNumber: true,
                    cell: (row) => <Tokens receipt={row} />,
                  },
                  {
                    name: t('receipts.cost'),
                    isNumber: true,
                    cell: ({ model, usage }) => <Cost model={model} usage={usage} />,
                  },
                  {
                    name: t('receipts.duration'),
                    isNumber: true,
                    cell: ({ timings }) => t('receipts.ms', { ms: Math.round(timings.totalMs) }),
                  },
                ]}
              />
            )}
            <LoadMore query={query} />
          </div>
        )
      }}
    </QueryResult>
  )
}

/** Focuses the next or previous request. */
function moveFocus(by: 1 | -1): void {
  const all = [...document.querySelectorAll<HTMLElement>('[data-receipt]')]
  const at = all.indexOf(document.activeElement as HTMLElement) // -1 if none has the focus
  all[at === -1 ? 0 : at + by]?.focus()
}

function NoReceipts({ isFiltered }: { isFiltered: boolean }) {
  const { t } = useI18n()
  return isFiltered ? (
    <EmptyState icon="search" title={t('receipts.noMatch')} />
  ) : (
    <EmptyState icon="receipts" title={t('receipts.empty')}>
      {t('receipts.emptyHelp')}
    </EmptyState>
  )
}

/** The estimated cost of a request; nothing for models without a price. */
export function Cost({ model, usage }: Pick<Receipt, 'model' | 'usage'>) {
  const { number } = useI18n()
  const price = usePrices()(model)
  if (price === null || usage === null) return '–'
  return number(costOf(usage, price), DOLLARS)
}

/** Small amounts matter: a request costs a fraction of a cent. */
export const DOLLARS = {
  style: 'currency',
  currency: 'USD',
  maximumSignificantDigits: 2,
} as const satisfies Intl.NumberFormatOptions

function Model({ receipt: { model, provider } }: { receipt: Receipt }) {
  return (
    <div className={styles.model}>
      <span>{model}</span>
      <span className={styles.soft}>{provider}</span>
    </div>
  )
}

export function Status({ receipt: { status } }: { receipt: Receipt }) {
  const { t } = useI18n()
  const isSuccess = status !== null && status < 400
  return (
    <Chip tone={isSuccess ? 'good' : 'bad'}>
      {status === null ? t('receipts.noResponse') : status}
    </Chip>
  )
}

/** Highlights failures; deliberate skips are neutral. */
const REASON_TONES: Readonly<Record<string, Tone>> = {
  timeout: 'warn',
  failed: 'bad',
  'dry-run': 'accent',
}

export function Outcome({ receipt }: { receipt: Receipt }) {
  const { t } = useI18n()
  const { skipped, injected, extracted, toolCalls, degraded } = receipt
  const reason = reasonOf(skipped)
  return (
    <span className={styles.outcome}>
      {injected === null ? (
        <Chip tone={REASON_TONES[skipped ?? ''] ?? 'plain'}>
          {reason === null ? skipped : t(reason)}
        </Chip>
      ) : (
        <Chip tone="accent">{t('receipts.memoryCount', { count: injected.memories.length })}</Chip>
      )}
      {degraded.length > 0 && <Chip tone="warn">{degraded.join(', ')}</Chip>}
      {extracted.length > 0 && (
        <Chip tone="good">{t('receipts.extractedCount', { count: extracted.length })}</Chip>
      )}
      {toolCalls.length > 0 && (
        <Chip>{t('receipts.toolCallsCount', { count: toolCalls.length })}</Chip>
      )}
    </span>
  )
}

function Tokens({ receipt: { usage, injected } }: { receipt: Receipt }) {
  const { t, number } = useI18n()
  return (
    <div className={styles.tokens}>
      <span>
        {usage === null
          ? '–'
          : t('receipts.tokensShort', { input: number(usage.input), output: number(usage.output) })}
      </span>
      {injected !== null && (
        <span className={styles.soft}>
          {t('receipts.memory')} {number(injected.tokens)}
        </span>
      )}
    </div>
  )
}
