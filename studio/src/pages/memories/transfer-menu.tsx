/** Export and summarization of memories. */
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import type { SearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { Table } from '../../ui/table.tsx'
import { exportAll, exportAsText, exportFiltered } from './export.ts'
import { TEXT_FORMATS, type TextFormat } from './export-formats.ts'
import { filtersIn, useActions } from './queries.ts'

type SummarizeResult =
  paths['/api/memory/summarize']['post']['responses'][200]['content']['application/json']

const FORMAT_NAMES: Record<TextFormat, MessageKey> = {
  json: 'memories.exportJson',
  markdown: 'memories.exportMarkdown',
  csv: 'memories.exportCsv',
}

export function TransferMenu({ owner, search }: { owner: string; search: SearchParams }) {
  const { t } = useI18n()
  const { can } = useSession()
  const actions = useActions(owner)
  const [isCompacting, setCompacting] = useState(false)
  const hasFilter = Object.keys(filtersIn(search)).length > 0 || (search.q ?? '') !== ''
  if (!can('curate')) return null
  return (
    <>
      <Menu trigger={<Button icon="more">{t('common.more')}</Button>}>
        <MenuItem icon="export" onSelect={() => exportAll(owner)}>
          {t('memories.export')}: {t('memories.exportAll')}
        </MenuItem>
        <MenuItem
          icon="export"
          isDisabled={!hasFilter}
          onSelect={() => void actions.attempt(() => exportFiltered(owner, search))}
        >
          {t('memories.export')}: {t('memories.exportFiltered')}
        </MenuItem>
        {TEXT_FORMATS.map((format) => (
          <MenuItem
            key={format}
            icon="export"
            onSelect={() => void actions.attempt(() => exportAsText(owner, search, format))}
          >
            {t('memories.export')}: {t(FORMAT_NAMES[format])}
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon="history" onSelect={() => setCompacting(true)}>
          {t('memories.summarize')} …
        </MenuItem>
      </Menu>
      {isCompacting && <SummarizeDialog owner={owner} onClose={() => setCompacting(false)} />}
    </>
  )
}

const DAYS = 30

function SummarizeDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
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
