import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import {
  Card,
  Chip,
  EmptyState,
  LoadingState,
  Notice,
  Page,
  QueryResult,
  Stat,
  Stats as StatList,
} from '../../ui/layout.tsx'
import { lazyPart, useOnceTrue } from '../../ui/lazy-part.tsx'
import { Filters } from './filters.tsx'
import { DOLLARS, ReceiptList } from './list.tsx'
import { ModelTable } from './model-table.tsx'
import { costOf, LIST_PRICES_DATE, usePrices } from './prices.ts'
import { PERIODS, periodIn, type Stats, useStats } from './queries.ts'

const Charts = lazyPart(async () => (await import('./charts.tsx')).Charts, <LoadingState />)
const ReceiptPanel = lazyPart(async () => (await import('./receipt-panel.tsx')).ReceiptPanel)
const PriceDialog = lazyPart(async () => (await import('./price-dialog.tsx')).PriceDialog)

export function ReceiptsPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const stats = useStats(owner, search)
  const openId = textParam(search, 'receipt')
  const wasOpened = useOnceTrue(openId !== '')
  const [isPricing, setPricing] = useState(false)
  const models = [...new Set(stats.data?.days.map(({ model }) => model) ?? [])]
  return (
    <Page
      title={t('receipts.title')}
      description={t('receipts.description')}
      actions={
        <>
          <Button disabled={stats.data === undefined} onClick={() => setPricing(true)}>
            {t('receipts.prices')}
          </Button>
          <Select
            label={t('receipts.period')}
            isLabelHidden
            value={String(periodIn(search))}
            onValueChange={(days) => change({ days: Number(days) })}
            options={PERIODS.map((days) => ({
              value: String(days),
              text: t('receipts.lastDays', { count: days }),
            }))}
          />
        </>
      }
    >
      <MemoryDisabledNotice owner={owner} />
      <QueryResult query={stats} lines={5}>
        {(loaded) => (
          <>
            <ReceiptStats stats={loaded} />
            {!loaded.isComplete && <Notice tone="warn">{t('receipts.incomplete')}</Notice>}
            <Card>
              {loaded.total.requests === 0 ? (
                <EmptyState icon="receipts" title={t('receipts.noCharts')} />
              ) : (
                <Charts stats={loaded} period={periodIn(search)} />
              )}
            </Card>
            {loaded.days.length > 0 && (
              <Card title={t('receipts.byModel')} isFlush>
                <ModelTable stats={loaded} />
              </Card>
            )}
          </>
        )}
      </QueryResult>
      <Card title={t('receipts.list')} isFlush>
        <Filters search={search} onChange={change} models={models} />
        <ReceiptList
          owner={owner}
          search={search}
          onOpen={(id) => change({ receipt: id }, { isPush: true })}
        />
      </Card>
      {isPricing && <PriceDialog models={models} onClose={() => setPricing(false)} />}
      {wasOpened && (
        <ReceiptPanel
          owner={owner}
          id={openId === '' ? null : openId}
          onClose={() => change({ receipt: undefined }, { isPush: true })}
        />
      )}
    </Page>
  )
}

function ReceiptStats({ stats: { total, days } }: { stats: Stats }) {
  const { t, number, day } = useI18n()
  const priceOf = usePrices()
  const cost = days.reduce((sum, { model, ...usage }) => {
    const price = priceOf(model)
    return price === null ? sum : sum + costOf(usage, price)
  }, 0)
  const { requests, withMemories, input, output, memory, learned, failed } = total
  const percent = (part: number, whole: number) =>
    whole === 0 ? '–' : number(part / whole, { style: 'percent', maximumFractionDigits: 1 })
  const compact = (value: number) =>
    number(value, { notation: 'compact', maximumFractionDigits: 1 })
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
      <Stat name={t('receipts.inputTokens')} value={compact(input)} />
      <Stat name={t('receipts.outputTokens')} value={compact(output)} />
      <Stat
        name={t('receipts.memoryTokens')}
        value={compact(memory)}
        note={t('receipts.memoryTokensHelp', { share: percent(memory, input) })}
      />
      <Stat name={t('receipts.extractedTotal')} value={number(learned)} />
      <Stat
        name={t('receipts.cost')}
        value={number(cost, { ...DOLLARS, maximumSignificantDigits: 3 })}
        note={t('receipts.costHelp', { date: day(LIST_PRICES_DATE) })}
      />
    </StatList>
  )
}

/** Without memory, requests create no receipts. */
function MemoryDisabledNotice({ owner }: { owner: string }) {
  const { t } = useI18n()
  const settings = useQuery({
    queryKey: ['settings', owner, 'receipts'],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
  if (settings.data === undefined || settings.data['gateway.enabled']) return null
  return (
    <Notice tone="warn" action={<Link to="/studio/settings">{t('receipts.openSettings')}</Link>}>
      {t('receipts.memoryDisabled')}
    </Notice>
  )
}
