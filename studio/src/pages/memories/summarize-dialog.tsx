/** Replaces old conversation digests by one summary, after a preview. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { useActions } from './queries.ts'

type SummarizeResult =
  paths['/api/memory/summarize']['post']['responses'][200]['content']['application/json']

const DAYS = 30

export function SummarizeDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t, number } = useI18n()
  const actions = useActions(owner)
  const [days, setDays] = useState(DAYS)
  const [plan, setPlan] = useState<SummarizeResult | null>(null)
  const [isBusy, setBusy] = useState(false)
  const run = async (dryRun: boolean) => {
    setBusy(true)
    const done = await actions.attempt(() =>
      data(api.POST('/api/memory/summarize', { body: { owner, olderThanDays: days, dryRun } })),
    )
    setBusy(false)
    if (done === null) return
    if (dryRun) return setPlan(done)
    actions.showUndoToast(t('memories.summarizeDone', { count: done.deletedCount }), done.change)
    onClose()
  }
  const count = plan?.candidates.length ?? 0
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="wide"
      title={t('memories.summarizeTitle')}
      description={t('memories.summarizeHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button isBusy={isBusy} onClick={() => void run(true)}>
            {t('memories.summarizePreview')}
          </Button>
          <Button
            look="primary"
            disabled={count === 0}
            isBusy={isBusy}
            onClick={() => void run(false)}
          >
            {t('memories.summarizeRun')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('memories.summarizeDays')}
        type="number"
        min={1}
        max={365}
        value={days}
        onChange={({ target }) => {
          setDays(Number(target.value))
          setPlan(null)
        }}
      />
      {plan !== null &&
        (count === 0 ? (
          <Notice>{t('memories.summarizeNothing')}</Notice>
        ) : (
          <>
            <Notice>
              {t('memories.summarizePlan', {
                count,
                summaries: Math.max(1, plan.summaryIds.length),
                tokens: number(plan.tokensSaved),
              })}
            </Notice>
            <Table
              name={t('memories.title')}
              rows={plan.candidates.slice(0, 200)}
              idOf={({ id }) => id}
              columns={[{ name: t('memories.content'), cell: ({ content }) => content }]}
            />
          </>
        ))}
    </Dialog>
  )
}
