/** Export, import and summarization of memories. */
import { useState } from 'react'
import { ApiError, api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import type { SearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { Table } from '../../ui/table.tsx'
import { exportAll, exportFiltered } from './export.ts'
import { filtersIn, useActions } from './queries.ts'

type ImportResult =
  paths['/api/memory/import']['post']['responses'][200]['content']['application/json']
type SummarizeResult =
  paths['/api/memory/summarize']['post']['responses'][200]['content']['application/json']

export function TransferMenu({ owner, search }: { owner: string; search: SearchParams }) {
  const { t } = useI18n()
  const { can } = useSession()
  const actions = useActions(owner)
  const [dialog, setDialog] = useState<'import' | 'compact' | null>(null)
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
        <MenuLine />
        <MenuItem icon="import" onSelect={() => setDialog('import')}>
          {t('memories.import')} …
        </MenuItem>
        <MenuItem icon="history" onSelect={() => setDialog('compact')}>
          {t('memories.summarize')} …
        </MenuItem>
      </Menu>
      {dialog === 'import' && <ImportDialog owner={owner} onClose={() => setDialog(null)} />}
      {dialog === 'compact' && <SummarizeDialog owner={owner} onClose={() => setDialog(null)} />}
    </>
  )
}

export function ImportDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t } = useI18n()
  const actions = useActions(owner)
  const [file, setFile] = useState<File | null>(null)
  const [report, setReport] = useState<ImportResult | null>(null)
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const run = async () => {
    if (file === null) return
    setBusy(true)
    setFault(undefined)
    try {
      const response = await fetch(`/api/memory/import?${new URLSearchParams({ owner })}`, {
        method: 'POST',
        credentials: 'same-origin',
        headers: { 'content-type': 'application/x-ndjson' },
        body: file,
      })
      const body = await response.json()
      if (!response.ok) throw new ApiError(response.status, body.error ?? {})
      setReport(body as ImportResult) // see /openapi.json
      await actions.attempt(async () => undefined)
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      shape="wide"
      title={t('memories.importTitle')}
      description={t('memories.importHelp')}
      footer={
        <>
          <Button onClick={onClose}>{t('common.close')}</Button>
          <Button
            look="primary"
            icon="import"
            disabled={file === null}
            isBusy={isBusy}
            onClick={() => void run()}
          >
            {t('memories.import')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('memories.importFile')}
        type="file"
        accept=".jsonl,.ndjson"
        fault={fault}
        onChange={({ target }) => {
          setFile(target.files?.[0] ?? null)
          setReport(null)
        }}
      />
      {report !== null && (
        <>
          <Notice tone={report.failed > 0 ? 'warn' : 'good'}>
            {t('memories.importDone', {
              added: report.imported + report.updated,
              skipped: report.skipped + report.failed,
            })}
          </Notice>
          <LineNotes
            name={t('memories.importError')}
            count={report.failed}
            notes={report.failures}
          />
          <LineNotes
            name={t('memories.importSkipReason')}
            count={report.skipped}
            notes={report.skips}
          />
        </>
      )}
    </Dialog>
  )
}

/** The skipped or failed lines of an import with their messages. */
function LineNotes({
  name,
  count,
  notes,
}: {
  name: string
  count: number
  notes: ImportResult['failures']
}) {
  const { t } = useI18n()
  if (notes.length === 0) return null
  return (
    <>
      <Table
        name={name}
        rows={notes}
        idOf={({ line, message }) => `${line}:${message}`}
        columns={[
          {
            name: t('memories.importLine'),
            cell: ({ line }) => line,
            isNumber: true,
            width: '80px',
          },
          { name, cell: ({ message }) => message },
        ]}
      />
      {count > notes.length && <p>{t('memories.importMore', { count: count - notes.length })}</p>}
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
