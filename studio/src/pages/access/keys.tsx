/** The list of API keys. Secrets are not stored, so they cannot be shown. */
import { type ReactNode, useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Chip, EmptyState, QueryResult } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './access.module.css'
import { KeyDialog } from './key-form.tsx'
import { AFFECTED_QUERIES, type Key, useKeyList } from './queries.ts'

export function Keys() {
  const { t } = useI18n()
  const keys = useKeyList()
  const [isCreating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<Key | null>(null)
  return (
    <Card
      title={t('access.keys')}
      isFlush
      actions={
        <Button look="primary" icon="add" onClick={() => setCreating(true)}>
          {t('access.create')}
        </Button>
      }
    >
      <QueryResult query={keys} lines={5}>
        {(rows) =>
          rows.length === 0 ? (
            // The list is empty only if keys are disabled on this server.
            <EmptyState icon="access" title={t('access.noKeys')}>
              {t('access.noKeysHelp')}
            </EmptyState>
          ) : (
            <KeyTable keys={rows} onRevoke={setRevoking} />
          )
        }
      </QueryResult>
      {isCreating && <KeyDialog onClose={() => setCreating(false)} />}
      {revoking !== null && <RevokeDialog apiKey={revoking} onClose={() => setRevoking(null)} />}
    </Card>
  )
}

function KeyTable({ keys, onRevoke }: { keys: readonly Key[]; onRevoke: (key: Key) => void }) {
  const { t, day, ago } = useI18n()
  const { session } = useSession()
  return (
    <Table
      name={t('access.keys')}
      rows={keys}
      idOf={({ id }) => id}
      columns={[
        {
          name: t('access.name'),
          cell: ({ id, name }) => (
            <div className={styles.named}>
              <strong>{name}</strong>
              {id === session.key && <Chip tone="accent">{t('access.currentKey')}</Chip>}
              <code className={styles.id}>{id}</code>
            </div>
          ),
        },
        { name: t('access.role'), cell: ({ role }) => <Chip>{role}</Chip> },
        {
          name: t('access.ownersColumn'),
          cell: ({ role, home, actsFor }) => (
            <div className={styles.chips}>
              <Chip tone="accent">{home}</Chip>
              {role === 'superadmin' ? (
                <span className={styles.soft}>{t('access.allOwners')}</span>
              ) : (
                actsFor.map((owner) => <Chip key={owner}>{owner}</Chip>)
              )}
            </div>
          ),
        },
        { name: t('access.created'), cell: ({ createdAt }) => <Day>{day(createdAt)}</Day> },
        {
          name: t('access.expires'),
          cell: ({ expiresAt }) =>
            expiresAt === null ? <Day>{t('common.never')}</Day> : <Expiry at={expiresAt} />,
        },
        {
          name: t('access.lastUsed'),
          cell: ({ lastUsedAt }) => (
            <Day>{lastUsedAt === null ? t('common.never') : ago(lastUsedAt)}</Day>
          ),
        },
        {
          name: t('access.actions'),
          cell: (key) => (
            <Button
              isSmall
              icon="forget"
              aria-label={t('access.revokeNamed', { name: key.name })}
              onClick={() => onRevoke(key)}
            >
              {t('access.revoke')}
            </Button>
          ),
        },
      ]}
    />
  )
}

function Day({ children }: { children: ReactNode }) {
  return <span className={styles.day}>{children}</span>
}

function Expiry({ at }: { at: string }) {
  const { t, day } = useI18n()
  const isExpired = new Date(at).getTime() <= Date.now()
  return isExpired ? <Chip tone="bad">{t('access.expired')}</Chip> : <Day>{day(at)}</Day>
}

function RevokeDialog({ apiKey, onClose }: { apiKey: Key; onClose: () => void }) {
  const { t } = useI18n()
  const { session } = useSession()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const showToast = useToast()
  const { id, name } = apiKey
  const isOwn = id === session.key
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={t('access.revokeTitle', { name })}
      description={t(isOwn ? 'access.revokeOwnHelp' : 'access.revokeHelp')}
      action={t('access.revoke')}
      onConfirm={async () => {
        const revoking = await attempt(() =>
          data(api.DELETE('/api/keys/{id}', { params: { path: { id } } })),
        )
        if (revoking !== null) showToast({ text: t('access.revoked', { name }) })
      }}
    />
  )
}
