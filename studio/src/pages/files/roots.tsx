import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { textParam, useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Chip } from '../../ui/layout.tsx'
import { useToast } from '../../ui/toast.tsx'
import { FileList } from './file-list.tsx'
import styles from './page.module.css'
import type { FileStatus } from './page.tsx'

type Root = FileStatus['roots'][number]

/** Longer lists are not useful. */
const PROBLEMS_SHOWN_MAX = 50

export function Roots({ owner, roots }: { owner: string; roots: readonly Root[] }) {
  const { t } = useI18n()
  return (
    <Card title={t('files.roots')} isFlush>
      <ul>
        {roots.map((root) => (
          <RootRow key={root.id} owner={owner} root={root} />
        ))}
      </ul>
    </Card>
  )
}

function RootRow({ owner, root }: { owner: string; root: Root }) {
  const { t, ago } = useI18n()
  const { can } = useSession()
  const showToast = useToast()
  const { attempt } = useMutations(owner, ['files'])
  const [search, change] = useSearchParams()
  const [isConfirming, setConfirming] = useState(false)
  const isShown = textParam(search, 'root') === root.id
  const label = root.path ?? (root.name === '' ? root.kind : root.name)
  const remove = async () => {
    const done = await attempt(() =>
      data(
        api.DELETE('/api/files/roots/{id}', {
          params: { path: { id: root.id }, query: { owner } },
        }),
      ),
    )
    if (done !== null) showToast({ text: t('files.removed') })
  }
  return (
    <li className={styles.root}>
      <div className={styles.rootHead}>
        <Chip tone="accent">{root.kind}</Chip>
        <code className={styles.path}>{label}</code>
        <span className={styles.faint}>
          {t('files.filesAndChunks', { files: root.files, chunks: root.chunks })}
        </span>
        <span className={styles.faint}>
          {root.lastSyncAt === null
            ? t('files.neverScanned')
            : t('files.lastScan', { when: ago(root.lastSyncAt) })}
        </span>
        {root.dirty && <Chip>{t('files.changesPending')}</Chip>}
        <Button
          isSmall
          aria-expanded={isShown}
          onClick={() =>
            change({ root: isShown ? undefined : root.id, file: undefined }, { isPush: true })
          }
        >
          {t(isShown ? 'files.hideFiles' : 'files.showFiles')}
        </Button>
        {can('manage') && (
          <Button isSmall icon="forget" onClick={() => setConfirming(true)}>
            {t('files.remove')}
          </Button>
        )}
      </div>
      {root.problems.length > 0 && (
        <details className={styles.troubles}>
          <summary>
            <Chip tone="warn">{t('files.problems', { count: root.problems.length })}</Chip>
          </summary>
          <ul>
            {root.problems.slice(0, PROBLEMS_SHOWN_MAX).map(({ path, reason, message }) => (
              <li key={`${path}:${reason}`}>
                <code>{path === '' ? label : path}</code> {message}
              </li>
            ))}
          </ul>
        </details>
      )}
      {isShown && (
        <FileList
          owner={owner}
          root={root.id}
          label={label}
          version={`${root.lastSyncAt} ${root.files} ${root.chunks}`}
        />
      )}
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('files.removeTitle', { path: label })}
        description={t('files.removeHelp')}
        action={t('files.remove')}
        onConfirm={remove}
      />
    </li>
  )
}
