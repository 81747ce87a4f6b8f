/** One consolidation: how much it did, how long it took, and each action with its reason. */
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { api, data } from '../../api/client.ts'
import { useActing } from '../../app/mutations.ts'
import { useSession } from '../../app/session.tsx'
import type { MessageKey } from '../../i18n/catalog.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Card, Chip, Notice } from '../../ui/layout.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { useTell } from '../../ui/toast.tsx'
import styles from './page.module.css'
import type { Action, Report } from './queries.ts'

const SHOWN = ['consolidations', 'memories', 'memory', 'stats', 'review', 'episodes', 'sessions']

const COUNTS = [
  ['merged', 'jobs.countMerged'],
  ['judged', 'jobs.countAdjudicated'],
  ['promoted', 'jobs.countPromoted'],
  ['evicted', 'jobs.countEvicted'],
  ['retired', 'jobs.countExpired'],
  ['prunedEpisodes', 'jobs.countEpisodes'],
  ['prunedTurns', 'jobs.countTurns'],
  ['trimmed', 'jobs.countEntries'],
  ['emptied', 'jobs.countPurged'],
  ['narrated', 'jobs.countNarratives'],
  ['decayed', 'jobs.countDecayed'],
] as const satisfies readonly (readonly [keyof Report, MessageKey])[]

/** A dry run tells all of them, and a page with all would not be read. */
const ACTIONS_LISTED = 1_000

const ACTIONS: Readonly<Record<string, MessageKey>> = {
  merge: 'jobs.actionMerge',
  judge: 'jobs.actionAdjudicate',
  promote: 'jobs.actionPromote',
  evict: 'jobs.actionEvict',
  retire: 'jobs.actionExpire',
  pruneEpisode: 'jobs.actionDeleteEpisode',
  pruneTurns: 'jobs.actionDeleteTurns',
  trim: 'jobs.actionDeleteEntries',
  emptyBin: 'jobs.actionEmptyTrash',
  narrate: 'jobs.actionUpdateNarrative',
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
  /** Given for a dry run, which is not kept. */
  onClose?: () => void
}) {
  const { t, time, number } = useI18n()
  const undoing = useUndoing(owner, report)
  const listed = Math.min(report.actions.length, ACTIONS_LISTED)
  const tookMs = new Date(report.finishedAt).getTime() - new Date(report.startedAt).getTime()
  return (
    <Card
      title={report.isDryRun ? t('jobs.dryRunTitle') : time(report.startedAt)}
      actions={
        <>
          {undoing.button}
          {onClose !== undefined && (
            <IconButton isSmall icon="close" name={t('common.close')} onClick={onClose} />
          )}
        </>
      }
    >
      <div className={styles.report}>
        <p className={styles.marks}>
          <Chip>{t('jobs.memoriesScanned', { count: report.memories })}</Chip>
          {COUNTS.filter(([name]) => report[name] > 0).map(([name, words]) => (
            <Chip key={name} tone="accent">
              {t(words)}: {number(report[name])}
            </Chip>
          ))}
          <Chip>{t('jobs.duration', { ms: number(tookMs) })}</Chip>
        </p>
        {report.isHeldBack && <Notice tone="warn">{t('jobs.purgeSkipped')}</Notice>}
        {report.actions.length === 0 ? (
          <p className={styles.faint}>{t('jobs.noActions')}</p>
        ) : (
          <details open={isOpen}>
            <summary>{t('jobs.actionsDone', { count: report.actionsTotal })}</summary>
            <Actions owner={owner} report={report} undoing={undoing} />
            {report.actionsTotal > listed && (
              <p className={styles.faint}>
                {t('jobs.truncated', { shown: listed, total: report.actionsTotal })}
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

type Undoing = ReturnType<typeof useUndoing>

/** What only went into the bin can be brought back alone, also where one change did it to many. */
const BINNED = ['evict', 'retire', 'pruneEpisode']

function useUndoing(owner: string, report: Report) {
  const { t } = useI18n()
  const { may } = useSession()
  const tell = useTell()
  const { attempt } = useActing(owner, SHOWN)
  const [isAsking, setAsking] = useState(false)
  const open = report.actions.filter((action) => action.undo === 'possible')
  const changes = [...new Set(open.flatMap(({ change }) => change ?? []))]
  const sharing = ({ change }: Action) => open.filter((action) => action.change === change)
  const undo = (change: string) => data(api.POST('/api/memory/undo', { body: { owner, change } }))
  const restore = async (action: Action) => {
    for (const id of action.memories) {
      await data(
        api.POST('/api/memory/{id}/restore', { params: { path: { id } }, body: { owner } }),
      )
    }
  }
  const isAlone = (action: Action) => sharing(action).length === 1 || BINNED.includes(action.kind)
  const undoOne = async (action: Action) => {
    const { change } = action
    const isDone = await attempt(async () => {
      if (sharing(action).length > 1 && isAlone(action)) await restore(action)
      else if (change !== null) await undo(change)
      return true
    })
    if (isDone !== null) tell({ text: t('common.undone') })
  }
  const undoAll = async () => {
    const isDone = await attempt(async () => {
      for (const change of [...changes].reverse()) await undo(change)
      return true
    })
    if (isDone !== null) tell({ text: t('jobs.runUndone', { count: changes.length }) })
  }
  const canUndo = may('curate') && !report.isDryRun
  const button = canUndo && changes.length > 0 && (
    <>
      <Button isSmall icon="restore" onClick={() => setAsking(true)}>
        {t('jobs.undoRun')}
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={t('jobs.undoRunTitle')}
        description={t('jobs.undoRunHelp', { count: open.length })}
        action={t('jobs.undoRun')}
        onConfirm={undoAll}
      />
    </>
  )
  /** How many actions go together when one of them is undone. */
  const together = (action: Action) => (isAlone(action) ? 1 : sharing(action).length)
  return { button, canUndo, undoOne, together }
}

function Actions({ owner, report, undoing }: { owner: string; report: Report; undoing: Undoing }) {
  const { t } = useI18n()
  const columns: readonly Column<Action>[] = [
    {
      name: t('jobs.action'),
      cell: ({ kind }) => {
        const name = ACTIONS[kind]
        return <Chip>{name === undefined ? kind : t(name)}</Chip>
      },
    },
    { name: t('jobs.reason'), cell: ({ because }) => because },
    { name: t('jobs.memories'), cell: ({ memories }) => <About owner={owner} ids={memories} /> },
    ...(undoing.canUndo
      ? [
          {
            name: t('jobs.actions'),
            cell: (action: Action) => <UndoAction action={action} undoing={undoing} />,
          },
        ]
      : []),
  ]
  return (
    <Table
      name={t('jobs.actionsDone', { count: report.actionsTotal })}
      columns={columns}
      rows={report.actions.slice(0, ACTIONS_LISTED)}
      idOf={(action) => String(report.actions.indexOf(action))}
    />
  )
}

function UndoAction({ action, undoing }: { action: Action; undoing: Undoing }) {
  const { t } = useI18n()
  if (action.undo === 'impossible') return <span className={styles.faint}>{t('jobs.permanent')}</span>
  if (action.undo === 'done') return <Chip tone="good">{t('jobs.undone')}</Chip>
  return (
    <Button isSmall icon="restore" onClick={() => void undoing.undoOne(action)}>
      {t('jobs.undoAction', { count: undoing.together(action) })}
    </Button>
  )
}

const NAMED_MAX = 4

function About({ owner, ids }: { owner: string; ids: readonly string[] }) {
  const { t } = useI18n()
  return (
    <span className={styles.ids}>
      {ids.slice(0, NAMED_MAX).map((id) => (
        <Link key={id} to="/studio/memories" search={{ owner, memory: id } as never}>
          …{id.slice(-8)}
        </Link>
      ))}
      {ids.length > NAMED_MAX && (
        <span className={styles.faint}>
          {t('jobs.moreMemories', { count: ids.length - NAMED_MAX })}
        </span>
      )}
    </span>
  )
}
