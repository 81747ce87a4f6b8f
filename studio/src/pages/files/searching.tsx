import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { textIn, usePageSearch } from '../../app/address.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { IconButton } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Select } from '../../ui/field.tsx'
import { SearchField } from '../../ui/search.tsx'
import { Card, Chip, Empty, Loaded, Notice } from '../../ui/surface.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './page.module.css'

type Answer = paths['/api/files/search']['post']['responses'][200]['content']['application/json']
type Hit = Answer['results'][number]

const RESULTS_MAX = 20

export function FileSearch({ owner }: { owner: string }) {
  const { t } = useI18n()
  const [search, change] = usePageSearch()
  const query = textIn(search, 'q')
  const source = textIn(search, 'source')
  const opened = textIn(search, 'open')
  const answer = useQuery({
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
          onChoose={(chosen) => change({ source: chosen === '' ? undefined : chosen })}
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
        <Loaded query={answer}>
          {(found) => (
            <Found
              found={found}
              query={query}
              onOpen={(hit) => change({ open: citationOf(hit) }, { isStep: true })}
            />
          )}
        </Loaded>
      )}
      {opened !== '' && (
        <Reading
          owner={owner}
          citation={opened}
          onClose={() => change({ open: undefined }, { isStep: true })}
        />
      )}
    </Card>
  )
}

function Found({
  found,
  query,
  onOpen,
}: {
  found: Answer
  query: string
  onOpen: (hit: Hit) => void
}) {
  const { t, number } = useI18n()
  const tell = useTell()
  if (found.results.length === 0) return <Empty title={t('files.nothing')} icon="search" />
  const copy = async (text: string) => {
    await navigator.clipboard.writeText(text)
    tell({ text: t('common.copied') })
  }
  return (
    <>
      {found.fallback !== null && (
        <Notice tone="warn">{t('files.without', { what: found.fallback })}</Notice>
      )}
      <ol className={styles.hits}>
        {found.results.map((hit) => {
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
                <Marked text={hit.snippet} query={query} />
              </pre>
            </li>
          )
        })}
      </ol>
      <p className={styles.faint}>
        {t('files.answeredBy', { backend: found.backend, mode: found.mode })}
      </p>
    </>
  )
}

function citationOf({ path, startLine, endLine }: Hit): string {
  return startLine === endLine ? `${path}#L${startLine}` : `${path}#L${startLine}-L${endLine}`
}

const WORD_CHARACTERS_MIN = 3

/** The words of the question where they stand. Pieces of text, never markup. */
function Marked({ text, query }: { text: string; query: string }) {
  const words = query
    .toLowerCase()
    .split(/[^\p{L}\p{N}_]+/u)
    .filter((word) => word.length >= WORD_CHARACTERS_MIN || /\p{Script=Han}/u.test(word))
  if (words.length === 0) return text
  const escaped = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return text.split(new RegExp(`(${escaped.join('|')})`, 'giu')).map((piece, index) => {
    const key = `${index}:${piece}`
    return words.includes(piece.toLowerCase()) ? <mark key={key}>{piece}</mark> : piece
  })
}

const LINES_AROUND = 40

/** The file around the cited lines, which are marked and scrolled to. */
function Reading({
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
      <Loaded query={file}>
        {({ text, reason }) =>
          reason !== null ? (
            <Notice tone="warn">{t('files.noText', { reason })}</Notice>
          ) : (
            <ol className={styles.lines} start={from}>
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
      </Loaded>
    </Dialog>
  )
}
