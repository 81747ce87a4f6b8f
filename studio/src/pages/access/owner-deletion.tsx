/** Removes everything of an owner: first what that would be, then by typing its name. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { usePageSearch } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Loaded, Notice } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './access.module.css'
import { useAttempt } from './queries.ts'

/** The tables of the store, in words. */
const ROWS: Record<string, MessageKey> = {
  memory: 'access.rowMemory',
  revision: 'access.rowRevision',
  tombstone: 'access.rowTombstone',
  turn: 'access.rowTurn',
  entry: 'access.rowEntry',
}

function erase(owner: string, dryRun: boolean) {
  return data(api.DELETE('/api/owners/{owner}', { params: { path: { owner }, query: { dryRun } } }))
}

export function EraseOwner({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t } = useI18n()
  const cache = useQueryClient()
  const tell = useTell()
  const attempt = useAttempt()
  const [, change] = usePageSearch()
  const [typed, setTyped] = useState('')
  const [isBusy, setBusy] = useState(false)
  const plan = useQuery({
    queryKey: ['owners', 'erasing', owner],
    queryFn: () => erase(owner, true),
    staleTime: 0,
  })
  const run = async () => {
    setBusy(true)
    const done = await attempt(() => erase(owner, false))
    setBusy(false)
    if (done === null) return
    tell({ text: t('access.erased', { owner, count: done.rows.memory ?? 0 }) })
    onClose()
    // Whoever looked at this owner would look at nothing.
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
      <Loaded query={plan} lines={4}>
        {({ rows }) => <Counts rows={rows} />}
      </Loaded>
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

function Counts({ rows }: { rows: { readonly [table: string]: number } }) {
  const { t, number } = useI18n()
  return (
    <dl className={styles.counts}>
      {Object.entries(rows).map(([table, count]) => {
        const name = ROWS[table]
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
