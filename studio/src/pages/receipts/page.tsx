import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, data } from '../../api/client.ts'
import { textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Select } from '../../ui/field.tsx'
import {
  Card,
  Chip,
  Empty,
  Loaded,
  Notice,
  Page,
  Stat,
  Stats as StatList,
} from '../../ui/layout.tsx'
import { Charts } from './charts.tsx'
import { ReceiptDrawer } from './drawer.tsx'
import { Filters } from './filters.tsx'
import { ReceiptList } from './list.tsx'
import { Models } from './model-table.tsx'
import { PERIODS, periodIn, type Stats, useStats } from './queries.ts'

export function ReceiptsPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const stats = useStats(owner, search)
  const opened = textIn(search, 'receipt')
  return (
    <Page
      title={t('receipts.title')}
      description={t('receipts.description')}
      actions={
        <Select
          label={t('receipts.period')}
          isLabelHidden
          value={String(periodIn(search))}
          onChoose={(days) => change({ days: Number(days) })}
          options={PERIODS.map((days) => ({
            value: String(days),
            text: t('receipts.lastDays', { count: days }),
          }))}
        />
      }
    >
      <Off owner={owner} />
      <Loaded query={stats} lines={5}>
        {(counted) => (
          <>
            <Numbers total={counted.total} />
            {!counted.isComplete && <Notice tone="warn">{t('receipts.incomplete')}</Notice>}
            <Card>
              {counted.total.requests === 0 ? (
                <Empty icon="receipts" title={t('receipts.noCharts')} />
              ) : (
                <Charts stats={counted} period={periodIn(search)} />
              )}
            </Card>
            {counted.days.length > 0 && (
              <Card title={t('receipts.byModel')} isFlush>
                <Models stats={counted} />
              </Card>
            )}
          </>
        )}
      </Loaded>
      <Card title={t('receipts.list')} isFlush>
        <Filters
          search={search}
          onChange={change}
          models={[...new Set(stats.data?.days.map(({ model }) => model) ?? [])]}
        />
        <ReceiptList
          owner={owner}
          search={search}
          onOpen={(id) => change({ receipt: id }, { isStep: true })}
        />
      </Card>
      <ReceiptDrawer
        owner={owner}
        id={opened === '' ? null : opened}
        onClose={() => change({ receipt: undefined }, { isStep: true })}
      />
    </Page>
  )
}

function Numbers({ total }: { total: Stats['total'] }) {
  const { t, number } = useI18n()
  const { requests, withMemories, input, output, memory, learned, failed } = total
  const percent = (part: number, whole: number) =>
    whole === 0 ? '–' : number(part / whole, { style: 'percent', maximumFractionDigits: 1 })
  const brief = (value: number) => number(value, { notation: 'compact', maximumFractionDigits: 1 })
  return (
    <StatList>
      <Stat
        name={t('receipts.requests')}
        value={
          <>
            {number(requests)}{' '}
            {failed > 0 && <Chip tone="bad">{t('receipts.failedCount', { count: failed })}</Chip>}
          </>
        }
      />
      <Stat
        name={t('receipts.withMemories')}
        value={percent(withMemories, requests)}
        note={t('receipts.withMemoriesHelp')}
      />
      <Stat name={t('receipts.inputTokens')} value={brief(input)} />
      <Stat name={t('receipts.outputTokens')} value={brief(output)} />
      <Stat
        name={t('receipts.memoryTokens')}
        value={brief(memory)}
        note={t('receipts.memoryTokensHelp', { share: percent(memory, input) })}
      />
      <Stat name={t('receipts.extractedTotal')} value={number(learned)} />
    </StatList>
  )
}

/** Without memory there is nothing to write receipts about. */
function Off({ owner }: { owner: string }) {
  const { t } = useI18n()
  const settings = useQuery({
    queryKey: ['settings', owner, 'receipts'],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
  if (settings.data === undefined || settings.data.enabled) return null
  return (
    <Notice tone="warn" action={<Link to="/studio/settings">{t('receipts.openSettings')}</Link>}>
      {t('receipts.memoryDisabled')}
    </Notice>
  )
}
