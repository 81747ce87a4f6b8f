/** Actions for all selected memories. Each action applies to the memories that it is valid for. */
import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { exportMemories } from './export.ts'
import styles from './page.module.css'
import { useActions, useTrashDays } from './queries.ts'

export function BulkActions({
  owner,
  memories,
  onClear,
}: {
  owner: string
  memories: readonly Memory[]
  onClear: () => void
}) {
  const { t } = useI18n()
  const { can } = useSession()
  const actions = useActions(owner)
  const days = useTrashDays(owner)
  const [isConfirming, setConfirming] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const idsOf = (matches: (memory: Memory) => boolean) =>
    memories.filter(matches).map(({ id }) => id)
  const active = idsOf(({ status }) => status === 'active')
  const unpinned = idsOf(({ status, pinned }) => status === 'active' && !pinned)
  const inactive = idsOf(({ status }) => status !== 'active')
  const run = async (act: () => Promise<unknown>) => {
    setBusy(true)
    await act()
    setBusy(false)
    onClear()
  }
  return (
    <div className={styles.bulk} role="status">
      <strong>{t('memories.selected', { count: memories.length })}</strong>
      {unpinned.length > 0 && (
        <Button
          isSmall
          icon="pin"
          disabled={isBusy}
          onClick={() => void run(() => actions.pin(unpinned))}
        >
          {t('memories.pin')}
        </Button>
      )}
      {active.length > 0 && (
        <>
          <Button
            isSmall
            icon="disable"
            disabled={isBusy}
            onClick={() => void run(() => actions.disable(active))}
          >
            {t('memories.disable')}
          </Button>
          <Button isSmall icon="forget" disabled={isBusy} onClick={() => setConfirming(true)}>
            {t('memories.forget')}
          </Button>
        </>
      )}
      {inactive.length > 0 && (
        <Button
          isSmall
          icon="restore"
          disabled={isBusy}
          onClick={() => void run(() => actions.restore(inactive))}
        >
          {t('memories.restore')}
        </Button>
      )}
      {can('curate') && (
        <Button
          isSmall
          icon="export"
          disabled={isBusy}
          onClick={() =>
            void actions.attempt(() => exportMemories(owner, new Set(memories.map(({ id }) => id))))
          }
        >
          {t('memories.export')}
        </Button>
      )}
      <Button isSmall look="quiet" onClick={onClear}>
        {t('memories.clearSelection')}
      </Button>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('memories.forgetTitle', { count: active.length })}
        description={t('memories.forgetHelp', { days })}
        action={t('memories.forget')}
        onConfirm={() => run(() => actions.forget(active))}
      />
    </div>
  )
}
