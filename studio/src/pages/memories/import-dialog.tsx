/** Imports a file of any supported format, after a preview. */
import { useState } from 'react'
import type { Progress } from '../../api/lines.ts'
import { postWithProgress } from '../../api/lines.ts'
import type { paths } from '../../api/types.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, Switch, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/layout.tsx'
import { Table } from '../../ui/table.tsx'
import { type ExportPreview, previewExport } from './export-preview.ts'
import { useActions } from './queries.ts'

type ImportResult = paths['/api/import']['post']['responses'][200]['content']['application/json']
type Format = ImportResult['format']

/** The names of the products and formats, which are the same in every language. */
const FORMAT_NAMES: Record<Format, string> = {
  recollect: 'Recollect (.jsonl)',
  'recollect-encrypted': 'Recollect, encrypted',
  chatgpt: 'ChatGPT (conversations.json)',
  claude: 'Claude (conversations.json)',
  markdown: 'Markdown',
  mem0: 'Mem0',
  letta: 'Letta (.af)',
  zep: 'Zep',
  langmem: 'LangMem',
  hindsight: 'Hindsight',
  'server-memory': 'MCP server-memory',
  polyant: 'Polyant',
  'polyant-postgres': 'Polyant (PostgreSQL dump)',
  'omniroute-json': 'OmniRoute (JSON)',
  'omniroute-sqlite': 'OmniRoute (SQLite)',
  'osaurus-sqlite': 'Osaurus (SQLite)',
  'osaurus-settings': 'Osaurus (settings)',
  'openclaw-sqlite': 'OpenClaw (SQLite)',
  'openclaw-lancedb': 'OpenClaw (LanceDB)',
  'openclaw-settings': 'OpenClaw (settings)',
}
const FORMATS = Object.keys(FORMAT_NAMES) as Format[] // the keys of the table

/** The form field that unlocks a format. */
const SECRET_FIELDS: Partial<Record<Format, 'passphrase' | 'encryptionKey'>> = {
  'recollect-encrypted': 'passphrase',
  'omniroute-sqlite': 'encryptionKey',
  'osaurus-sqlite': 'encryptionKey',
  'openclaw-sqlite': 'encryptionKey',
}

export function ImportDialog({ owner, onClose }: { owner: string; onClose: () => void }) {
  const { t, number } = useI18n()
  const actions = useActions(owner)
  const [file, setFile] = useState<File | null>(null)
  const [format, setFormat] = useState<Format | ''>('')
  const [secret, setSecret] = useState('')
  const [learns, setLearns] = useState(true)
  const [report, setReport] = useState<ImportResult | null>(null)
  const [exported, setExported] = useState<ExportPreview | null>(null)
  const [progress, setProgress] = useState<Progress | null>(null)
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState<'preview' | 'import' | null>(null)
  const secretField = format === '' ? undefined : SECRET_FIELDS[format]
  const reset = () => {
    setReport(null)
    setExported(null)
    setFault(undefined)
  }
  const send = async (dryRun: boolean) => {
    if (file === null) return
    reset()
    setBusy(dryRun ? 'preview' : 'import')
    try {
      const preview = dryRun ? await previewExport(file) : null
      if (preview !== null) return setExported(preview)
      const form = new FormData()
      const fields = {
        ...{ owner, dryRun: String(dryRun), learn: String(learns) },
        ...(format === '' ? {} : { from: format }),
        ...(secretField === undefined || secret === '' ? {} : { [secretField]: secret }),
      }
      for (const [name, value] of Object.entries(fields)) form.append(name, value)
      form.append('file', file)
      setReport(await postWithProgress<ImportResult>('/api/import', form, setProgress))
      if (!dryRun) await actions.attempt(async () => undefined)
    } catch (error) {
      setFault(error instanceof Error ? error.message : String(error))
    } finally {
      setBusy(null)
      setProgress(null)
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
            disabled={file === null || busy !== null}
            isBusy={busy === 'preview'}
            onClick={() => void send(true)}
          >
            {t('memories.importPreview')}
          </Button>
          <Button
            look="primary"
            icon="import"
            disabled={file === null || busy !== null}
            isBusy={busy === 'import'}
            onClick={() => void send(false)}
          >
            {t('memories.import')}
          </Button>
        </>
      }
    >
      <TextField
        label={t('memories.importFile')}
        type="file"
        fault={fault}
        onChange={({ target }) => {
          setFile(target.files?.[0] ?? null)
          reset()
        }}
      />
      <Select
        label={t('memories.importFormat')}
        value={format}
        onValueChange={(value) => {
          setFormat(value)
          reset()
        }}
        options={[
          { value: '' as const, text: t('memories.importDetect') },
          ...FORMATS.map((value) => ({ value, text: FORMAT_NAMES[value] })),
        ]}
      />
      {secretField !== undefined && (
        <TextField
          label={t('memories.importSecret')}
          type="password"
          autoComplete="off"
          value={secret}
          onChange={({ target }) => setSecret(target.value)}
        />
      )}
      <Switch label={t('memories.importLearn')} isOn={learns} onCheckedChange={setLearns} />
      {progress !== null && (
        <p role="status">{t('memories.importProgress', { done: number(progress.done) })}</p>
      )}
      {exported !== null && (
        <>
          <Notice>
            {t('memories.importWouldAdd', {
              format: FORMAT_NAMES.recollect,
              memories: exported.memories,
              turns: exported.turns,
            })}
          </Notice>
          <Sample texts={exported.sample} />
        </>
      )}
      {report !== null && <Report report={report} />}
    </Dialog>
  )
}

function Report({ report }: { report: ImportResult }) {
  const { t } = useI18n()
  const { dryRun, format, counts, imported, updated, skipped, failed } = report
  return (
    <>
      <Notice tone={failed > 0 ? 'warn' : dryRun ? 'plain' : 'good'}>
        {dryRun
          ? t('memories.importWouldAdd', {
              format: FORMAT_NAMES[format],
              memories: counts?.memories ?? imported,
              turns: counts?.turns ?? 0,
            })
          : t('memories.importDone', { added: imported + updated, skipped: skipped + failed })}
      </Notice>
      {dryRun && <Sample texts={report.preview.map(({ line, text }) => ({ line, text }))} />}
      <LineNotes name={t('memories.importError')} count={failed} notes={report.failures} />
      <LineNotes name={t('memories.importSkipReason')} count={skipped} notes={report.skips} />
    </>
  )
}

function Sample({ texts }: { texts: ExportPreview['sample'] }) {
  const { t } = useI18n()
  if (texts.length === 0) return null
  return (
    <Table
      name={t('memories.importFirst')}
      rows={texts}
      idOf={({ line, text }) => `${line}:${text}`}
      columns={[{ name: t('memories.importFirst'), cell: ({ text }) => text }]}
    />
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
