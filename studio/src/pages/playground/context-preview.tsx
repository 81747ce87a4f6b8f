/** The context that the gateway would insert, alone and in a request of each API. */
import { useState } from 'react'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Chip, Notice } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './context-preview.module.css'
import type { ContextPreviewData } from './queries.ts'
import { SessionLink, TurnHeader } from './turn.tsx'

type Request = ContextPreviewData['requests'][number]
type PreviewTab = 'block' | Request['format']

const FORMAT_NAMES: Record<Request['format'], MessageKey> = {
  chat: 'playground.formatChat',
  responses: 'playground.formatResponses',
  messages: 'playground.formatMessages',
  gemini: 'playground.formatGemini',
}

export function ContextPreview({
  owner,
  user,
  preview,
}: {
  owner: string
  /** Empty if no user is selected. */
  user: string
  preview: ContextPreviewData
}) {
  const { t } = useI18n()
  const [tab, setTab] = useState<PreviewTab>('block')
  const { block, requests, excerpts } = preview
  return (
    <div className={styles.given}>
      <p className={styles.soft}>{t('playground.contextHelp')}</p>
      <ContextSummary preview={preview} />
      <Tabs<PreviewTab>
        label={t('playground.context')}
        value={tab}
        onValueChange={setTab}
        tabs={[
          {
            name: 'block',
            text: t('playground.formatBlock'),
            content:
              block === '' ? (
                <p className={styles.soft}>{t('playground.contextEmpty')}</p>
              ) : (
                <CopyableText name={t('playground.formatBlock')} text={block} />
              ),
          },
          ...requests.map((request) => ({
            name: request.format,
            text: t(FORMAT_NAMES[request.format]),
            content: <RequestText request={request} />,
          })),
        ]}
      />
      {excerpts.length > 0 && (
        <section className={styles.excerpts} aria-label={t('playground.excerpts')}>
          <h3>{t('playground.excerpts')}</h3>
          <ul>
            {excerpts.map((excerpt) => (
              <li key={excerpt.id} data-excerpt={excerpt.id}>
                <div>
                  <TurnHeader {...excerpt} isLabeled={false} />
                  <p>{excerptText(excerpt)}</p>
                </div>
                <SessionLink owner={owner} user={user || null} turn={excerpt} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

/** The text of an excerpt line without speaker and date, which the header shows. */
function excerptText({ line, speaker }: ContextPreviewData['excerpts'][number]): string {
  const prefix = `- ${speaker}: `
  const withoutPrefix = line.startsWith(prefix) ? line.slice(prefix.length) : line
  return withoutPrefix.replace(/ \(\d{4}-\d\d-\d\d\)$/, '')
}

/** Whether the gateway would insert the context, why, and its cost. */
function ContextSummary({ preview }: { preview: ContextPreviewData }) {
  const { t, number } = useI18n()
  const { block, skipped, reason, gate, degraded, durationMs, contextTimeoutMs } = preview
  const ms = number(Math.round(durationMs))
  const isTimeout = block !== '' && durationMs > contextTimeoutMs
  return (
    <>
      {skipped !== null && (
        <Notice tone={block === '' ? 'plain' : 'warn'}>
          {block === '' ? reason : t('playground.contextSkipped', { reason: reason ?? '' })}
        </Notice>
      )}
      {isTimeout && (
        <Notice tone="warn">
          {t('playground.contextTimeout', { ms, max: number(contextTimeoutMs) })}
        </Notice>
      )}
      {degraded.length > 0 && (
        <Notice tone="warn">
          {t('playground.contextDegraded', { parts: degraded.join(', ') })}
        </Notice>
      )}
      <div className={styles.chips}>
        <Chip tone={block === '' ? 'plain' : 'accent'}>
          {t('playground.contextTokens', {
            tokens: t('playground.tokens', { count: preview.tokens }),
            max: preview.contextTokensMax,
          })}
        </Chip>
        <Chip>{t('playground.contextDuration', { ms, max: contextTimeoutMs })}</Chip>
        <Chip>{t('playground.resultsCount', { count: preview.memories.length })}</Chip>
        {preview.identityIds.length > 0 && (
          <Chip>{t('playground.identityCount', { count: preview.identityIds.length })}</Chip>
        )}
        {preview.excerptIds.length > 0 && (
          <Chip>{t('playground.excerptCount', { count: preview.excerptIds.length })}</Chip>
        )}
        {preview.omitted.length > 0 && (
          <Chip tone="warn">{t('playground.omittedCount', { count: preview.omitted.length })}</Chip>
        )}
      </div>
      {gate !== null && (
        <p className={styles.gate}>
          <strong>{t('playground.gateDecision')}:</strong>{' '}
          {gate.by === 'off'
            ? gate.reason
            : t('playground.gateDecisionDetail', {
                section: gate.section,
                by: gate.by,
                reason: gate.reason,
              })}
          {gate.mode === 'llm' && gate.by !== 'llm' && <> {t('playground.gateFallback')}</>}
        </p>
      )}
    </>
  )
}

function RequestText({ request }: { request: Request }) {
  const { t } = useI18n()
  const { path, placement, before, after } = request
  return (
    <>
      <p className={styles.path}>
        <code>POST {path}</code>
        <span className={styles.soft}>{t('playground.placement', { placement })}</span>
      </p>
      <CopyableText name={t('playground.requestLabel', { path })} text={after} before={before} />
    </>
  )
}

/** Highlights the text that was inserted into `before`. */
function CopyableText({
  name,
  text,
  before = text,
}: {
  name: string
  text: string
  before?: string
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    showToast({ text: t('common.copied') })
  }
  const start = commonStart(before, text)
  const end = text.length - (before.length - start)
  return (
    <div className={styles.frame}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable */}
      <section className={styles.scroll} aria-label={name} tabIndex={0}>
        <pre className={styles.text}>
          {text.slice(0, start)}
          {end > start && <mark>{text.slice(start, end)}</mark>}
          {text.slice(Math.max(start, end))}
        </pre>
      </section>
      <Button isSmall icon="copy" onClick={() => void copy()}>
        {t('playground.copyRequest')}
      </Button>
    </div>
  )
}

/** The length of the common prefix: the context is inserted at one position. */
function commonStart(before: string, after: string): number {
  let at = 0
  while (at < before.length && before[at] === after[at]) at++
  return at
}
