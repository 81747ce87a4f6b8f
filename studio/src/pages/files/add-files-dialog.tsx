import { type FormEvent, useState } from 'react'
import { ApiError, api, data } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './page.module.css'

type Kind = 'workspace' | 'path' | 'sessions'

export function AddFiles({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t } = useI18n()
  const showToast = useToast()
  const { attempt } = useMutations(owner, ['files'])
  const [kind, setKind] = useState<Kind>('workspace')
  const [path, setPath] = useState('')
  const [include, setInclude] = useState('')
  const [exclude, setExclude] = useState('')
  const [fault, setFault] = useState<ApiError>()
  const [isBusy, setBusy] = useState(false)
  const add = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    const body = {
      owner,
      kind,
      path,
      include: parsePatterns(include),
      exclude: parsePatterns(exclude),
    }
    try {
      await data(api.POST('/api/files/roots', { body }))
      showToast({ text: t('files.added') })
      onClose()
      await attempt(() => data(api.POST('/api/files/sync', { body: { owner } })))
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFault(error)
    } finally {
      setBusy(false)
    }
  }
  const faultOf = (field: string) => fault?.details.find((each) => each.field === field)?.message
  const isShownAtField = fault === undefined || fault.details.some(({ field }) => field === 'path')
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={[path, include, exclude].some((text) => text !== '')}
      title={t('files.addTitle')}
      description={t('files.addHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            form="add-files"
            look="primary"
            isBusy={isBusy}
            disabled={path.trim() === ''}
          >
            {t('common.add')}
          </Button>
        </>
      }
    >
      {!isShownAtField && <Notice tone="bad">{fault?.message}</Notice>}
      <form id="add-files" className={styles.form} onSubmit={(event) => void add(event)}>
        <Select<Kind>
          label={t('files.kind')}
          value={kind}
          onValueChange={setKind}
          options={[
            { value: 'workspace', text: t('files.kindWorkspace') },
            { value: 'path', text: t('files.kindPath') },
            { value: 'sessions', text: t('files.kindSessions') },
          ]}
        />
        <TextField
          label={t('files.path')}
          help={t('files.pathHelp')}
          required
          autoFocus
          value={path}
          fault={faultOf('path')}
          onChange={({ target }) => setPath(target.value)}
        />
        {kind === 'path' && (
          <>
            <TextField
              label={`${t('files.include')} (${t('common.optional')})`}
              help={t('files.globHelp')}
              value={include}
              fault={faultOf('include')}
              onChange={({ target }) => setInclude(target.value)}
            />
            <TextField
              label={`${t('files.exclude')} (${t('common.optional')})`}
              help={t('files.globHelp')}
              value={exclude}
              fault={faultOf('exclude')}
              onChange={({ target }) => setExclude(target.value)}
            />
          </>
        )}
      </form>
    </Dialog>
  )
}

function parsePatterns(text: string): string[] {
  return text
    .split(',')
    .map((pattern) => pattern.trim())
    .filter((pattern) => pattern !== '')
}
