/** Searches, filters and orders that were saved under a name, in this browser. */
import { type FormEvent, useState } from 'react'
import { type SearchParams, textParam } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { FILTERS } from './queries.ts'

const STORAGE_KEY = 'recollect.views'
const PARAMETERS = ['q', 'mode', 'order', ...FILTERS] as const

export type SavedView = { readonly name: string; readonly search: SearchParams }

export function loadViews(): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORAGE_KEY) ?? '[]')
    return Array.isArray(stored) ? (stored as SavedView[]) : [] // written by `storeViews`
  } catch {
    return []
  }
}

function storeViews(views: readonly SavedView[]): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify(views))
}

/** All parameters of a view: those that it does not name are removed. */
export function viewParams({ search }: SavedView): SearchParams {
  return Object.fromEntries(
    ['row', ...PARAMETERS].map((name) => [name, textParam(search, name) || undefined]),
  )
}

export function SavedViews({
  search,
  onChange,
}: {
  search: SearchParams
  onChange: (changes: SearchParams) => void
}) {
  const { t } = useI18n()
  const [views, setViews] = useState(loadViews)
  const [isSaving, setSaving] = useState(false)
  const keep = (next: readonly SavedView[]) => {
    storeViews(next)
    setViews(next)
  }
  const current: SearchParams = Object.fromEntries(
    PARAMETERS.map((name) => [name, textParam(search, name)]).filter(([, value]) => value !== ''),
  )
  return (
    <>
      <Menu trigger={<Button>{t('memories.views')}</Button>}>
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => onChange(viewParams(view))}>
            {view.name}
          </MenuItem>
        ))}
        {views.length > 0 && <MenuLine />}
        <MenuItem
          icon="add"
          isDisabled={Object.keys(current).length === 0}
          onSelect={() => setSaving(true)}
        >
          {t('memories.saveView')}
        </MenuItem>
        {views.map(({ name }) => (
          <MenuItem
            key={name}
            icon="forget"
            onSelect={() => keep(views.filter((view) => view.name !== name))}
          >
            {t('memories.deleteView', { name })}
          </MenuItem>
        ))}
      </Menu>
      {isSaving && (
        <SaveDialog
          onClose={() => setSaving(false)}
          onSave={(name) => {
            keep([...views.filter((view) => view.name !== name), { name, search: current }])
            setSaving(false)
          }}
        />
      )}
    </>
  )
}

function SaveDialog({ onClose, onSave }: { onClose: () => void; onSave: (name: string) => void }) {
  const { t } = useI18n()
  const [name, setName] = useState('')
  const save = (event: FormEvent) => {
    event.preventDefault()
    if (name.trim() !== '') onSave(name.trim())
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={name !== ''}
      title={t('memories.saveViewTitle')}
      description={t('memories.saveViewHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" form="view" look="primary" disabled={name.trim() === ''}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <form id="view" onSubmit={save}>
        <TextField
          label={t('memories.viewName')}
          autoFocus
          maxLength={60}
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
      </form>
    </Dialog>
  )
}
