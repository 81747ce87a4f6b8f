/** Everything about one memory: what it says, what it said before, where it comes from, where it was used. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Fact, Facts, Said, WordsFact } from '../../ui/detail-list.tsx'
import { Chip, Empty, Loaded, LoadedInline } from '../../ui/layout.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { Changed } from './field-changes.tsx'
import styles from './drawer.module.css'
import {
  useActions,
  useBinDays,
  useHistory,
  useMemory,
  useUses,
  useVectorState,
} from './queries.ts'
import { isMade } from './memory-fields.ts'

type Part = 'about' | 'history' | 'provenance'

export function MemoryDrawer({
  owner,
  id,
  onClose,
  onOpen,
  onEdit,
}: {
  owner: string
  id: string | null
  onClose: () => void
  onOpen: (id: string) => void
  onEdit: (memory: Memory) => void
}) {
  const { t } = useI18n()
  const query = useMemory(owner, id)
  const memory = query.data?.memory
  return (
    <Dialog
      shape="drawer"
      isOpen={id !== null}
      onClose={onClose}
      title={memory === undefined ? t('memories.title') : titleOf(memory)}
      {...(memory === undefined
        ? {}
        : {
            footer: <Actions owner={owner} memory={memory} onEdit={onEdit} onErased={onClose} />,
          })}
    >
      <Loaded query={query}>
        {({ memory: loaded }) => <Parts owner={owner} memory={loaded} onOpen={onOpen} />}
      </Loaded>
    </Dialog>
  )
}

/** Its name, unless the server has made that. */
function titleOf({ key, category }: Memory): string {
  if (key !== null && !isMade(key)) return key
  return category.charAt(0).toUpperCase() + category.slice(1)
}

function Parts({
  owner,
  memory,
  onOpen,
}: {
  owner: string
  memory: Memory
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const [part, setPart] = useState<Part>('about')
  return (
    <>
      <Said>{memory.content}</Said>
      <Tabs<Part>
        label={t('memories.details')}
        chosen={part}
        onChoose={setPart}
        tabs={[
          {
            name: 'about',
            text: t('memories.details'),
            content: <About owner={owner} memory={memory} onOpen={onOpen} />,
          },
          {
            name: 'history',
            text: t('memories.history'),
            content: part === 'history' && <History owner={owner} memory={memory} />,
          },
          {
            name: 'provenance',
            text: t('memories.provenance'),
            content: part === 'provenance' && <Provenance owner={owner} memory={memory} />,
          },
        ]}
      />
    </>
  )
}

function Actions({
  owner,
  memory,
  onEdit,
  onErased,
}: {
  owner: string
  memory: Memory
  onEdit: (memory: Memory) => void
  onErased: () => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const actions = useActions(owner)
  const [asked, setAsked] = useState<'forget' | 'erase' | null>(null)
  const days = useBinDays(owner)
  const isActive = memory.status === 'active'
  if (!may('write')) return null
  return (
    <>
      {isActive ? (
        <>
          <Button icon="pin" onClick={() => void actions.pin([memory.id], !memory.pinned)}>
            {t(memory.pinned ? 'memories.unpin' : 'memories.pin')}
          </Button>
          <Button icon="disable" onClick={() => void actions.disable([memory.id])}>
            {t('memories.disable')}
          </Button>
          <Button icon="forget" onClick={() => setAsked('forget')}>
            {t('memories.forget')}
          </Button>
          <Button look="primary" icon="edit" onClick={() => onEdit(memory)}>
            {t('memories.edit')}
          </Button>
        </>
      ) : (
        <>
          {may('curate') && (
            <Button icon="forget" onClick={() => setAsked('erase')}>
              {t('memories.erase')}
            </Button>
          )}
          <Button look="primary" icon="restore" onClick={() => void actions.restore([memory.id])}>
            {t('memories.restore')}
          </Button>
        </>
      )}
      <Confirm
        isOpen={asked === 'forget'}
        onClose={() => setAsked(null)}
        title={t('memories.forgetTitle', { count: 1 })}
        description={t('memories.forgetHelp', { days })}
        action={t('memories.forget')}
        onConfirm={() => actions.forget([memory.id])}
      />
      <Confirm
        isOpen={asked === 'erase'}
        onClose={() => setAsked(null)}
        title={t('memories.eraseTitle')}
        description={t('memories.eraseHelp')}
        action={t('memories.erase')}
        onConfirm={async () => {
          if (await actions.erase(memory.id)) onErased()
        }}
      />
    </>
  )
}

function About({
  owner,
  memory,
  onOpen,
}: {
  owner: string
  memory: Memory
  onOpen: (id: string) => void
}) {
  const { t, number, time, day } = useI18n()
  const vector = useVectorState(owner, memory)
  const link = (id: string) => (
    <button type="button" className={styles.link} onClick={() => onOpen(id)}>
      {id}
    </button>
  )
  return (
    <Facts>
      <Fact name={t('memories.category')}>{memory.category}</Fact>
      <Fact name={t('memories.type')}>{memory.type}</Fact>
      <Fact name={t('memories.status')}>{memory.status}</Fact>
      <Fact name={t('memories.trust')}>{memory.trust}</Fact>
      <Fact name={t('memories.importance')}>{number(memory.importance)}</Fact>
      <Fact name={t('memories.salience')}>
        {number(memory.salience, { maximumFractionDigits: 2 })}
      </Fact>
      <Fact name={t('memories.timesObserved')}>
        {t('memories.times', { count: memory.sourceCount })}
      </Fact>
      <Fact name={t('memories.timesUsed')}>
        {t('memories.times', { count: memory.accessCount })}
      </Fact>
      <Fact name={t('memories.created')}>{time(memory.createdAt)}</Fact>
      <Fact name={t('memories.lastUsed')}>
        {memory.lastAccessedAt === null ? t('common.never') : time(memory.lastAccessedAt)}
      </Fact>
      <Fact name={t('memories.vector')}>
        <LoadedInline query={vector}>
          {({ hasVector, dimensions, because }) =>
            hasVector ? t('memories.dimensions', { count: dimensions ?? 0 }) : because
          }
        </LoadedInline>
      </Fact>
      {memory.user !== null && <Fact name={t('memories.user')}>{memory.user}</Fact>}
      {memory.validFrom !== null && (
        <Fact name={t('memories.validFrom')}>{day(memory.validFrom)}</Fact>
      )}
      {memory.validUntil !== null && (
        <Fact name={t('memories.validUntil')}>{day(memory.validUntil)}</Fact>
      )}
      {memory.expiresAt !== null && (
        <Fact name={t('memories.expires')}>{time(memory.expiresAt)}</Fact>
      )}
      {memory.supersededBy !== null && (
        <Fact name={t('memories.supersededBy')}>{link(memory.supersededBy)}</Fact>
      )}
      {memory.conflictsWith !== null && (
        <Fact name={t('memories.conflictsWith')}>{link(memory.conflictsWith)}</Fact>
      )}
      <WordsFact name={t('memories.entities')} words={memory.entities} />
    </Facts>
  )
}

function History({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const { may } = useSession()
  const query = useHistory(owner, memory.id)
  const actions = useActions(owner)
  return (
    <Loaded query={query}>
      {({ versions }) => (
        <ol className={styles.versions}>
          {versions.map(({ memory: version, replacedAt }, index) => {
            const before = versions[index + 1]?.memory // the newest comes first
            return (
              <li key={version.version} className={styles.version}>
                <header>
                  <strong>{version.version}</strong>
                  <span>{time(version.updatedAt)}</span>
                  {replacedAt === null ? (
                    <Chip tone="good">{t('memories.currentVersion')}</Chip>
                  ) : (
                    may('write') && (
                      <Button
                        isSmall
                        icon="restore"
                        onClick={() => void actions.restoreVersion(memory.id, version.version)}
                      >
                        {t('memories.restoreVersion')}
                      </Button>
                    )
                  )}
                </header>
                <Diff before={before?.content ?? ''} after={version.content} />
                <Changed before={before} after={version} />
              </li>
            )
          })}
        </ol>
      )}
    </Loaded>
  )
}

function Provenance({ owner, memory }: { owner: string; memory: Memory }) {
  const { t } = useI18n()
  const { provenance } = memory
  return (
    <div className={styles.provenance}>
      <Facts>
        <Fact name={t('memories.source')}>{provenance.source}</Fact>
        {provenance.extractor !== null && (
          <Fact name={t('memories.extractor')}>
            {provenance.extractor} {provenance.extractorVersion}
          </Fact>
        )}
        <Fact name={t('memories.sourceSession')}>
          {memory.sessionId === '' ? (
            t('memories.noSourceSession')
          ) : (
            <Link
              to="/studio/sessions"
              search={{ owner, session: memory.sessionId, turn: provenance.turns[0] } as never} // read by that page
            >
              {memory.sessionId}
            </Link>
          )}
        </Fact>
      </Facts>
      <h3>{t('memories.usedIn')}</h3>
      <Uses owner={owner} memory={memory} />
    </div>
  )
}

function Uses({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const query = useUses(owner, memory.id)
  return (
    <Loaded query={query}>
      {({ pages }) => {
        const uses = pages.flatMap(({ receipts }) => receipts)
        return (
          <>
            {uses.length === 0 && !query.hasNextPage && (
              <Empty title={t('memories.notUsed')} icon="receipts" />
            )}
            <ul className={styles.uses}>
              {uses.map(({ id, at, model }) => (
                <li key={id}>
                  <Link to="/studio/receipts" search={{ owner, receipt: id } as never}>
                    {time(at)}
                  </Link>{' '}
                  {model}
                </li>
              ))}
            </ul>
            {query.hasNextPage && (
              <Button
                isSmall
                isBusy={query.isFetchingNextPage}
                onClick={() => void query.fetchNextPage()}
              >
                {t('common.showMore')}
              </Button>
            )}
          </>
        )
      }}
    </Loaded>
  )
}
