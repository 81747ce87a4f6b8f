/** What memory did for one answer: the context that was sent, what was learned, and the cost. */
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, data, type ReceiptDetail } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, QueryResult } from '../../ui/layout.tsx'
import { reasonOf } from '../receipts/queries.ts'
import styles from './page.module.css'

/** A receipt is written shortly after the answer. */
const RECEIPT_RETRIES = 8
const RECEIPT_RETRY_MS = 300

export function MemoryPanel({ owner, receipt: id }: { owner: string; receipt: string }) {
  const receipt = useQuery({
    queryKey: ['chat', 'receipt', owner, id],
    queryFn: () =>
      data(api.GET('/api/receipts/{id}', { params: { path: { id }, query: { owner } } })),
    retry: RECEIPT_RETRIES,
    retryDelay: RECEIPT_RETRY_MS,
  })
  return (
    <div className={styles.panel}>
      <QueryResult query={receipt} lines={2}>
        {({ receipt: detail }) => <ReceiptSummary owner={owner} receipt={detail} />}
      </QueryResult>
    </div>
  )
}

function ReceiptSummary({ owner, receipt }: { owner: string; receipt: ReceiptDetail }) {
  const { t, number } = useI18n()
  const { block, extracted, skipped, injected, usage, timings } = receipt
  const reason = reasonOf(skipped)
  const lines = (block ?? '').split('\n').filter((line) => line.startsWith('- '))
  return (
    <>
      <div className={styles.chips}>
        <Chip tone={lines.length > 0 ? 'accent' : 'plain'}>
          {t('chat.recalled', { count: lines.length })}
        </Chip>
        {injected !== null && <Chip>{t('playground.tokens', { count: injected.tokens })}</Chip>}
        <Chip>{t('chat.prepared', { ms: number(Math.round(timings.prepareMs ?? 0)) })}</Chip>
        {usage !== null && (
          <Chip>
            {t('chat.usage', {
              input: number(usage.input ?? 0),
              output: number(usage.output ?? 0),
            })}
          </Chip>
        )}
        {extracted.length > 0 && (
          <Chip tone="good">{t('chat.learned', { count: extracted.length })}</Chip>
        )}
        <Link to="/studio/receipts" search={{ owner, receipt: receipt.id } as never}>
          {t('chat.receipt')}
        </Link>
      </div>
      {lines.length > 0 ? (
        <ul className={styles.recalled}>
          {lines.map((line) => (
            <li key={line}>{line.slice(2)}</li>
          ))}
        </ul>
      ) : (
        reason !== null && <p className={styles.hint}>{t(reason)}</p>
      )}
      {extracted.length > 0 && (
        <ul className={styles.learned} aria-label={t('chat.learned', { count: extracted.length })}>
          {extracted.map((id) => (
            <LearnedMemory key={id} owner={owner} id={id} />
          ))}
        </ul>
      )}
    </>
  )
}

function LearnedMemory({ owner, id }: { owner: string; id: string }) {
  const memory = useQuery({
    queryKey: ['memories', owner, 'chat', id],
    queryFn: () =>
      data(api.GET('/api/memory/{id}', { params: { path: { id }, query: { owner } } })),
    retry: false,
  })
  if (memory.data === undefined) return null
  return (
    <li>
      <Link to="/studio/memories" search={{ owner, memory: id } as never}>
        {memory.data.memory.content}
      </Link>
    </li>
  )
}
