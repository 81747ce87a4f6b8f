import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useActing } from '../../app/mutations.ts'
import { useOwner } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Empty, Loaded, Notice, Page, Stat, Stats } from '../../ui/layout.tsx'
import { useTell } from '../../ui/toast.tsx'
import { AddFiles } from './add-files-dialog.tsx'
import { Roots } from './roots.tsx'
import { FileSearch } from './file-search.tsx'

export type FileStatus =
  paths['/api/files/status']['get']['responses'][200]['content']['application/json']

const WATCHING: Record<FileStatus['watching']['mode'], MessageKey> = {
  events: 'files.watchingEvents',
  polling: 'files.watchingPolling',
  off: 'files.watchingManual',
}

export function FilesPage() {
  const { t } = useI18n()
  const { may } = useSession()
  const owner = useOwner()
  const [isAdding, setAdding] = useState(false)
  const status = useQuery({
    queryKey: ['files', owner, 'status'],
    queryFn: () => data(api.GET('/api/files/status', { params: { query: { owner } } })),
    // Edits on the disk are told to nobody.
    refetchInterval: 10_000,
  })
  const hasRoots = (status.data?.roots.length ?? 0) > 0
  return (
    <Page
      title={t('files.title')}
      description={t('files.description')}
      actions={
        <>
          {hasRoots && may('write') && <Looking owner={owner} />}
          {may('manage') && (
            <Button look="primary" icon="add" onClick={() => setAdding(true)}>
              {t('files.add')}
            </Button>
          )}
        </>
      }
    >
      <Loaded query={status} lines={8}>
        {(found) =>
          found.roots.length === 0 ? (
            <Empty title={t('files.empty')} icon="files">
              {t(may('manage') ? 'files.emptyHelp' : 'files.emptyReadOnly')}
            </Empty>
          ) : (
            <>
              <Numbers status={found} />
              {found.rebuilding !== null && (
                <Notice>
                  {t('files.rebuilding', {
                    done: found.rebuilding.filesDone,
                    total: found.rebuilding.filesTotal,
                  })}
                </Notice>
              )}
              <FileSearch owner={owner} />
              <Roots owner={owner} roots={found.roots} />
            </>
          )
        }
      </Loaded>
      {isAdding && <AddFiles owner={owner} onClose={() => setAdding(false)} />}
    </Page>
  )
}

function Numbers({ status }: { status: FileStatus }) {
  const { t, number } = useI18n()
  const { memory, sessions } = status.sources
  const { mode, because } = status.watching
  return (
    <Stats>
      <Stat name={t('files.statFiles')} value={number(memory.files + sessions.files)} />
      <Stat name={t('files.statChunks')} value={number(memory.chunks + sessions.chunks)} />
      <Stat name={t('files.statNotEmbedded')} value={number(status.unembedded)} />
      <Stat
        name={t('files.statWatching')}
        value={t(WATCHING[mode])}
        isWords
        {...(because === null ? {} : { note: because })}
      />
    </Stats>
  )
}

function Looking({ owner }: { owner: string }) {
  const { t } = useI18n()
  const { may } = useSession()
  const tell = useTell()
  const { attempt } = useActing(owner, ['files'])
  const [isBusy, setBusy] = useState(false)
  const [isAsking, setAsking] = useState(false)
  const look = async (force: boolean) => {
    setBusy(true)
    const done = await attempt(() => data(api.POST('/api/files/sync', { body: { owner, force } })))
    setBusy(false)
    if (done === null) return
    const { added, changed, moved, removed } = done
    tell({ text: t('files.scanResult', { added, changed, moved, removed }) })
  }
  return (
    <>
      <Button icon="restore" isBusy={isBusy} onClick={() => void look(false)}>
        {t('files.scan')}
      </Button>
      {may('manage') && (
        <Button disabled={isBusy} onClick={() => setAsking(true)}>
          {t('files.rebuild')}
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t('files.rebuildTitle')}
        description={t('files.rebuildHelp')}
        action={t('files.rebuild')}
        isDangerous={false}
        onConfirm={() => {
          void look(true)
        }}
      />
    </>
  )
}
