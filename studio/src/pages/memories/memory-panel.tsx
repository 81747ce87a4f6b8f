/** The side panel of a memory: details, version history, sources and usage, and what it replaced. */

import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api, data, type Memory } from '../../api/client.ts'
import { useCopy } from '../../app/clipboard.ts'
import { useSearchParams } from '../../app/search-params.ts'
import { useSession } from '../../app/session.tsx'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Detail, DetailList, TagsDetail, VerbatimText } from '../../ui/detail-list.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Diff } from '../../ui/diff.tsx'
import { Chip, EmptyState, InlineQueryResult, QueryResult } from '../../ui/layout.tsx'
import { SidePanel } from '../../ui/side-panel.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { FieldChanges } from './field-changes.tsx'
import { isGeneratedKey } from './memory-fields.ts'
import styles from './memory-panel.module.css'
import {
  useActions,
  useChain,
  useHistory,
  useMemory,
  useMemoryReceipts,
  useTrashDays,
  useVectorState,
} from './queries.ts'
import { SourceTurns } from './source-turns.tsx'
import { useValueName } from './value-names.ts'

const TABS = ['about', 'history', 'provenance', 'chain'] as const
type MemoryTab = (typeof TABS)[number]

export function MemoryPanel({
  owner,
  id,
  step,
  onClose,
  onOpen,
  onEdit,
}: {
  owner: string
  id: string | null
  /** Opens the next or previous memory of the list beside it. */
  step?: (by: 1 | -1) => void
  onClose: () => void
  onOpen: (id: string) => void
  onEdit: (memory: Memory) => void
}) {
  const { t } = useI18n()
  const query = useMemory(owner, id)
  const memory = query.data?.memory
  const lastId = useRef(id)
  if (id !== null) lastId.current = id
  return (
    <SidePanel
      isOpen={id !== null}
      onClose={onClose}
      onFocusReturn={() =>
        document.querySelector<HTMLElement>(`[data-memory="${lastId.current}"]`)?.focus()
      }
      title={memory === undefined ? t('memories.title') : titleOf(memory)}
      tools={
        id !== null && <Tools owner={owner} id={id} {...(step === undefined ? {} : { step })} />
      }
      {...(memory === undefined
        ? {}
        : {
            footer: <Actions owner={owner} memory={memory} onEdit={onEdit} onErased={onClose} />,
          })}
    >
      <QueryResult query={query}>
        {({ memory: loaded }) => (
          <MemoryTabs key={loaded.id} owner={owner} memory={loaded} onOpen={onOpen} />
        )}
      </QueryResult>
    </SidePanel>
  )
}

function Tools({ owner, id, step }: { owner: string; id: string; step?: (by: 1 | -1) => void }) {
  const { t } = useI18n()
  const copy = useCopy()
  const link = `${location.origin}/studio/memories?${new URLSearchParams({ owner, memory: id })}`
  return (
    <>
      {step !== undefined && (
        <>
          <IconButton icon="up" name={t('memories.previous')} onClick={() => step(-1)} />
          <IconButton icon="down" name={t('memories.next')} onClick={() => step(1)} />
        </>
      )}
      <IconButton icon="link" name={t('memories.copyLink')} onClick={() => void copy(link)} />
    </>
  )
}

/** The key, unless the server generated it. */
function titleOf({ key, category }: Memory): string {
  if (key !== null && !isGeneratedKey(key)) return key
  return category.charAt(0).toUpperCase() + category.slice(1)
}

function MemoryTabs({
  owner,
  memory,
  onOpen,
}: {
  owner: string
  memory: Memory
  onOpen: (id: string) => void
}) {
  const { t } = useI18n()
  const copy = useCopy()
  const [search, change] = useSearchParams()
  const tab = TABS.find((each) => each === search.panel) ?? 'about'
  return (
    <>
      <VerbatimText>{memory.content}</VerbatimText>
      <p className={styles.id}>
        <code>{memory.id}</code>
        <IconButton
          isSmall
          icon="copy"
          name={t('memories.copyId')}
          onClick={() => void copy(memory.id)}
        />
      </p>
      <Tabs<MemoryTab>
        label={t('memories.details')}
        value={tab}
        onValueChange={(chosen) => change({ panel: chosen === 'about' ? undefined : chosen })}
        tabs={[
          {
            name: 'about',
            text: t('memories.details'),
            content: <MemoryDetails owner={owner} memory={memory} onOpen={onOpen} />,
          },
          {
            name: 'history',
            text: t('memories.history'),
            content: tab === 'history' && <History owner={owner} memory={memory} />,
          },
          {
            name: 'provenance',
            text: t('memories.provenance'),
            content: tab === 'provenance' && <Provenance owner={owner} memory={memory} />,
          },
          {
            name: 'chain',
            text: t('memories.chain'),
            content: tab === 'chain' && <Chain owner={owner} memory={memory} onOpen={onOpen} />,
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
  const { can } = useSession()
  const actions = useActions(owner)
  const [confirming, setConfirming] = useState<'forget' | 'erase' | null>(null)
  const days = useTrashDays(owner)
  const isActive = memory.status === 'active'
  if (!can('write')) return null
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
          <Button icon="forget" onClick={() => setConfirming('forget')}>
            {t('memories.forget')}
          </Button>
          <Button look="primary" icon="edit" onClick={() => onEdit(memory)}>
            {t('memories.edit')}
          </Button>
        </>
      ) : (
        <>
          {can('curate') && (
            <Button icon="forget" onClick={() => setConfirming('erase')}>
              {t('memories.erase')}
            </Button>
          )}
          <Button look="primary" icon="restore" onClick={() => void actions.restore([memory.id])}>
            {t('memories.restore')}
          </Button>
        </>
      )}
      <Confirm
        isOpen={confirming === 'forget'}
        onClose={() => setConfirming(null)}
        title={t('memories.forgetTitle', { count: 1 })}
        description={t('memories.forgetHelp', { days })}
        action={t('memories.forget')}
        onConfirm={() => actions.forget([memory.id])}
      />
      <Confirm
        isOpen={confirming === 'erase'}
        onClose={() => setConfirming(null)}
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

function MemoryDetails({
  owner,
  memory,
  onOpen,
}: {
  owner: string
  memory: Memory
  onOpen: (id: string) => void
}) {
  const { t, number, time, day } = useI18n()
  const nameOf = useValueName()
  const vector = useVectorState(owner, memory)
  const memoryLink = (id: string) => (
    <button type="button" className={styles.link} onClick={() => onOpen(id)}>
      {id}
    </button>
  )
  return (
    <DetailList>
      <Detail name={t('memories.category')}>{nameOf(memory.category)}</Detail>
      <Detail name={t('memories.type')}>{nameOf(memory.type)}</Detail>
      <Detail name={t('memories.status')}>{nameOf(memory.status)}</Detail>
      <Detail name={t('memories.trust')}>{nameOf(memory.trust)}</Detail>
      <Detail name={t('memories.importance')}>{number(memory.importance)}</Detail>
      <Detail name={t('memories.salience')} info={t('memories.salienceHelp')}>
        {number(memory.salience, { maximumFractionDigits: 2 })}
      </Detail>
      <Detail name={t('memories.timesObserved')}>
        {t('memories.times', { count: memory.sourceCount })}
      </Detail>
      <Detail name={t('memories.timesUsed')}>
        {t('memories.times', { count: memory.accessCount })}
      </Detail>
      <Detail name={t('memories.created')}>{time(memory.createdAt)}</Detail>
      <Detail name={t('memories.lastUsed')}>
        {memory.lastAccessedAt === null ? t('common.never') : time(memory.lastAccessedAt)}
      </Detail>
      <Detail name={t('memories.vector')}>
        <InlineQueryResult query={vector}>
          {({ hasVector, dimensions, reason }) =>
            hasVector ? t('memories.dimensions', { count: dimensions ?? 0 }) : reason
          }
        </InlineQueryResult>
      </Detail>
      {memory.user !== null && <Detail name={t('memories.user')}>{memory.user}</Detail>}
      {memory.validFrom !== null && (
        <Detail name={t('memories.validFrom')}>{day(memory.validFrom)}</Detail>
      )}
      {memory.validUntil !== null && (
        <Detail name={t('memories.validUntil')}>{day(memory.validUntil)}</Detail>
      )}
      {memory.expiresAt !== null && (
        <Detail name={t('memories.expires')}>{time(memory.expiresAt)}</Detail>
      )}
      {memory.supersededBy !== null && (
        <Detail name={t('memories.supersededBy')}>{memoryLink(memory.supersededBy)}</Detail>
      )}
      {memory.conflictsWith !== null && (
        <Detail name={t('memories.conflictsWith')}>{memoryLink(memory.conflictsWith)}</Detail>
      )}
      <TagsDetail name={t('memories.entities')} tags={memory.entities} />
    </DetailList>
  )
}

/** What the memory replaced and what replaced it. */
function Chain({
  owner,
  memory,
  onOpen,
}: {
  owner: string
  memory: Memory
  onOpen: (id: string) => void
}) {
  const { t, day } = useI18n()
  const nameOf = useValueName()
  const query = useChain(owner, memory.id)
  return (
    <QueryResult query={query}>
      {({ memories }) =>
        memories.length < 2 ? (
          <p>{t('memories.chainEmpty')}</p>
        ) : (
          <>
            <p className={styles.soft}>{t('memories.chainHelp')}</p>
            <ol className={styles.versions}>
              {memories.map(({ id, content, status, createdAt, validFrom, validUntil }) => (
                <li key={id} className={styles.version}>
                  <header>
                    <span>{t('memories.chainFrom', { when: day(validFrom ?? createdAt) })}</span>
                    {validUntil !== null && (
                      <span>{t('memories.chainUntil', { when: day(validUntil) })}</span>
                    )}
                    <Chip tone={status === 'active' ? 'good' : 'plain'}>{nameOf(status)}</Chip>
                    {id === memory.id && <Chip tone="accent">{t('memories.chainThis')}</Chip>}
                  </header>
                  {id === memory.id ? (
                    <p>{content}</p>
                  ) : (
                    <button type="button" className={styles.text} onClick={() => onOpen(id)}>
                      {content}
                    </button>
                  )}
                </li>
              ))}
            </ol>
          </>
        )
      }
    </QueryResult>
  )
}

function History({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const { can } = useSession()
  const query = useHistory(owner, memory.id)
  const actions = useActions(owner)
  return (
    <QueryResult query={query}>
      {({ versions }) => (
        <ol className={styles.versions}>
          {versions.map(({ memory: version, replacedAt }, index) => {
            const before = versions[index + 1]?.memory // versions are sorted newest first
            return (
              <li key={version.version} className={styles.version}>
                <header>
                  <strong>{version.version}</strong>
                  <span>{time(version.updatedAt)}</span>
                  <VersionAuthor owner={owner} version={version} />
                  {replacedAt === null ? (
                    <Chip tone="good">{t('memories.currentVersion')}</Chip>
                  ) : (
                    can('write') && (
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
                <FieldChanges before={before} after={version} />
              </li>
            )
          })}
        </ol>
      )}
    </QueryResult>
  )
}

/** Versions and audit entries of one change are written in the same moment. */
const SAME_CHANGE_MS = 2_000

/** Who made a version, and with what: from the audit log, which superadmins read, or from its source. */
function VersionAuthor({ owner, version }: { owner: string; version: Memory }) {
  const { t } = useI18n()
  const { can } = useSession()
  const audit = useQuery({
    queryKey: ['audit', owner, 'memory', version.id],
    queryFn: () =>
      data(api.GET('/api/audit', { params: { query: { owner, target: version.id, limit: 100 } } })),
    enabled: can('manage'),
  })
  const at = Date.parse(version.updatedAt)
  const entry = audit.data?.entries.find(
    (each) => Math.abs(Date.parse(each.at) - at) < SAME_CHANGE_MS,
  )
  const who = entry?.actor ?? t(version.author === 'model' ? 'memories.model' : 'memories.person')
  const how = entry?.operation ?? (version.version === 1 ? version.provenance.source : null)
  return (
    <span>
      {t('memories.versionBy', { who })}
      {how !== null && ` · ${how}`}
    </span>
  )
}

function Provenance({ owner, memory }: { owner: string; memory: Memory }) {
  const { t } = useI18n()
  const nameOf = useValueName()
  const { provenance } = memory
  return (
    <div className={styles.provenance}>
      <DetailList>
        <Detail name={t('memories.source')}>{nameOf(provenance.source)}</Detail>
        {provenance.extractor !== null && (
          <Detail name={t('memories.extractor')}>
            {provenance.extractor} {provenance.extractorVersion}
          </Detail>
        )}
        <Detail name={t('memories.sourceSession')}>
          {memory.sessionId === '' ? (
            t('memories.noSourceSession')
          ) : (
            <Link
              to="/studio/sessions"
              search={{ owner, session: memory.sessionId, turn: provenance.turns[0] } as never} // read by the target page
            >
              {memory.sessionId}
            </Link>
          )}
        </Detail>
      </DetailList>
      {provenance.turns.length > 0 && (
        <>
          <h3>{t('memories.quoted')}</h3>
          <SourceTurns owner={owner} memory={memory} />
        </>
      )}
      <h3>{t('memories.usedIn')}</h3>
      <UsageList owner={owner} memory={memory} />
    </div>
  )
}

function UsageList({ owner, memory }: { owner: string; memory: Memory }) {
  const { t, time } = useI18n()
  const query = useMemoryReceipts(owner, memory.id)
  return (
    <QueryResult query={query}>
      {({ pages }) => {
        const receipts = pages.flatMap(({ receipts }) => receipts)
        return (
          <>
            {receipts.length === 0 && !query.hasNextPage && (
              <EmptyState title={t('memories.notUsed')} icon="receipts" />
            )}
            <ul className={styles.uses}>
              {receipts.map(({ id, at, model }) => (
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
    </QueryResult>
  )
}
