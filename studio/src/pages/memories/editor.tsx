/** Creates or edits a memory. After a conflicting change, it shows both versions. */
import { type FormEvent, useState } from 'react'
import { ApiError, api, data, type Memory } from '../../api/client.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, Switch, TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { changesOf, type Draft, draftOf, newFieldsOf, rebaseDraft } from './draft.ts'
import styles from './editor.module.css'
import { FieldChanges } from './field-changes.tsx'
import { CATEGORIES, TYPES } from './memory-fields.ts'
import { isConflict, useActions } from './queries.ts'

export function Editor({
  owner,
  memory,
  onClose,
}: {
  owner: string
  /** Null for a new memory. */
  memory: Memory | null
  onClose: () => void
}) {
  const { t } = useI18n()
  const showToast = useToast()
  const actions = useActions(owner)
  const [base, setBase] = useState(memory)
  const [draft, setDraft] = useState<Draft>(() => draftOf(memory))
  const [stored, setStored] = useState<Memory | null>(null)
  const [fault, setFault] = useState<ApiError>()
  const [isBusy, setBusy] = useState(false)
  const set = (changes: Partial<Draft>) => setDraft((before) => ({ ...before, ...changes }))

  const persist = async (next: Draft, target: Memory | null) => {
    if (target === null) {
      const { memory: added, outcome } = await add(owner, next)
      const isDuplicate = outcome === 'duplicate'
      actions.showUndoToast(t(isDuplicate ? 'memories.reinforced' : 'memories.added'), added.change)
    } else if (Object.keys(changesOf(next, target)).length > 0) {
      const saved = await change(owner, target, next)
      actions.showUndoToast(t('memories.saved'), saved.change)
    }
    await actions.attempt(async () => undefined)
    onClose()
  }
  const save = async (next: Draft, target: Memory | null) => {
    setBusy(true)
    setFault(undefined)
    try {
      await persist(next, target)
    } catch (error) {
      if (target !== null && isConflict(error)) {
        const params = { path: { id: target.id }, query: { owner } }
        setStored((await data(api.GET('/api/memory/{id}', { params }))).memory)
      } else if (error instanceof ApiError) setFault(error)
      else showToast({ text: String(error), isError: true })
    } finally {
      setBusy(false)
    }
  }
  /** Continues with the stored version as the base. */
  const resolveConflict = (next: Draft, target: Memory) => {
    setDraft(next)
    setBase(target)
    setStored(null)
    return save(next, target)
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void save(draft, base)
  }
  const faultOf = (field: string) => fault?.details.find((each) => each.field === field)?.message
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={JSON.stringify(draft) !== JSON.stringify(draftOf(memory))}
      title={t(memory === null ? 'memories.add' : 'memories.edit')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="memory"
            look="primary"
            isBusy={isBusy}
            disabled={draft.content.trim() === '' || stored !== null}
          >
            {t(memory === null ? 'common.add' : 'common.save')}
          </Button>
        </>
      }
    >
      {stored !== null && base !== null && (
        <Conflict
          base={base}
          stored={stored}
          draftContent={draft.content}
          onKeepStored={() => void resolveConflict(draftOf(stored), stored)}
          onKeepMine={() => void resolveConflict(rebaseDraft(draft, base, stored), stored)}
        />
      )}
      {fault !== undefined && fault.details.length === 0 && (
        <Notice tone="bad">{fault.message}</Notice>
      )}
      <form id="memory" className={styles.form} onSubmit={submit}>
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
            onValueChange={(category) => set({ category })}
            options={CATEGORIES.map((value) => ({ value, text: value }))}
          />
          <Select
            label={t('memories.type')}
            value={draft.type}
            onValueChange={(type) => set({ type })}
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
          onCheckedChange={(pinned) => set({ pinned })}
        />
      </form>
    </Dialog>
  )
}

async function add(owner: string, draft: Draft) {
  const body = { owner, ...newFieldsOf(draft) }
  return data(api.POST('/api/memory', { body }))
}

async function change(owner: string, base: Memory, draft: Draft) {
  const path = { id: base.id }
  const body = { owner, ...changesOf(draft, base), version: base.version }
  const { memory } = await data(api.PATCH('/api/memory/{id}', { params: { path }, body }))
  return memory
}

function Conflict({
  base,
  stored,
  draftContent,
  onKeepStored,
  onKeepMine,
}: {
  base: Memory
  stored: Memory
  draftContent: string
  onKeepStored: () => void
  onKeepMine: () => void
}) {
  const { t } = useI18n()
  return (
    <Notice tone="warn">
      <strong>{t('memories.conflict')}</strong>
      <p>{t('memories.conflictHelp')}</p>
      <div className={styles.sides}>
        <div>
          <blockquote>{stored.content}</blockquote>
          <FieldChanges before={base} after={stored} />
          <Button isSmall onClick={onKeepStored}>
            {t('memories.keepStored')}
          </Button>
        </div>
        <div>
          <blockquote>{draftContent}</blockquote>
          <Button isSmall onClick={onKeepMine}>
            {t('memories.keepMine')}
          </Button>
        </div>
      </div>
    </Notice>
  )
}
