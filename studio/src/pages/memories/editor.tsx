/** Adds a memory, or changes one. When somebody else was quicker, both versions are shown and nothing is lost. */
import { type FormEvent, useState } from 'react'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, Switch, TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/surface.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './editor.module.css'
import { isConflict, useActions } from './queries.ts'
import { CATEGORIES, TYPES } from './words.ts'

type Draft = {
  readonly content: string
  readonly key: string
  readonly category: Memory['category']
  readonly type: Memory['type']
  readonly importance: number
  readonly pinned: boolean
  readonly expires: string
}

export function Editor({
  owner,
  memory,
  onClose,
}: {
  owner: string
  /** Null: a new one. */
  memory: Memory | null
  onClose: () => void
}) {
  const { t } = useI18n()
  const tell = useTell()
  const actions = useActions(owner)
  const [draft, setDraft] = useState<Draft>(() => draftOf(memory))
  const [version, setVersion] = useState(memory?.version)
  const [theirs, setTheirs] = useState<Memory | null>(null)
  const [fault, setFault] = useState<ApiError>()
  const [isBusy, setBusy] = useState(false)
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))

  const save = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      if (memory === null) await add(owner, draft, t, actions.undoable)
      else {
        const saved = await change(owner, memory.id, draft, version)
        actions.undoable(t('memories.saved'), saved.change)
      }
      await actions.attempt(async () => undefined)
      onClose()
    } catch (error) {
      if (memory !== null && isConflict(error)) {
        const now = await data(
          api.GET('/api/memory/{id}', { params: { path: { id: memory.id }, query: { owner } } }),
        )
        setTheirs(now.memory)
      } else if (error instanceof ApiError) setFault(error)
      else tell({ text: String(error), isBad: true })
    } finally {
      setBusy(false)
    }
  }
  const faultOf = (field: string) => fault?.details.find((each) => each.field === field)?.message
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t(memory === null ? 'memories.add' : 'memories.edit')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="memory"
            look="primary"
            isBusy={isBusy}
            disabled={draft.content.trim() === '' || theirs !== null}
          >
            {t(memory === null ? 'common.add' : 'common.save')}
          </Button>
        </>
      }
    >
      {theirs !== null && (
        <Conflict
          theirs={theirs}
          mine={draft.content}
          onTheirs={() => {
            setDraft(draftOf(theirs))
            setVersion(theirs.version)
            setTheirs(null)
          }}
          onMine={() => {
            setVersion(theirs.version)
            setTheirs(null)
          }}
        />
      )}
      {fault !== undefined && fault.details.length === 0 && (
        <Notice tone="bad">{fault.message}</Notice>
      )}
      <form id="memory" className={styles.form} onSubmit={(event) => void save(event)}>
        <TextArea
          label={t('memories.content')}
          required
          autoFocus
          rows={4}
          value={draft.content}
          fault={faultOf('content')}
          onChange={({ target }) => set({ content: target.value })}
        />
        <div className={styles.pair}>
          <Select
            label={t('memories.category')}
            value={draft.category}
            onChoose={(category) => set({ category })}
            options={CATEGORIES.map((value) => ({ value, text: value }))}
          />
          <Select
            label={t('memories.type')}
            value={draft.type}
            onChoose={(type) => set({ type })}
            options={TYPES.map((value) => ({ value, text: value }))}
          />
        </div>
        <div className={styles.pair}>
          <TextField
            label={`${t('memories.importance')} (1–10)`}
            type="number"
            min={1}
            max={10}
            value={draft.importance}
            fault={faultOf('importance')}
            onChange={({ target }) => set({ importance: Number(target.value) })}
          />
          <TextField
            label={`${t('memories.expires')} (${t('common.optional')})`}
            type="date"
            value={draft.expires}
            fault={faultOf('expiresAt')}
            onChange={({ target }) => set({ expires: target.value })}
          />
        </div>
        <TextField
          label={`${t('memories.key')} (${t('common.optional')})`}
          help={t('memories.keyHelp')}
          value={draft.key}
          fault={faultOf('key')}
          onChange={({ target }) => set({ key: target.value })}
        />
        <Switch
          label={t('memories.pinned')}
          isOn={draft.pinned}
          onTurn={(pinned) => set({ pinned })}
        />
      </form>
    </Dialog>
  )
}

function draftOf(memory: Memory | null): Draft {
  return {
    content: memory?.content ?? '',
    key: memory?.key ?? '',
    category: memory?.category ?? 'general',
    type: memory?.type ?? 'factual',
    importance: memory?.importance ?? 5,
    pinned: memory?.pinned ?? false,
    expires: memory?.expiresAt?.slice(0, 10) ?? '',
  }
}

function fieldsOf({ content, key, category, type, importance, pinned, expires }: Draft) {
  return {
    content,
    category,
    type,
    importance,
    pinned,
    key: key === '' ? null : key,
    expiresAt: expires === '' ? null : `${expires}T00:00:00Z`,
  }
}

async function change(owner: string, id: string, draft: Draft, version: number | undefined) {
  const body = { owner, ...fieldsOf(draft), ...(version === undefined ? {} : { version }) }
  const { memory } = await data(api.PATCH('/api/memory/{id}', { params: { path: { id } }, body }))
  return memory
}

async function add(
  owner: string,
  draft: Draft,
  t: ReturnType<typeof useI18n>['t'],
  undoable: (text: string, change: string | null) => void,
) {
  const { key, expiresAt, ...fields } = fieldsOf(draft)
  const body = {
    owner,
    ...fields,
    ...(key === null ? {} : { key }),
    ...(expiresAt === null ? {} : { expiresAt }),
  }
  const { memory, outcome } = await data(api.POST('/api/memory', { body }))
  undoable(t(outcome === 'duplicate' ? 'memories.reinforced' : 'memories.added'), memory.change)
}

function Conflict({
  theirs,
  mine,
  onTheirs,
  onMine,
}: {
  theirs: Memory
  mine: string
  onTheirs: () => void
  onMine: () => void
}) {
  const { t } = useI18n()
  return (
    <Notice tone="warn">
      <strong>{t('memories.conflict')}</strong>
      <p>{t('memories.conflictHelp')}</p>
      <div className={styles.sides}>
        <div>
          <blockquote>{theirs.content}</blockquote>
          <Button isSmall onClick={onTheirs}>
            {t('memories.keepTheirs')}
          </Button>
        </div>
        <div>
          <blockquote>{mine}</blockquote>
          <Button isSmall onClick={onMine}>
            {t('memories.keepMine')}
          </Button>
        </div>
      </div>
    </Notice>
  )
}
