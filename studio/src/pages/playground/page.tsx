import { useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { type Search, textIn, useOwner, usePageSearch } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Switch } from '../../ui/field.tsx'
import { Card, Empty, Loaded, Page } from '../../ui/layout.tsx'
import { Asking } from './query-form.tsx'
import { Given } from './context-preview.tsx'
import styles from './page.module.css'
import {
  type InForce,
  type Preview,
  SIDES,
  type Side,
  TRIED,
  triedName,
  useInjection,
  usePreview,
  useSettings,
} from './queries.ts'
import { Resolution } from './retrieval-details.tsx'
import { Results } from './results.tsx'

export function PlaygroundPage() {
  const { t } = useI18n()
  const owner = useOwner()
  const [search, change] = usePageSearch()
  const cache = useQueryClient()
  const settings = useSettings(owner)
  const isCompared = search.compare === true
  const compare = (isOn: boolean) =>
    change({
      compare: isOn || undefined,
      ...(isOn ? {} : Object.fromEntries(TRIED.map((tried) => [triedName(tried, 'B'), undefined]))),
    })
  const runAgain = () => {
    for (const word of ['memories', 'playground']) {
      void cache.invalidateQueries({ queryKey: [word, owner] })
    }
  }
  return (
    <Page
      title={t('playground.title')}
      description={t('playground.description')}
      actions={<Switch label={t('playground.compare')} isOn={isCompared} onTurn={compare} />}
    >
      <Loaded query={settings}>
        {(inForce) => (
          <>
            <Asking
              search={search}
              onChange={change}
              onRunAgain={runAgain}
              inForce={inForce}
              sides={isCompared ? SIDES : ['A']}
            />
            {textIn(search, 'q') === '' ? (
              <Card>
                <Empty icon="playground" title={t('playground.start')}>
                  {t('playground.startHelp')}
                </Empty>
              </Card>
            ) : isCompared ? (
              <Compared owner={owner} search={search} inForce={inForce} />
            ) : (
              <Single owner={owner} search={search} inForce={inForce} />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}

type TrialProps = { owner: string; search: Search; inForce: InForce }

function Single({ owner, search, inForce }: TrialProps) {
  const preview = usePreview(owner, search, 'A', inForce)
  return <Trial owner={owner} search={search} inForce={inForce} side="A" preview={preview} isWide />
}

function Compared({ owner, search, inForce }: TrialProps) {
  const a = usePreview(owner, search, 'A', inForce)
  const b = usePreview(owner, search, 'B', inForce)
  const ranksInA = useMemo(
    () => a.data && new Map(a.data.memories.map(({ id }, index) => [id, index + 1])),
    [a.data],
  )
  return (
    <div className={styles.sides}>
      <Trial owner={owner} search={search} inForce={inForce} side="A" preview={a} />
      <Trial
        owner={owner}
        search={search}
        inForce={inForce}
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
  inForce,
  side,
  preview,
  ranksInA,
  isWide = false,
}: TrialProps & {
  side: Side
  preview: ReturnType<typeof usePreview>
  ranksInA?: ReadonlyMap<string, number>
  /** Has the whole page for itself. */
  isWide?: boolean
}) {
  const { t } = useI18n()
  const injection = useInjection(owner, search, side, inForce)
  const titled = (title: string) => (isWide ? title : `${side} · ${title}`)
  const summary = ({ memories, totalTokensUsed, budgetMaxTokens }: Preview) =>
    [
      t('playground.resultsTotal', { count: memories.length }),
      t('playground.tokensOf', { count: totalTokensUsed, max: budgetMaxTokens }),
    ].join(' · ')
  return (
    <div className={isWide ? styles.wide : styles.side} aria-busy={preview.isFetching}>
      <div className={styles.column}>
        <Card
          title={titled(t('playground.results'))}
          isFlush
          actions={
            preview.data !== undefined && (
              <span className={styles.soft}>{summary(preview.data)}</span>
            )
          }
        >
          <Loaded query={preview} lines={6}>
            {(found) => <Results owner={owner} preview={found} {...(ranksInA && { ranksInA })} />}
          </Loaded>
        </Card>
      </div>
      <div className={styles.column}>
        <Card title={titled(t('playground.context'))}>
          <Loaded query={injection} lines={6}>
            {(given) => <Given owner={owner} user={textIn(search, 'user')} given={given} />}
          </Loaded>
        </Card>
        <Card title={titled(t('playground.retrieval'))}>
          <Loaded query={preview} lines={3}>
            {(found) => <Resolution preview={found} />}
          </Loaded>
        </Card>
      </div>
    </div>
  )
}
