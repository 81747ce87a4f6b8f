/** Everything about one memory: what it says, what it said before, where it comes from, where it was used. */
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, data, type Memory } from '../../api/client.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button } from '../../ui/button.tsx'
import { Confirm, Dialog } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Chip, Empty, Loaded } from '../../ui/surface.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import styles from './drawer.module.css'
import { useActions, useHistory, useMemory } from './queries.ts'

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
      title={memory?.key ?? memory?.category ?? t('memories.title')}
      {...(memory === undefined
        ? {}
        : { footer: <Actions owner={owner} memory={memory} onEdit={onEdit} /> })}
    >
      <Loaded query={query}>
        {({ memory: loaded }) => <Parts owner={owner} memory={loaded} onOpen={onOpen} />}
      </Loaded>
    </Dialog>
  )
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
      <p className={styles.content}>{memory.content}</p>
      <Tabs<Part>
        label={t('memories.about')}
        chosen={part}
        onChoose={setPart}
        tabs={[
          {
            name: 'about',
            text: t('memories.about'),
            content: <About memory={memory} onOpen={onOpen} />,
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
}: {
  owner: string
  memory: Memory
  onEdit: (memory: Memory) => void
}) {
  const { t } = useI18n()
  const { may } = useSession()
  const actions = useActions(owner)
  const [asked, setAsked] = useState<'forget' | 'erase' | null>(null)
  const isActive = memory.status === 'active'
  if (!may('curate')) return null
  return (
    <>
      {isActive ? (
        <>
          <Button icon="pin" onClick={() => void actions.pin(memory)}>
            {t(memory.pinned ? 'memories.unpin' : 'memories.pin')}
          </Button>
          <Button icon="disable" onClick={() => void actions.disable(memory.id)}>
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
          <Button icon="forget" onClick={() => setAsked('erase')}>
            {t('memories.erase')}
          </Button>
          <Button look="primary" icon="restore" onClick={() => void actions.restore(memory.id)}>
            {t('memories.restore')}
          </Button>
        </>
      )}
      <Confirm
        isOpen={asked === 'forget'}
        onClose={() => setAsked(null)}
        title={t('memories.forgetTitle', { count: 1 })}
        description={t('memories.forgetHelp', { days: 30 })}
        action={t('memories.forget')}
        onConfirm={() => actions.forget([memory.id])}
      />
      <Confirm
        isOpen={asked === 'erase'}
        onClose={() => setAsked(null)}
        title={t('memories.eraseTitle')}
        description={t('memories.eraseHelp')}
        action={t('memories.erase')}
        onConfirm={() => actions.erase(memory.id)}
      />
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

function About({ memory, onOpen }: { memory: Memory; onOpen: (id: string) => void }) {
  const { t, number, time, day } = useI18n()
  const link = (id: string) => (
    <button type="button" className={styles.link} onClick={() => onOpen(id)}>
      {id}
    </button>
  )
  return (
    <dl className={styles.facts}>
      <Fact name={t('memories.category')}>{memory.category}</Fact>
      <Fact name={t('memories.type')}>{memory.type}</Fact>
      <Fact name={t('memories.status')}>{memory.status}</Fact>
      <Fact name={t('memories.trust')}>{memory.trust}</Fact>
      <Fact name={t('memories.importance')}>{number(memory.importance)}</Fact>
      <Fact name={t('memories.salience')}>
        {number(memory.salience, { maximumFractionDigits: 2 })}
      </Fact>
      <Fact name={t('memories.timesStated')}>
        {t('memories.times', { count: memory.sourceCount })}
      </Fact>
      <Fact name={t('memories.timesUsed')}>
        {t('memories.times', { count: memory.accessCount })}
      </Fact>
      <Fact name={t('memories.created')}>{time(memory.createdAt)}</Fact>
      <Fact name={t('memories.lastUsed')}>
        {memory.lastAccessedAt === null ? t('common.never') : time(memory.lastAccessedAt)}
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
      {memory.entities.length > 0 && (
        <Fact name={t('memories.entities')}>
          <span className={styles.chips}>
            {memory.entities.map((entity) => (
              <Chip key={entity}>{entity}</Chip>
            ))}
          </span>
        </Fact>
      )}
    </dl>
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
          {[...versions].reverse().map(({ memory: version, replacedAt }, index, newestFirst) => {
            const before = newestFirst[index + 1]?.memory
            return (
              <li key={version.version} className={styles.version}>
                <header>
                  <strong>{version.version}</strong>
                  <span>{time(version.updatedAt)}</span>
                  {replacedAt === null ? (
                    <Chip tone="good">{t('memories.inForce')}</Chip>
                  ) : (
                    may('curate') && (
                      <Button
                        isSmall
                        icon="restore"
                        onClick={() => void actions.restore(memory.id, version.version)}
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

const COMPARED = ['key', 'category', 'type', 'importance', 'status', 'trust', 'pinned'] as const

/** What has changed besides the words. */
function Changed({ before, after }: { before: Memory | undefined; after: Memory }) {
  if (before === undefined) return null
  const changed = COMPARED.filter((name) => before[name] !== after[name])
  if (changed.length === 0) return null
  return (
    <p className={styles.chips}>
      {changed.map((name) => (
        <Chip key={name}>
          {name}: {String(before[name])} → {String(after[name])}
        </Chip>
      ))}
    </p>
  )
}

function Provenance({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const { provenance } = memory
  const receipts = useQuery({
    queryKey: ['receipts', owner, 'uses'],
    queryFn: () => data(api.GET('/api/receipts', { params: { query: { owner, limit: 100 } } })),
  })
  const uses = (receipts.data?.receipts ?? []).filter(({ injected }) =>
    injected?.memories.includes(memory.id),
  )
  return (
    <div className={styles.provenance}>
      <dl className={styles.facts}>
        <Fact name={t('memories.source')}>{provenance.source}</Fact>
        {provenance.extractor !== null && (
          <Fact name="Extractor">
            {provenance.extractor} {provenance.extractorVersion}
          </Fact>
        )}
        <Fact name={t('memories.turns')}>
          {memory.sessionId === '' ? (
            t('memories.noTurns')
          ) : (
            <a
              href={`/studio/sessions?${new URLSearchParams({
                owner,
                session: memory.sessionId,
                ...(provenance.turns[0] === undefined ? {} : { turn: provenance.turns[0] }),
              })}`}
            >
              {memory.sessionId}
            </a>
          )}
        </Fact>
      </dl>
      <h3>{t('memories.usedIn')}</h3>
      {uses.length === 0 ? (
        <Empty title={t('memories.notUsed')} icon="receipts" />
      ) : (
        <ul className={styles.uses}>
          {uses.map(({ id, at, model }) => (
            <li key={id}>
              <a href={`/studio/receipts?${new URLSearchParams({ owner, receipt: id })}`}>
                {time(at)}
              </a>{' '}
              {model}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
