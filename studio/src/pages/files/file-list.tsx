/** What is indexed of a root: its files with their state, and what each was cut into. */
import { useInfiniteQuery } from '@tanstack/react-query'
import type { ComponentProps, ReactNode } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { textIn, usePageSearch } from '../../app/search-params.ts'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Chip, Failure, Loading, type Tone } from '../../ui/layout.tsx'
import styles from './file-list.module.css'
import { citationOf } from './file-search.tsx'

type Listed = paths['/api/files']['get']['responses'][200]['content']['application/json']
type File = Listed['files'][number]
type Pieces = paths['/api/files/pieces']['get']['responses'][200]['content']['application/json']
type Piece = Pieces['pieces'][number]

const PER_PAGE = 50
const STATES: Record<File['state'], { readonly text: MessageKey; readonly tone: Tone }> = {
  indexed: { text: 'files.stateIndexed', tone: 'good' },
  partly: { text: 'files.statePartial', tone: 'warn' },
  left_out: { text: 'files.stateSkipped', tone: 'bad' },
}

/** `version` is another after every look, so that what is shown follows it. */
export function ListedFiles({
  owner,
  root,
  named,
  version,
}: {
  owner: string
  root: string
  named: string
  version: string
}) {
  const { t } = useI18n()
  const files = useInfiniteQuery({
    queryKey: ['files', owner, 'list', root, version],
    queryFn: ({ pageParam }) => {
      const query = { owner, root, limit: PER_PAGE, ...after(pageParam) }
      return data(api.GET('/api/files', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  const listed = files.data?.pages.flatMap((page) => page.files)
  return (
    <Paged query={files}>
      {listed?.length === 0 ? (
        <p className={styles.faint}>{t('files.noFilesYet')}</p>
      ) : (
        <ul className={styles.files} aria-label={t('files.filesOf', { path: named })}>
          {listed?.map((file) => (
            <FileRow key={file.path} owner={owner} file={file} version={version} />
          ))}
        </ul>
      )}
    </Paged>
  )
}

function FileRow({ owner, file, version }: { owner: string; file: File; version: string }) {
  const { t, ago } = useI18n()
  const [search, change] = usePageSearch()
  const { path, state, pieces, modifiedAt, trouble } = file
  const isOpen = textIn(search, 'file') === path
  return (
    <li>
      <div className={styles.file}>
        {pieces === 0 ? (
          <span className={styles.name}>{path}</span>
        ) : (
          <button
            type="button"
            className={styles.name}
            aria-expanded={isOpen}
            onClick={() => change({ file: isOpen ? undefined : path }, { isStep: true })}
          >
            <Icon name="next" size={14} />
            {path}
          </button>
        )}
        <Chip tone={STATES[state].tone}>{t(STATES[state].text)}</Chip>
        <span className={styles.faint}>{t('files.chunks', { count: pieces })}</span>
        {modifiedAt !== null && (
          <span className={styles.faint}>{t('files.modifiedAt', { when: ago(modifiedAt) })}</span>
        )}
      </div>
      {trouble !== null && <p className={styles.trouble}>{trouble.message}</p>}
      {isOpen && <FilePieces owner={owner} path={path} version={version} />}
    </li>
  )
}

function FilePieces({ owner, path, version }: { owner: string; path: string; version: string }) {
  const { t } = useI18n()
  const pieces = useInfiniteQuery({
    queryKey: ['files', owner, 'pieces', path, version],
    queryFn: ({ pageParam }) => {
      const query = { owner, path, limit: PER_PAGE, ...after(pageParam) }
      return data(api.GET('/api/files/pieces', { params: { query } }))
    },
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: (before) => before,
  })
  return (
    <Paged query={pieces}>
      <ol className={styles.pieces} aria-label={t('files.chunksOf', { path })}>
        {pieces.data?.pages
          .flatMap((page) => page.pieces)
          .map((piece) => (
            <PieceRow key={`${piece.startLine}:${piece.text}`} path={path} piece={piece} />
          ))}
      </ol>
    </Paged>
  )
}

function PieceRow({ path, piece }: { path: string; piece: Piece }) {
  const { t } = useI18n()
  const [, change] = usePageSearch()
  const { startLine: first, endLine: last, headings, text, hasVector } = piece
  const open = () => change({ open: citationOf({ path, ...piece }) }, { isStep: true })
  return (
    <li className={styles.piece}>
      <div className={styles.file}>
        <Button isSmall look="quiet" onClick={open}>
          {t('files.lines', { first, last })}
        </Button>
        {headings.length > 0 && <span className={styles.faint}>{headings.join(' › ')}</span>}
        {!hasVector && <Chip>{t('files.noVector')}</Chip>}
      </div>
      <p className={styles.text}>{text}</p>
    </li>
  )
}

type Paging = ComponentProps<typeof LoadMore>['query'] & {
  readonly data: unknown
  readonly refetch: () => unknown
}

function Paged({ query, children }: { query: Paging; children: ReactNode }) {
  if (query.data === undefined) {
    return query.error === null ? (
      <Loading lines={3} />
    ) : (
      <Failure error={query.error} onRetry={() => void query.refetch()} />
    )
  }
  return (
    <>
      {children}
      <LoadMore query={query} />
    </>
  )
}

function after(cursor: string): { after?: string } {
  return cursor === '' ? {} : { after: cursor }
}
