/** Deletes all data of an owner: shows the record counts, then requires typing the name. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useAttempt } from '../../app/mutations.ts'
import { useSearchParams } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice, QueryResult } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './access.module.css'
import { AFFECTED_QUERIES } from './queries.ts'

/** Labels of the tables of the store. */
const RECORD_NAMES: Record<string, MessageKey> = {
  memory: 'access.rowMemory',
  revision: 'access.rowRevision',
  tombstone: 'access.rowTombstone',
  turn: 'access.rowTurn',
  entry: 'access.rowEntry',
}

function erase(owner: string, dryRun: boolean) {
  return data(api.DELETE('/api/owners/{owner}', { params: { path: { owner }, query: { dryRun } } }))
}

export function OwnerDeletion({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t } = useI18n()
  const cache = useQueryClient()
  const showToast = useToast()
  const attempt = useAttempt(AFFECTED_QUERIES)
  const [, change] = useSearchParams()
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const plan = useQuery({
    queryKey: ['owners', 'erasing', owner],
    queryFn: () => erase(owner, true),
    staleTime: 0,
  })
  const run = async () => {
    setBusy(true)
    const deleted = await attempt(() => erase(owner, false))
    setBusy(false)
    if (deleted === null) return
    showToast({ text: t('access.erased', { owner, count: deleted.rows.memory ?? 0 }) })
    onClose()
    // The deleted owner may be the selected one.
    change({ owner: undefined })
    await cache.invalidateQueries()
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title={t('access.eraseTitle', { owner })}
      description={t('access.eraseHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            look="danger"
            icon="forget"
            disabled={typed !== owner || plan.data === undefined}
            isBusy={isBusy}
            onClick={() => void run()}
          >
            {t('access.eraseConfirm')}
          </Button>
        </>
      }
    >
      <QueryResult query={plan} lines={4}>
        {({ rows }) => <RecordCounts rows={rows} />}
      </QueryResult>
      <Notice tone="bad">{t('access.eraseWarning')}</Notice>
      <TextField
        label={t('access.typeName', { owner })}
        autoComplete="off"
        spellCheck={false}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
    </Dialog>
  )
}

function RecordCounts({ rows }: { rows: { readonly [table: string]: number } }) {
  const { t, number } = useI18n()
  return (
    <dl className={styles.counts}>
      {Object.entries(rows).map(([table, count]) => {
        const name = RECORD_NAMES[table]
        return (
          <div key={table}>
            <dt>{name === undefined ? table : t(name)}</dt>
            <dd>{number(count)}</dd>
          </div>
        )
      })}
    </dl>
  )
}
