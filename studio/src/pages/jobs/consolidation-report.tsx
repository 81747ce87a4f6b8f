/** The report of a consolidation run: counts, durations, and each action with its reason. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useMutations } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Chip, Notice } from '../../ui/layout.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import styles from './page.module.css'
import type { Action, Report } from './queries.ts'

const AFFECTED_QUERIES = [
  'consolidations',
  'memories',
  'memory',
  'stats',
  'review',
  'episodes',
  'sessions',
]

const COUNT_LABELS = [
  ['merged', 'jobs.countMerged'],
  ['adjudicated', 'jobs.countAdjudicated'],
  ['promoted', 'jobs.countPromoted'],
  ['evicted', 'jobs.countEvicted'],
  ['expired', 'jobs.countExpired'],
  ['episodesDeleted', 'jobs.countEpisodes'],
  ['turnsDeleted', 'jobs.countTurns'],
  ['expiredEntriesDeleted', 'jobs.countEntries'],
  ['trashPurged', 'jobs.countPurged'],
  ['narrativesWritten', 'jobs.countNarratives'],
  ['salienceDecayed', 'jobs.countDecayed'],
] as const satisfies readonly (readonly [keyof Report, MessageKey])[]

/** A dry run reports all actions; rendering all of them would be slow. */
const ACTIONS_SHOWN_MAX = 1_000

const ACTION_LABELS: Readonly<Record<string, MessageKey>> = {
  merge: 'jobs.actionMerge',
  adjudicate: 'jobs.actionAdjudicate',
  promote: 'jobs.actionPromote',
  evict: 'jobs.actionEvict',
  expire: 'jobs.actionExpire',
  'delete-episode': 'jobs.actionDeleteEpisode',
  'delete-turns': 'jobs.actionDeleteTurns',
  'delete-expired-entries': 'jobs.actionDeleteEntries',
  'empty-trash': 'jobs.actionEmptyTrash',
  'update-narrative': 'jobs.actionUpdateNarrative',
}

export function ReportCard({
  owner,
  report,
  isOpen,
  onClose,
}: {
  owner: string
  report: Report
  isOpen: boolean
  /** Set for a dry run, which is not stored. */
  onClose?: () => void
}) {
  const { t, time, number } = useI18n()
  const undoControls = useUndoControls(owner, report)
  const shownCount = Math.min(report.actions.length, ACTIONS_SHOWN_MAX)
  const tookMs = new Date(report.finishedAt).getTime() - new Date(report.startedAt).getTime()
  return (
    <Card
      title={report.isDryRun ? t('jobs.dryRunTitle') : time(report.startedAt)}
      actions={
        <>
          {undoControls.button}
          {onClose !== undefined && (
            <IconButton isSmall icon="close" name={t('common.close')} onClick={onClose} />
          )}
        </>
      }
    >
      <div className={styles.report}>
        <p className={styles.marks}>
          <Chip>{t('jobs.memoriesScanned', { count: report.memories })}</Chip>
          {COUNT_LABELS.filter(([name]) => report[name] > 0).map(([name, label]) => (
            <Chip key={name} tone="accent">
              {t(label)}: {number(report[name])}
            </Chip>
          ))}
          <Chip>{t('jobs.duration', { ms: number(tookMs) })}</Chip>
        </p>
        {report.isPurgeSkipped && <Notice tone="warn">{t('jobs.purgeSkipped')}</Notice>}
        {report.actions.length === 0 ? (
          <p className={styles.faint}>{t('jobs.noActions')}</p>
        ) : (
          <details open={isOpen}>
            <summary>{t('jobs.actionsDone', { count: report.actionsTotal })}</summary>
            <Actions owner={owner} report={report} undoControls={undoControls} />
            {report.actionsTotal > shownCount && (
              <p className={styles.faint}>
                {t('jobs.truncated', { shown: shownCount, total: report.actionsTotal })}
              </p>
            )}
          </details>
        )}
        <Durations durations={report.durationsMs} />
      </div>
    </Card>
  )
}

function Durations({ durations }: { durations: Report['durationsMs'] }) {
  const { t, number } = useI18n()
  return (
    <details>
      <summary>{t('jobs.durations')}</summary>
      <dl className={styles.durations}>
        {Object.entries(durations).map(([step, ms]) => (
          <div key={step}>
            <dt>{step}</dt>
            <dd>{number(ms, { maximumFractionDigits: 1 })} ms</dd>
          </div>
        ))}
      </dl>
    </details>
  )
}

type UndoControls = ReturnType<typeof useUndoControls>

/**
 * Kinds of actions that only move memories to the trash. Their memories can be restored one by one, even if one
 * change covers many.
 */
const TRASHING_KINDS = ['evict', 'expire', 'delete-episode']

function useUndoControls(owner: string, report: Report) {
  const { t } = useI18n()
  const { can } = useSession()
  const showToast = useToast()
  const { attempt } = useMutations(owner, AFFECTED_QUERIES)
  const [isConfirming, setConfirming] = useState(false)
  const showUndoToast = report.actions.filter((action) => action.undo === 'possible')
  const changes = [...new Set(showUndoToast.flatMap(({ change }) => change ?? []))]
  const actionsOfSameChange = ({ change }: Action) =>
    showUndoToast.filter((action) => action.change === change)
  const undo = (change: string) => data(api.POST('/api/memory/undo', { body: { owner, change } }))
  const restore = async (action: Action) => {
    for (const id of action.memories) {
      await data(
        api.POST('/api/memory/{id}/restore', { params: { path: { id } }, body: { owner } }),
      )
    }
  }
  const canUndoSeparately = (action: Action) =>
    actionsOfSameChange(action).length === 1 || TRASHING_KINDS.includes(action.kind)
  const undoOne = async (action: Action) => {
    const { change } = action
    const isDone = await attempt(async () => {
      if (actionsOfSameChange(action).length > 1 && canUndoSeparately(action)) await restore(action)
      else if (change !== null) await undo(change)
      return true
    })
    if (isDone !== null) showToast({ text: t('common.undone') })
  }
  const undoAll = async () => {
    const isDone = await attempt(async () => {
      for (const change of [...changes].reverse()) await undo(change)
      return true
    })
    if (isDone !== null) showToast({ text: t('jobs.runUndone', { count: changes.length }) })
  }
  const canUndo = can('curate') && !report.isDryRun
  const button = canUndo && changes.length > 0 && (
    <>
      <Button isSmall icon="restore" onClick={() => setConfirming(true)}>
        {t('jobs.undoRun')}
      </Button>
      <Confirm
        isOpen={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('jobs.undoRunTitle')}
        description={t('jobs.undoRunHelp', { count: showUndoToast.length })}
        action={t('jobs.undoRun')}
        onConfirm={undoAll}
      />
    </>
  )
  /** The number of actions that are undone together with this one. */
  const undoCount = (action: Action) =>
    canUndoSeparately(action) ? 1 : actionsOfSameChange(action).length
  return { button, canUndo, undoOne, undoCount }
}

function Actions({
  owner,
  report,
  undoControls,
}: {
  owner: string
  report: Report
  undoControls: UndoControls
}) {
  const { t } = useI18n()
  const columns: readonly Column<Action>[] = [
    {
      name: t('jobs.action'),
      cell: ({ kind }) => {
        const name = ACTION_LABELS[kind]
        return <Chip>{name === undefined ? kind : t(name)}</Chip>
      },
    },
    { name: t('jobs.reason'), cell: ({ reason }) => reason },
    {
      name: t('jobs.memories'),
      cell: ({ memories }) => <MemoryLinks owner={owner} ids={memories} />,
    },
    ...(undoControls.canUndo
      ? [
          {
            name: t('jobs.actions'),
            cell: (action: Action) => <UndoAction action={action} undoControls={undoControls} />,
          },
        ]
      : []),
  ]
  return (
    <Table
      name={t('jobs.actionsDone', { count: report.actionsTotal })}
      columns={columns}
      rows={report.actions.slice(0, ACTIONS_SHOWN_MAX)}
      idOf={(action) => String(report.actions.indexOf(action))}
    />
  )
}

function UndoAction({ action, undoControls }: { action: Action; undoControls: UndoControls }) {
  const { t } = useI18n()
  if (action.undo === 'impossible')
    return <span className={styles.faint}>{t('jobs.permanent')}</span>
  if (action.undo === 'done') return <Chip tone="good">{t('jobs.undone')}</Chip>
  return (
    <Button isSmall icon="restore" onClick={() => void undoControls.undoOne(action)}>
      {t('jobs.undoAction', { count: undoControls.undoCount(action) })}
    </Button>
  )
}

const LINKS_MAX = 4

function MemoryLinks({ owner, ids }: { owner: string; ids: readonly string[] }) {
  const { t } = useI18n()
  return (
    <span className={styles.ids}>
      {ids.slice(0, LINKS_MAX).map((id) => (
        <Link key={id} to="/studio/memories" search={{ owner, memory: id } as never}>
          …{id.slice(-8)}
        </Link>
      ))}
      {ids.length > LINKS_MAX && (
        <span className={styles.faint}>
          {t('jobs.moreMemories', { count: ids.length - LINKS_MAX })}
        </span>
      )}
    </span>
  )
}
