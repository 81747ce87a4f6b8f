/** Chat with a configured model through the gateway, and what memory did for each answer. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { useMemorySetting } from '../../app/memory-setting.ts'
import { useOwner } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select, Switch, TextArea } from '../../ui/field.tsx'
import { EmptyState, Notice, Page } from '../../ui/layout.tsx'
import { type ChatMessage, sendChat } from './chat-client.ts'
import { MemoryPanel } from './memory-panel.tsx'
import styles from './page.module.css'

const MODEL_KEY = 'recollect.chat-model'
const DEMO = 'demo/echo'

/** One question with the answers that were given with and without memory. */
type Exchange = {
  readonly id: number
  readonly question: string
  readonly withMemory: Answer
  /** Null unless answers are compared. */
  readonly withoutMemory: Answer | null
}

type Answer = {
  readonly text: string
  readonly receipt: string | null
  readonly error: string | null
  readonly isDone: boolean
}

const PENDING: Answer = { text: '', receipt: null, error: null, isDone: false }

export function ChatPage() {
  const owner = useOwner()
  // Remounts for each owner, which starts a new session.
  return <Chat key={owner} owner={owner} />
}

function Chat({ owner }: { owner: string }) {
  const { t } = useI18n()
  const memory = useMemorySetting(owner)
  const models = useModels()
  const [model, setModel] = useState(() => localStorage.getItem(MODEL_KEY) ?? '')
  const [session, setSession] = useState(newSessionName)
  const [exchanges, setExchanges] = useState<readonly Exchange[]>([])
  const [isComparing, setComparing] = useState(false)
  const selected = models.includes(model) ? model : (models[0] ?? DEMO)
  const { ask, isBusy, stop } = useChat({
    owner,
    session,
    model: selected,
    exchanges,
    setExchanges,
  })
  const end = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when something was added
  useEffect(() => {
    end.current?.scrollIntoView({ block: 'nearest' })
  }, [exchanges])
  const startNew = () => {
    stop()
    setSession(newSessionName())
    setExchanges([])
  }
  return (
    <Page
      title={t('chat.title')}
      description={t('chat.description')}
      actions={
        <>
          <Switch label={t('chat.compare')} isOn={isComparing} onCheckedChange={setComparing} />
          <Button icon="add" onClick={startNew} disabled={exchanges.length === 0}>
            {t('chat.newSession')}
          </Button>
        </>
      }
    >
      {memory.isOn === false && (
        <Notice
          tone="warn"
          action={
            <Button isSmall look="primary" onClick={() => void memory.set(true)}>
              {t('start.turnOn')}
            </Button>
          }
        >
          {t('start.memoryOff')}
        </Notice>
      )}
      <section className={styles.conversation} aria-label={t('chat.title')} aria-live="polite">
        {exchanges.length === 0 && (
          <EmptyState title={t('chat.empty')} icon="playground">
            {t('chat.emptyHelp')}
          </EmptyState>
        )}
        {exchanges.map((exchange) => (
          <article key={exchange.id} className={styles.exchange}>
            <p className={styles.question}>{exchange.question}</p>
            <div className={exchange.withoutMemory === null ? '' : styles.columns}>
              <div>
                <AnswerText
                  answer={exchange.withMemory}
                  {...(exchange.withoutMemory === null ? {} : { title: t('chat.withMemory') })}
                />
                {exchange.withMemory.isDone && exchange.withMemory.receipt !== null && (
                  <MemoryPanel owner={owner} receipt={exchange.withMemory.receipt} />
                )}
              </div>
              {exchange.withoutMemory !== null && (
                <AnswerText answer={exchange.withoutMemory} title={t('chat.withoutMemory')} />
              )}
            </div>
          </article>
        ))}
        <div ref={end} />
      </section>
      <Composer
        models={models}
        model={selected}
        onModelChange={(name) => {
          localStorage.setItem(MODEL_KEY, name)
          setModel(name)
        }}
        isBusy={isBusy}
        onStop={stop}
        onSend={(question) => void ask(question, isComparing)}
      />
      {selected === DEMO && <p className={styles.hint}>{t('chat.demoHelp')}</p>}
    </Page>
  )
}

function AnswerText({ answer, title }: { answer: Answer; title?: string }) {
  const { t } = useI18n()
  const { text, error, isDone } = answer
  return (
    <div className={styles.answer}>
      {title !== undefined && <h2 className={styles.answerTitle}>{title}</h2>}
      {error === null ? (
        <p>{text === '' && !isDone ? '…' : text}</p>
      ) : (
        <Notice tone="bad">{error}</Notice>
      )}
      {isDone && error === null && text === '' && <p>{t('chat.noAnswer')}</p>}
    </div>
  )
}

function Composer({
  models,
  model,
  onModelChange,
  isBusy,
  onSend,
  onStop,
}: {
  models: readonly string[]
  model: string
  onModelChange: (model: string) => void
  isBusy: boolean
  onSend: (question: string) => void
  onStop: () => void
}) {
  const { t } = useI18n()
  const form = useId()
  const [text, setText] = useState('')
  const send = (event?: FormEvent) => {
    event?.preventDefault()
    const question = text.trim()
    if (question === '' || isBusy) return
    setText('')
    onSend(question)
  }
  const sendOnEnter = (event: KeyboardEvent) => {
    // Enter also confirms a candidate of an input method.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
    event.preventDefault()
    send()
  }
  return (
    <form id={form} className={styles.composer} onSubmit={send}>
      <TextArea
        label={t('chat.message')}
        isLabelHidden
        placeholder={t('chat.placeholder')}
        rows={2}
        value={text}
        autoFocus
        onKeyDown={sendOnEnter}
        onChange={({ target }) => setText(target.value)}
      />
      <div className={styles.controls}>
        <Select
          label={t('chat.model')}
          isLabelHidden
          value={model}
          onValueChange={onModelChange}
          options={[...new Set([model, ...models])].map((value) => ({ value, text: value }))}
        />
        {isBusy ? (
          <Button onClick={onStop}>{t('chat.stop')}</Button>
        ) : (
          <Button type="submit" look="primary" disabled={text.trim() === ''}>
            {t('chat.send')}
          </Button>
        )}
      </div>
    </form>
  )
}

function useModels(): readonly string[] {
  const query = useQuery({
    queryKey: ['chat', 'models'],
    queryFn: async () => {
      const response = await fetch('/v1/models', { credentials: 'same-origin' })
      const body = (await response.json()) as { data?: { id: string }[] } // the format of the models list
      return (body.data ?? []).map(({ id }) => id)
    },
    staleTime: 60_000,
  })
  const models = query.data ?? []
  // A real model is more useful than the demo.
  return [...models.filter((id) => id !== DEMO), ...models.filter((id) => id === DEMO)]
}

function useChat({
  owner,
  session,
  model,
  exchanges,
  setExchanges,
}: {
  owner: string
  session: string
  model: string
  exchanges: readonly Exchange[]
  setExchanges: (update: (before: readonly Exchange[]) => readonly Exchange[]) => void
}) {
  const cache = useQueryClient()
  const { t } = useI18n()
  const [isBusy, setBusy] = useState(false)
  const controller = useRef<AbortController | null>(null)
  useEffect(() => () => controller.current?.abort(), [])
  const ask = async (question: string, isComparing: boolean) => {
    const id = exchanges.length
    const abort = new AbortController()
    controller.current = abort
    setBusy(true)
    setExchanges((before) => [
      ...before,
      { id, question, withMemory: PENDING, withoutMemory: isComparing ? PENDING : null },
    ])
    const update = (side: 'withMemory' | 'withoutMemory', answer: Partial<Answer>) =>
      setExchanges((before) =>
        before.map((each) => {
          const known = each[side]
          return each.id !== id || known === null
            ? each
            : { ...each, [side]: { ...known, ...answer } }
        }),
      )
    const run = async (side: 'withMemory' | 'withoutMemory') => {
      try {
        const answer = await sendChat({
          ...{ owner, session, model, signal: abort.signal },
          messages: [...historyOf(exchanges, side), { role: 'user', content: question }],
          hasMemory: side === 'withMemory',
          onText: (text) => update(side, { text }),
        })
        update(side, { ...answer, isDone: true })
      } catch (error) {
        const message = error instanceof Error ? error.message : t('common.failed')
        update(side, { isDone: true, ...(abort.signal.aborted ? {} : { error: message }) })
      }
    }
    await Promise.all([run('withMemory'), ...(isComparing ? [run('withoutMemory')] : [])])
    setBusy(false)
    for (const name of ['memories', 'sessions', 'receipts']) {
      void cache.invalidateQueries({ queryKey: [name] })
    }
  }
  return { ask, isBusy, stop: () => controller.current?.abort() }
}

function historyOf(
  exchanges: readonly Exchange[],
  side: 'withMemory' | 'withoutMemory',
): readonly ChatMessage[] {
  return exchanges.flatMap((exchange): readonly ChatMessage[] => {
    const answer = exchange[side] ?? exchange.withMemory
    return [
      { role: 'user', content: exchange.question },
      ...(answer.text === '' ? [] : [{ role: 'assistant' as const, content: answer.text }]),
    ]
  })
}

function newSessionName(): string {
  return `studio-${crypto.randomUUID()}`
}
