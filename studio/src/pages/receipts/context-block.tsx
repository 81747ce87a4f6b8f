/** The inserted context as sent to the model. Each line links to the cited memory or session. */
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode } from 'react'
import type { ReceiptDetail } from '../../api/client.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import styles from './context-block.module.css'
import { memoryQuery, useTurn } from './queries.ts'

type ContextLine = ReceiptDetail['lines'][number]
type Redaction = NonNullable<ContextLine['redaction']>

const REDACTION_NOTES: Record<Redaction, MessageKey> = {
  erased: 'receipts.redactedErased',
  forgotten: 'receipts.redactedForgotten',
  'not-stored': 'receipts.redactedNotStored',
}

export function ContextBlock({ owner, receipt }: { owner: string; receipt: ReceiptDetail }) {
  const { t } = useI18n()
  const { block, lines: contextLines } = receipt
  if (block === null) return <p className={styles.soft}>{t('receipts.blockNotStored')}</p>
  const lines = block.split('\n')
  const first = lines.length - 1 - contextLines.length
  const redactions = new Set(contextLines.flatMap(({ redaction }) => redaction ?? []))
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={styles.scroll} aria-label={t('receipts.blockText')} tabIndex={0}>
        <pre className={styles.text}>
          {lines.map((line, index) => {
            const contextLine = contextLines[index - first]
            return (
              // biome-ignore lint/suspicious/noArrayIndexKey: lines of a receipt do not reorder
              <Fragment key={index}>
                {index > 0 && '\n'}
                {contextLine === undefined ? (
                  <span className={styles.frame}>{line}</span>
                ) : (
                  <LineLink owner={owner} contextLine={contextLine} text={line} />
                )}
              </Fragment>
            )
          })}
        </pre>
      </section>
      <ChangedLines owner={owner} lines={contextLines} />
      {[...redactions].map((redaction) => (
        <p key={redaction} className={styles.soft}>
          {t(REDACTION_NOTES[redaction])}
        </p>
      ))}
    </>
  )
}

function ChangedLines({ owner, lines }: { owner: string; lines: readonly ContextLine[] }) {
  const { t } = useI18n()
  const shown = lines.filter(({ kind, redaction }) => kind === 'memory' && redaction === null)
  const memories = useQueries({ queries: shown.map(({ id }) => memoryQuery(owner, id)) })
  const isChanged = memories.some(
    ({ data: loaded }, index) => (loaded?.memory.version ?? 0) > (shown[index]?.version ?? 0),
  )
  return isChanged ? <p className={styles.soft}>{t('receipts.linesChanged')}</p> : null
}

function useMemoryOfLine(owner: string, id: string | null) {
  return useQuery({ ...memoryQuery(owner, id ?? ''), enabled: id !== null })
}

function LineLink({
  owner,
  contextLine,
  text,
}: {
  owner: string
  contextLine: ContextLine
  text: string
}) {
  const { t } = useI18n()
  const { kind, id, version, redaction } = contextLine
  const memory = useMemoryOfLine(owner, kind === 'memory' && redaction === null ? id : null)
  const current = memory.data?.memory.version ?? version
  if (redaction === 'erased') return <span className={styles.redacted}>{text}</span>
  const title = t('receipts.lineVersion', { version })
  if (kind === 'turn') {
    return (
      <TurnLink owner={owner} id={id} title={title}>
        {text}
      </TurnLink>
    )
  }
  return (
    <Link
      to="/studio/memories"
      search={{ owner, memory: id } as never} // accepted by every page
      title={title}
      className={redaction === null ? styles.link : styles.redacted}
    >
      {current > version ? (
        <mark title={t('receipts.lineChanged', { version: current })}>{text}</mark>
      ) : (
        text
      )}
    </Link>
  )
}

function TurnLink({
  owner,
  id,
  title,
  children,
}: {
  owner: string
  id: string
  title: string
  children: ReactNode
}) {
  const session = useTurn(owner, id).data?.turn.sessionId ?? ''
  if (session === '') return <span title={title}>{children}</span>
  return (
    <Link
      to="/studio/sessions"
      search={{ owner, session } as never} // accepted by every page
      title={title}
      className={styles.link}
    >
      {children}
    </Link>
  )
}
