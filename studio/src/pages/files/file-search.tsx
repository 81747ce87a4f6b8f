import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useCopy } from '../../app/clipboard.ts'
import { textParam, useSearchParams } from '../../app/search-params.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { Card, Chip, EmptyState, Notice, QueryResult } from '../../ui/layout.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import styles from './page.module.css'

type SearchResponse =
  paths['/api/files/search']['post']['responses'][200]['content']['application/json']
type Hit = SearchResponse['results'][number]

const RESULTS_MAX = 20

export function FileSearch({ owner }: { owner: string }) {
  const { t } = useI18n()
  const [search, change] = useSearchParams()
  const query = textParam(search, 'q')
  const source = textParam(search, 'source')
  const citation = textParam(search, 'open')
  const results = useQuery({
    queryKey: ['files', owner, 'search', query, source],
    queryFn: () =>
      data(
        api.POST('/api/files/search', {
          body: {
            owner,
            query,
            maxResults: RESULTS_MAX,
            ...(source === 'memory' || source === 'sessions' ? { sources: source } : {}),
          },
        }),
      ),
    enabled: query !== '',
    placeholderData: keepPreviousData,
  })
  return (
    <Card>
      <div className={styles.searchLine}>
        <SearchField
          label={t('files.search')}
          value={query}
          onChange={(q) => change({ q: q === '' ? undefined : q })}
        />
        <Select
          label={t('files.source')}
          isLabelHidden
          value={source}
          onValueChange={(chosen) => change({ source: chosen === '' ? undefined : chosen })}
          options={[
            { value: '', text: t('common.all') },
            { value: 'memory', text: t('files.sourceMemory') },
            { value: 'sessions', text: t('files.sourceSessions') },
          ]}
        />
      </div>
      {query === '' ? (
        <p className={styles.faint}>{t('files.searchHelp')}</p>
      ) : (
        <QueryResult query={results}>
          {(response) => (
            <SearchResults
              response={response}
              query={query}
              onOpen={(hit) => change({ open: citationOf(hit) }, { isPush: true })}
            />
          )}
        </QueryResult>
      )}
      {citation !== '' && (
        <FileViewer
          owner={owner}
          citation={citation}
          onClose={() => change({ open: undefined }, { isPush: true })}
        />
      )}
    </Card>
  )
}

function SearchResults({
  response,
  query,
  onOpen,
}: {
  response: SearchResponse
  query: string
  onOpen: (hit: Hit) => void
}) {
  const { t, number } = useI18n()
  const copy = useCopy()
  if (response.results.length === 0) return <EmptyState title={t('files.noMatch')} icon="search" />
  return (
    <>
      {response.fallbackReason !== null && (
        <Notice tone="warn">{t('files.fallback', { what: response.fallbackReason })}</Notice>
      )}
      <ol className={styles.hits}>
        {response.results.map((hit) => {
          const citation = citationOf(hit)
          return (
            <li key={citation} className={styles.hit}>
              <div className={styles.rootHead}>
                <button type="button" className={styles.citation} onClick={() => onOpen(hit)}>
                  {citation}
                </button>
                <Chip>{number(hit.score, { maximumFractionDigits: 2 })}</Chip>
                <IconButton
                  isSmall
                  icon="copy"
                  name={t('files.copyCitation')}
                  onClick={() => void copy(citation)}
                />
              </div>
              {hit.headings.length > 0 && (
                <p className={styles.faint}>{hit.headings.join(' › ')}</p>
              )}
              <pre className={styles.snippet}>
                <HighlightedText text={hit.snippet} query={query} />
              </pre>
            </li>
          )
        })}
      </ol>
      <p className={styles.faint}>
        {t('files.searchBackend', { backend: response.backend, mode: response.mode })}
      </p>
    </>
  )
}

export function citationOf({
  path,
  startLine,
  endLine,
}: Pick<Hit, 'path' | 'startLine' | 'endLine'>): string {
  return startLine === endLine ? `${path}#L${startLine}` : `${path}#L${startLine}-L${endLine}`
}

/** Shorter words match too often, except numbers and words of CJK scripts. */
const WORD_CHARACTERS_MIN = 4
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{N}]/u

/** Highlights words that start with a word of the query. Renders text only, never markup. */
function HighlightedText({ text, query }: { text: string; query: string }) {
  const terms = query
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length >= WORD_CHARACTERS_MIN || DENSE.test(word))
  if (terms.length === 0) return text
  const patterns = terms.map((word) =>
    DENSE.test(word) ? word : `(?<![\\p{L}\\p{N}])${word}[\\p{L}\\p{N}]*`,
  )
  // `split` with a capture group puts the matches at odd indexes.
  return text.split(new RegExp(`(${patterns.join('|')})`, 'giu')).map((part, index) => {
    const key = `${index}:${part}`
    return index % 2 === 1 ? <mark key={key}>{part}</mark> : part
  })
}

const LINES_AROUND = 40

/** Shows the file around the cited lines, highlights them and scrolls to them. */
function FileViewer({
  owner,
  citation,
  onClose,
}: {
  owner: string
  citation: string
  onClose: () => void
}) {
  const { t } = useI18n()
  const [, path = '', first = '1', last = first] = /^(.*)#L(\d+)(?:-L(\d+))?$/.exec(citation) ?? []
  const from = Math.max(1, Number(first) - LINES_AROUND)
  const to = Number(last) + LINES_AROUND
  const file = useQuery({
    queryKey: ['files', owner, 'text', path, from],
    queryFn: () => data(api.GET('/api/files/text', { params: { query: { owner, path, from } } })),
  })
  const cited = useRef<HTMLLIElement>(null)
  const isLoaded = file.data !== undefined
  useEffect(() => {
    if (isLoaded) cited.current?.scrollIntoView({ block: 'center' })
  }, [isLoaded])
  return (
    <Dialog isOpen shape="wide" title={citation} onClose={onClose}>
      <QueryResult query={file}>
        {({ text, reason }) =>
          reason !== null ? (
            <Notice tone="warn">{t('files.noText', { reason })}</Notice>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
            <ol className={styles.lines} start={from} tabIndex={0}>
              {text
                .split('\n')
                .slice(0, to - from + 1)
                .map((line, index) => {
                  const number = from + index
                  const isCited = number >= Number(first) && number <= Number(last)
                  return (
                    <li
                      key={number}
                      value={number}
                      ref={number === Number(first) ? cited : null}
                      className={isCited ? styles.cited : ''}
                    >
                      {line}
                    </li>
                  )
                })}
            </ol>
          )
        }
      </QueryResult>
    </Dialog>
  )
}
