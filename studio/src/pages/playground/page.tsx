import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type SearchParams, textParam, useOwner, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Switch } from '../../ui/field.tsx'
import { Card, EmptyState, Page, QueryResult } from '../../ui/layout.tsx'
import { ContextPreview } from './context-preview.tsx'
import styles from './page.module.css'
import {
  CONFIG_PARAMS,
  configParam,
  type EffectiveSettings,
  type Preview,
  SIDES,
  type Side,
  useContextPreview,
  usePreview,
  useSettings,
} from './queries.ts'
import { QueryForm } from './query-form.tsx'
import { Results } from './results.tsx'
import { RetrievalDetails } from './retrieval-details.tsx'

export function PlaygroundPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = useSearchParams()
  const cache = useQueryClient()
  const settings = useSettings(owner)
  const isComparing = search.compare === true
  const compare = (isOn: boolean) =>
    change({
      compare: isOn || undefined,
      ...(isOn
        ? {}
        : Object.fromEntries(CONFIG_PARAMS.map((param) => [configParam(param, 'B'), undefined]))),
    })
  const runAgain = () => {
    for (const name of ['memories', 'playground']) {
      void cache.invalidateQueries({ queryKey: [name, owner] })
    }
  }
  return (
    <Page
      title={t('playground.title')}
      description={t('playground.description')}
      actions={
        <Switch label={t('playground.compare')} isOn={isComparing} onCheckedChange={compare} />
      }
    >
      <QueryResult query={settings}>
        {(effective) => (
          <>
            <QueryForm
              search={search}
              onChange={change}
              onRunAgain={runAgain}
              effective={effective}
              sides={isComparing ? SIDES : ['A']}
            />
            {textParam(search, 'q') === '' ? (
              <Card>
                <EmptyState icon="playground" title={t('playground.start')}>
                  {t('playground.startHelp')}
                </EmptyState>
              </Card>
            ) : isComparing ? (
              <ComparedTrials owner={owner} search={search} effective={effective} />
            ) : (
              <SingleTrial owner={owner} search={search} effective={effective} />
            )}
          </>
        )}
      </QueryResult>
    </Page>
  )
}

type TrialProps = { owner: string; search: SearchParams; effective: EffectiveSettings }

function SingleTrial({ owner, search, effective }: TrialProps) {
  const preview = usePreview(owner, search, 'A', effective)
  return (
    <Trial owner={owner} search={search} effective={effective} side="A" preview={preview} isWide />
  )
}

function ComparedTrials({ owner, search, effective }: TrialProps) {
  const a = usePreview(owner, search, 'A', effective)
  const b = usePreview(owner, search, 'B', effective)
  const ranksInA = useMemo(
    () => a.data && new Map(a.data.memories.map(({ id }, index) => [id, index + 1])),
    [a.data],
  )
  return (
    <div className={styles.sides}>
      <Trial owner={owner} search={search} effective={effective} side="A" preview={a} />
      <Trial
        owner={owner}
        search={search}
        effective={effective}
        side="B"
        preview={b}
        {...(ranksInA === undefined ? {} : { ranksInA })}
      />
    </div>
  )
}

function Trial({
  owner,
  search,
  effective,
  side,
  preview,
  ranksInA,
  isWide = false,
}: TrialProps & {
  side: Side
  preview: ReturnType<typeof usePreview>
  ranksInA?: ReadonlyMap<string, number>
  /** Set if there is no second configuration next to it. */
  isWide?: boolean
}) {
  const { t } = useI18n()
  const context = useContextPreview(owner, search, side, effective)
  const cardTitle = (title: string) => (isWide ? title : `${side} · ${title}`)
  const summary = ({ memories, totalTokensUsed, budgetMaxTokens }: Preview) =>
    [
      t('playground.resultsTotal', { count: memories.length }),
      t('playground.tokensOf', { count: totalTokensUsed, max: budgetMaxTokens }),
    ].join(' · ')
  return (
    <div className={isWide ? styles.wide : styles.side} aria-busy={preview.isFetching}>
      <div className={styles.column}>
        <Card
          title={cardTitle(t('playground.results'))}
          isFlush
          actions={
            preview.data !== undefined && (
              <span className={styles.soft}>{summary(preview.data)}</span>
            )
          }
        >
          <QueryResult query={preview} lines={6}>
            {(data) => <Results owner={owner} preview={data} {...(ranksInA && { ranksInA })} />}
          </QueryResult>
        </Card>
      </div>
      <div className={styles.column}>
        <Card title={cardTitle(t('playground.context'))}>
          <QueryResult query={context} lines={6}>
            {(contextData) => (
              <ContextPreview
                owner={owner}
                user={textParam(search, 'user')}
                preview={contextData}
              />
            )}
          </QueryResult>
        </Card>
        <Card title={cardTitle(t('playground.retrieval'))}>
          <QueryResult query={preview} lines={3}>
            {(data) => <RetrievalDetails preview={data} />}
          </QueryResult>
        </Card>
      </div>
    </div>
  )
}
