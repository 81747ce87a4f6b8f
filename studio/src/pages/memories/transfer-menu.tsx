/** Export and summarization of memories. */
import { useState } from 'react'
import type { SearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx'
import { exportAll, exportAsText, exportFiltered } from './export.ts'
import { TEXT_FORMATS, type TextFormat } from './export-formats.ts'
import { filtersIn, useActions } from './queries.ts'

const FORMAT_NAMES: Record<TextFormat, MessageKey> = {
  json: 'memories.exportJson',
  markdown: 'memories.exportMarkdown',
  csv: 'memories.exportCsv',
}

const SummarizeDialog = lazyPart(
  async () => (await import('./summarize-dialog.tsx')).SummarizeDialog,
)

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
