import { type FormEvent, useId, useState } from 'react'
import { ApiError, api, data } from '../../api/client.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useOwner } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './access.module.css'
import { AFFECTED_QUERIES, ROLES, type Role, useOwners } from './queries.ts'

const ROLE_HELP: Record<Role, MessageKey> = {
  reader: 'access.roleReader',
  agent: 'access.roleAgent',
  user: 'access.roleUser',
  superadmin: 'access.roleSuperadmin',
}
const LIFETIMES = ['never', '7', '30', '90', '365'] as const
type Lifetime = (typeof LIFETIMES)[number]
const DAY_MS = 86_400_000

type CreatedKey = { readonly name: string; readonly secret: string }

export function KeyDialog({ onClose }: { onClose: () => void }) {
  const [created, setCreated] = useState<CreatedKey | null>(null)
  return created === null ? (
    <KeyForm onClose={onClose} onCreated={setCreated} />
  ) : (
    <CreatedKeyDialog created={created} onClose={onClose} />
  )
}

function KeyForm({
  onClose,
  onCreated,
}: {
  onClose: () => void
  onCreated: (created: CreatedKey) => void
}) {
  const { t } = useI18n()
  const form = useId()
  const datalist = useId()
  const owners = useOwners().data ?? []
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('user')
  const [home, setHome] = useState(useOwner())
  const [actsFor, setActsFor] = useState('')
  const [lifetime, setLifetime] = useState<Lifetime>('never')
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map())
  const [isBusy, setBusy] = useState(false)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFaults(new Map())
    const body = {
      ...{ name: name.trim(), home: home.trim(), role },
      // Superadmins have access to all owners.
      actsFor: role === 'superadmin' ? [] : parseNames(actsFor),
      expiresAt:
        lifetime === 'never'
          ? null
          : new Date(Date.now() + Number(lifetime) * DAY_MS).toISOString(),
    }
    const created = await attempt(async () => {
      try {
        return await data(api.POST('/api/keys', { body }))
      } catch (error) {
        if (!(error instanceof ApiError) || error.details.length === 0) throw error
        setFaults(
          new Map(error.details.map(({ field, message }) => [topLevelField(field), message])),
        )
        return null
      }
    })
    setBusy(false)
    if (created !== null) onCreated({ name: created.key.name, secret: created.secret })
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      isDirty={name !== '' || actsFor !== ''}
      title={t('access.createTitle')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" form={form} look="primary" isBusy={isBusy}>
            {t('access.create')}
          </Button>
        </>
      }
    >
      <form id={form} className={styles.form} onSubmit={(event) => void create(event)}>
        <TextField
          label={t('access.name')}
          help={t('access.nameHelp')}
          required
          autoFocus
          maxLength={100}
          value={name}
          fault={faults.get('name')}
          onChange={({ target }) => setName(target.value)}
        />
        <Select
          label={t('access.role')}
          help={t(ROLE_HELP[role])}
          value={role}
          onValueChange={setRole}
          options={ROLES.map((each) => ({ value: each, text: each }))}
        />
        <TextField
          label={t('access.home')}
          help={t('access.homeHelp')}
          required
          list={datalist}
          maxLength={200}
          value={home}
          fault={faults.get('home')}
          onChange={({ target }) => setHome(target.value)}
        />
        <datalist id={datalist}>
          {owners.map(({ owner }) => (
            <option key={owner} value={owner} />
          ))}
        </datalist>
        {role !== 'superadmin' && (
          <TextField
            label={`${t('access.actsFor')} (${t('common.optional')})`}
            help={t('access.actsForHelp')}
            value={actsFor}
            fault={faults.get('actsFor')}
            onChange={({ target }) => setActsFor(target.value)}
          />
        )}
        <Select
          label={t('access.expires')}
          value={lifetime}
          fault={faults.get('expiresAt')}
          onValueChange={setLifetime}
          options={LIFETIMES.map((each) => ({
            value: each,
            text:
              each === 'never' ? t('common.never') : t('access.inDays', { count: Number(each) }),
          }))}
        />
      </form>
    </Dialog>
  )
}

function parseNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

/** The form field of an error path, such as `actsFor` of `actsFor.0`. */
function topLevelField(field: string): string {
  return field.split('.')[0] ?? field
}

function CreatedKeyDialog({ created, onClose }: { created: CreatedKey; onClose: () => void }) {
  const { t } = useI18n()
  const showToast = useToast()
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(created.secret)
      showToast({ text: t('common.copied') })
    } catch {
      // Browsers forbid clipboard access on pages without TLS.
      showToast({ text: t('access.copyManually'), isError: true })
    }
  }
  return (
    <Dialog
      isOpen
      isPersistent
      onClose={onClose}
      title={t('access.createdTitle', { name: created.name })}
      footer={
        <Button look="primary" onClick={onClose}>
          {t('access.done')}
        </Button>
      }
    >
      <Notice tone="warn">{t('access.shownOnce')}</Notice>
      <div className={styles.secret}>
        <TextField
          label={t('access.secret')}
          readOnly
          value={created.secret}
          onFocus={({ target }) => target.select()}
        />
        <Button icon="copy" onClick={() => void copy()}>
          {t('common.copy')}
        </Button>
      </div>
    </Dialog>
  )
}
