/** The files of an indexed path with their state, and the chunks of each file. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { textParam, useSearchParams } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Chip, ErrorState, LoadingState, type Tone } from '../../ui/layout.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import styles from './file-list.module.css'
import { citationOf } from './file-search.tsx'

type FileListResponse = paths['/api/files']['get']['responses'][200]['content']['application/json']
type File = FileListResponse['files'][number]
type ChunkListResponse =
  paths['/api/files/chunks']['get']['responses'][200]['content']['application/json']
type Chunk = ChunkListResponse['chunks'][number]

const PER_PAGE = 50
const STATES: Record<File['state'], { readonly text: MessageKey; readonly tone: Tone }> = {
  indexed: { text: 'files.stateIndexed', tone: 'good' },
  partial: { text: 'files.statePartial', tone: 'warn' },
  skipped: { text: 'files.stateSkipped', tone: 'bad' },
}

/** `version` changes with every scan and is part of the query keys, so that the list refreshes. */
export function FileList({
  owner,
  root,
  label,
  version,
}: {
  owner: string
  root: string
  label: string
  version: string
}) {
  const { t } = useI18n()
  const files = useInfiniteQuery({
    queryKey: ['files', owner, 'list', root, version],
    queryFn: ({ pageParam }) => {
      const query = { owner, root, limit: PER_PAGE, ...cursorParam(pageParam) }
      return data(api.GET('/api/files', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const rows = files.data?.pages.flatMap((page) => page.files)
  return (
    <PagedList query={files}>
      {rows?.length === 0 ? (
        <p className={styles.faint}>{t('files.noFilesYet')}</p>
      ) : (
        <ul className={styles.files} aria-label={t('files.filesOf', { path: label })}>
          {rows?.map((file) => (
            <FileRow key={file.path} owner={owner} file={file} version={version} />
          ))}
        </ul>
      )}
    </PagedList>
  )
}

function FileRow({ owner, file, version }: { owner: string; file: File; version: string }) {
  const { t, ago } = useI18n()
  const [search, change] = useSearchParams()
  const { path, state, chunks, modifiedAt, problem } = file
  const isOpen = textParam(search, 'file') === path
  return (
    <li>
      <div className={styles.file}>
        {chunks === 0 ? (
          <span className={styles.name}>{path}</span>
        ) : (
          <button
            type="button"
            className={styles.name}
            aria-expanded={isOpen}
            onClick={() => change({ file: isOpen ? undefined : path }, { isPush: true })}
          >
            <Icon name="next" size={14} />
            {path}
          </button>
        )}
        <Chip tone={STATES[state].tone}>{t(STATES[state].text)}</Chip>
        <span className={styles.faint}>{t('files.chunks', { count: chunks })}</span>
        {modifiedAt !== null && (
          <span className={styles.faint}>{t('files.modifiedAt', { when: ago(modifiedAt) })}</span>
        )}
      </div>
      {problem !== null && <p className={styles.problem}>{problem.message}</p>}
      {isOpen && <FileChunks owner={owner} path={path} version={version} />}
    </li>
  )
}

function FileChunks({ owner, path, version }: { owner: string; path: string; version: string }) {
  const { t } = useI18n()
  const chunks = useInfiniteQuery({
    queryKey: ['files', owner, 'chunks', path, version],
    queryFn: ({ pageParam }) => {
      const query = { owner, path, limit: PER_PAGE, ...cursorParam(pageParam) }
      return data(api.GET('/api/files/chunks', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  return (
    <PagedList query={chunks}>
      <ol className={styles.pieces} aria-label={t('files.chunksOf', { path })}>
        {chunks.data?.pages
          .flatMap((page) => page.chunks)
          .map((piece) => (
            <ChunkRow key={`${piece.startLine}:${piece.text}`} path={path} piece={piece} />
          ))}
      </ol>
    </PagedList>
  )
}

function ChunkRow({ path, piece }: { path: string; piece: Chunk }) {
  const { t } = useI18n()
  const [, change] = useSearchParams()
  const { startLine: first, endLine: last, headings, text, hasVector } = piece
  const openCitation = () => change({ open: citationOf({ path, ...piece }) }, { isPush: true })
  return (
    <li className={styles.piece}>
      <div className={styles.file}>
        <Button isSmall look="quiet" onClick={openCitation}>
          {t('files.lines', { first, last })}
        </Button>
        {headings.length > 0 && <span className={styles.faint}>{headings.join(' › ')}</span>}
        {!hasVector && <Chip>{t('files.noVector')}</Chip>}
      </div>
      <p className={styles.text}>{text}</p>
    </li>
  )
}

type PagedQuery = ComponentProps<typeof LoadMore>['query'] & {
  readonly data: unknown
  readonly refetch: () => unknown
}

function PagedList({ query, children }: { query: PagedQuery; children: ReactNode }) {
  if (query.data === undefined) {
    return query.error === null ? (
      <LoadingState lines={3} />
    ) : (
      <ErrorState error={query.error} onRetry={() => void query.refetch()} />
    )
  }
  return (
    <>
      {children}
      <LoadMore query={query} />
    </>
  )
}

function cursorParam(cursor: string): { after?: string } {
  return cursor === '' ? {} : { after: cursor }
}
