/** The side panel of a receipt: context decision, usage, recorded turns and extracted memories. */
import { Link } from '@tanstack/react-router'
import { type ReactNode, useRef } from 'react'
import type { Receipt, ReceiptDetail } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Chip, Meter, Notice, QueryResult } from '../../ui/layout.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { InfoTip } from '../../ui/tooltip.tsx'
import { ContextBlock } from './context-block.tsx'
import { Cost, Outcome, Status } from './list.tsx'
import { memoriesIn, useReceipt } from './queries.ts'
import styles from './receipt-panel.module.css'
import { MemoryLine, RecallResults, TurnLine } from './references.tsx'

export function ReceiptPanel({
  owner,
  id,
  onClose,
}: {
  owner: string
  id: string | null
  onClose: () => void
}) {
  const { t } = useI18n()
  const query = useReceipt(owner, id)
  const lastId = useRef(id)
  if (id !== null) lastId.current = id
  return (
    <SidePanel
      isOpen={id !== null}
      onClose={onClose}
      title={t('receipts.receipt')}
      onFocusReturn={() =>
        document.querySelector<HTMLElement>(`[data-receipt="${lastId.current}"]`)?.focus()
      }
    >
      <QueryResult query={query} lines={10}>
        {({ receipt }) => <ReceiptSections owner={owner} receipt={receipt} />}
      </QueryResult>
    </SidePanel>
  )
}

function ReceiptSections({ owner, receipt }: { owner: string; receipt: ReceiptDetail }) {
  const { t } = useI18n()
  const { injected, dryRun, excerptIds, turns, extracted, toolCalls, sessionId } = receipt
  return (
    <div className={styles.parts}>
      <Decision receipt={receipt} />
      {(injected ?? dryRun) !== null && (
        <Section title={t(injected === null ? 'receipts.blockDryRun' : 'receipts.block')}>
          <ContextBlock owner={owner} receipt={receipt} />
        </Section>
      )}
      <Section title={t('receipts.results')}>
        <RecallResults owner={owner} receipt={receipt} />
      </Section>
      {excerptIds.length > 0 && (
        <Section title={t('receipts.excerpts')}>
          {excerptIds.map((id) => (
            <TurnLine key={id} owner={owner} id={id} />
          ))}
        </Section>
      )}
      <Section title={t('receipts.extracted')}>
        {extracted.length === 0 && <p className={styles.soft}>{t('receipts.nothingExtracted')}</p>}
        {extracted.map((id) => (
          <MemoryLine key={id} owner={owner} id={id} />
        ))}
      </Section>
      {turns.length > 0 && (
        <Section title={t('receipts.recorded')}>
          {turns.map((id) => (
            <TurnLine key={id} owner={owner} id={id} />
          ))}
          {sessionId !== '' && (
            <Link
              to="/studio/sessions"
              search={{ owner, session: sessionId } as never} // accepted by every page
            >
              {t('receipts.openSession')}
            </Link>
          )}
        </Section>
      )}
      {toolCalls.length > 0 && (
        <Section title={t('receipts.tools')}>
          <span className={styles.chips}>
            {toolCalls.map((call, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a tool may be called several times
              <Chip key={`${index}:${call}`}>{call}</Chip>
            ))}
          </span>
        </Section>
      )}
      <Usage receipt={receipt} />
      <Latency receipt={receipt} />
      <RequestDetails receipt={receipt} />
    </div>
  )
}

function Decision({ receipt }: { receipt: Receipt }) {
  const { t } = useI18n()
  const { injected, dryRun, gate, error, degraded } = receipt
  const context = injected ?? dryRun
  const amount = {
    memories: t('receipts.memoryCount', { count: memoriesIn(receipt).length }),
    tokens: t('receipts.tokenCount', { count: context?.tokens ?? 0 }),
  }
  return (
    <Section title={t('receipts.decision')}>
      <span className={styles.chips}>
        <Status receipt={receipt} />
        <Outcome receipt={receipt} />
      </span>
      {injected !== null && (
        <p>{t('receipts.contextInserted', { ...amount, placement: injected.placement })}</p>
      )}
      {dryRun !== null && <p>{t('receipts.contextDryRun', amount)}</p>}
      {gate !== null && (
        <p className={styles.soft}>
          {gate.by === 'off'
            ? `${t('playground.gate')}: ${gate.reason}`
            : t('receipts.gateDecision', {
                section: gate.section,
                by: gate.by,
                reason: gate.reason,
              })}{' '}
          <InfoTip text={t('receipts.gateHelp')} />
        </p>
      )}
      {error !== null && <Notice tone="bad">{t('receipts.memoryError', { code: error })}</Notice>}
      {degraded.length > 0 && (
        <Notice tone="warn">{t('receipts.degraded', { parts: degraded.join(', ') })}</Notice>
      )}
    </Section>
  )
}

function Usage({ receipt: { model, usage, injected } }: { receipt: Receipt }) {
  const { t, number } = useI18n()
  return (
    <Section title={t('receipts.usage')}>
      {usage === null ? (
        <p className={styles.soft}>{t('receipts.noUsage')}</p>
      ) : (
        <dl className={styles.facts}>
          <Fact name={t('receipts.inputTokens')}>{number(usage.input)}</Fact>
          {usage.cached !== null && <Fact name={t('receipts.cached')}>{number(usage.cached)}</Fact>}
          <Fact name={t('receipts.outputTokens')}>{number(usage.output)}</Fact>
          <Fact name={t('receipts.memoryTokens')}>{number(injected?.tokens ?? 0)}</Fact>
          <Fact name={t('receipts.cost')}>
            <Cost model={model} usage={usage} />
          </Fact>
        </dl>
      )}
    </Section>
  )
}

function Latency({ receipt: { timings } }: { receipt: Receipt }) {
  const { t, number } = useI18n()
  const { prepareMs, firstByteMs, totalMs, recordMs } = timings
  const rows = [
    [t('receipts.latencyRecall'), prepareMs],
    [t('receipts.latencyFirstByte'), firstByteMs],
    [t('receipts.latencyTotal'), totalMs],
    [t('receipts.latencyRecording'), recordMs],
  ] as const
  const longest = Math.max(1, ...rows.map(([, ms]) => ms ?? 0))
  return (
    <Section title={t('receipts.latency')}>
      <dl className={styles.times}>
        {rows.map(([name, ms]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <span>{ms === null ? '–' : t('receipts.ms', { ms: number(ms, SHORT) })}</span>
              <Meter name={name} value={ms ?? 0} max={longest} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

const SHORT = { maximumFractionDigits: 1 } as const

function RequestDetails({ receipt }: { receipt: Receipt }) {
  const { t, time } = useI18n()
  const { at, model, provider, format, user, sessionId, requestId, id } = receipt
  return (
    <Section title={t('receipts.details')}>
      <dl className={styles.facts}>
        <Fact name={t('receipts.time')}>{time(at)}</Fact>
        <Fact name={t('receipts.model')}>{model}</Fact>
        <Fact name={t('receipts.provider')}>{provider}</Fact>
        <Fact name={t('receipts.format')}>{format}</Fact>
        {user !== null && <Fact name={t('receipts.user')}>{user}</Fact>}
        {sessionId !== '' && <Fact name={t('receipts.session')}>{sessionId}</Fact>}
        <Fact name={t('receipts.requestId')}>
          <code>{requestId}</code>
        </Fact>
        <Fact name={t('receipts.receipt')}>
          <code>{id}</code>
        </Fact>
      </dl>
    </Section>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={styles.part}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
