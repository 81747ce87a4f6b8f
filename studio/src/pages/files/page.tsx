import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useMutations } from '../../app/mutations.ts'
import { useOwner } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { EmptyState, Notice, Page, QueryResult, Stat, Stats } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { AddFiles } from './add-files-dialog.tsx'
import { FileSearch } from './file-search.tsx'
import { Roots } from './roots.tsx'

export type FileStatus =
  paths['/api/files/status']['get']['responses'][200]['content']['application/json']

const WATCH_MODE_LABELS: Record<FileStatus['watching']['mode'], MessageKey> = {
  events: 'files.watchingEvents',
  polling: 'files.watchingPolling',
  off: 'files.watchingManual',
}

export function FilesPage() {
  const { t } = useI18n()
  const { can } = useSession()
  const owner = useOwner()
  const [isAdding, setAdding] = useState(false)
  const status = useQuery({
    queryKey: ['files', owner, 'status'],
    queryFn: () => data(api.GET('/api/files/status', { params: { query: { owner } } })),
    // Changes on disk emit no event.
    refetchInterval: 10_000,
  })
  const hasRoots = (status.data?.roots.length ?? 0) > 0
  return (
    <Page
      title={t('files.title')}
      description={t('files.description')}
      actions={
        <>
          {hasRoots && can('write') && <ScanActions owner={owner} />}
          {can('manage') && (
            <Button look="primary" icon="add" onClick={() => setAdding(true)}>
              {t('files.add')}
            </Button>
          )}
        </>
      }
    >
      <QueryResult query={status} lines={8}>
        {(loaded) =>
          loaded.roots.length === 0 ? (
            <EmptyState title={t('files.empty')} icon="files">
              {t(can('manage') ? 'files.emptyHelp' : 'files.emptyReadOnly')}
            </EmptyState>
          ) : (
            <>
              <FileStats status={loaded} />
              {loaded.rebuilding !== null && (
                <Notice>
                  {t('files.rebuilding', {
                    done: loaded.rebuilding.filesDone,
                    total: loaded.rebuilding.filesTotal,
                  })}
                </Notice>
              )}
              <FileSearch owner={owner} />
              <Roots owner={owner} roots={loaded.roots} />
            </>
          )
        }
      </QueryResult>
      {isAdding && <AddFiles owner={owner} onClose={() => setAdding(false)} />}
    </Page>
  )
}

function FileStats({ status }: { status: FileStatus }) {
  const { t, number } = useI18n()
  const { memory, sessions } = status.sources
  const { mode, reason } = status.watching
  return (
    <Stats>
      <Stat name={t('files.statFiles')} value={number(memory.files + sessions.files)} />
      <Stat name={t('files.statChunks')} value={number(memory.chunks + sessions.chunks)} />
      <Stat name={t('files.statNotEmbedded')} value={number(status.withoutVector)} />
      <Stat
        name={t('files.statWatching')}
        value={t(WATCH_MODE_LABELS[mode])}
        isText
        {...(reason === null ? {} : { note: reason })}
      />
    </Stats>
  )
}

function ScanActions({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { can } = useSession()
  const showToast = useToast()
  const { attempt } = useMutations(owner, ['files'])
  const [isBusy, setBusy] = useState(false)
  const [isConfirming, setConfirming] = useState(false)
  const scan = async (force: boolean) => {
    setBusy(true)
    const done = await attempt(() => data(api.POST('/api/files/sync', { body: { owner, force } })))
    setBusy(false)
    if (done === null) return
    const { added, changed, moved, removed } = done
    showToast({ text: t('files.scanResult', { added, changed, moved, removed }) })
  }
  return (
    <>
      <Button icon="restore" isBusy={isBusy} onClick={() => void scan(false)}>
        {t('files.scan')}
      </Button>
      {can('manage') && (
        <Button disabled={isBusy} onClick={() => setConfirming(true)}>
          {t('files.rebuild')}
        </Button>
      )}
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('files.rebuildTitle')}
        description={t('files.rebuildHelp')}
        action={t('files.rebuild')}
        isDangerous={false}
        onConfirm={() => {
          void scan(true)
        }}
      />
    </>
  )
}
