/**
 * Schedules learning from imported conversations: one signal for each exchange, and one distillation job for each session.
 * The jobs run in the background and within the token budget of their owner.
 */
import type { SignalId } from '../domain/ids.ts'
import type { SessionPlace } from '../domain/scope.ts'
import type { Settings } from '../domain/settings/settings.ts'
import { buildSignalId, createPendingSignal } from '../domain/signal.ts'
import type { Turn } from '../domain/turn.ts'
import type { Jobs } from '../jobs/jobs.ts'
import { buildDistillationJobAt } from '../learning/distillation/distillation-job.ts'
import { findEpisode } from '../learning/distillation/episode-writer.ts'
import { yieldToEventLoop } from '../lib/event-loop.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { pages } from '../storage/access/row-pages.ts'
import type { Change } from '../storage/store.ts'

export type ImportLearning = {
  readonly jobs: Pick<Jobs, 'buildScheduleChanges'>
  readonly resolveSettings: (owner: string) => Promise<Settings>
}

export type ImportedSession = {
  readonly place: SessionPlace
  /** Whether this import added turns. */
  isNew: boolean
  /** The user texts to learn from; null: the whole conversation. */
  userTexts: Set<string> | null
}

const SIGNALS_PER_COMMIT = 200

/** Returns the number of exchanges that wait to be learned from now. */
export async function scheduleLearning(
  ports: MemoryDependencies,
  { jobs, resolveSettings }: ImportLearning,
  session: ImportedSession,
): Promise<number> {
  const { place, userTexts } = session
  const settings = await resolveSettings(place.owner)
  if (!settings['learning.enabled']) return 0
  const exchanges = groupExchanges(await loadTurns(ports, place)).filter(
    ([first]) => userTexts === null || userTexts.has(first.content.trim()),
  )
  const known = await loadKnownSignals(ports, place, exchanges)
  // An interrupted import left turns without signals; a finished one is not learned from twice.
  const isPending =
    session.isNew || (known.size === 0 && (await findEpisode(ports, place)) === null)
  if (!isPending) return 0
  const missing = exchanges.filter(([first]) => !known.has(buildSignalId(first.id)))
  for (let start = 0; start < missing.length; start += SIGNALS_PER_COMMIT) {
    const part = missing.slice(start, start + SIGNALS_PER_COMMIT)
    const signals = part.map((exchange): Change => {
      const [first, ...rest] = exchange
      const ids = [first.id, ...rest.map(({ id }) => id)] as const
      const options = { position: first.position }
      const row = createPendingSignal(place, ids, first.saidAt, null, options)
      return { op: 'put', table: 'signal', row, expect: 'absent' }
    })
    const isLast = start + SIGNALS_PER_COMMIT >= missing.length
    const isScheduled = isLast && settings['learning.extractionMode'] !== 'manual'
    await commitWithRetry(ports, async () => ({
      changes: [
        ...signals,
        ...(isScheduled
          ? await jobs.buildScheduleChanges(buildDistillationJobAt(place, ports.clock.now()))
          : []),
      ],
      result: null,
    }))
    await yieldToEventLoop()
  }
  return missing.length
}

type Exchange = readonly [Turn, ...Turn[]]

/** A user turn and everything up to the next one. */
export function groupExchanges(turns: readonly Turn[]): readonly Exchange[] {
  const exchanges: [Turn, ...Turn[]][] = []
  for (const turn of turns) {
    if (turn.role === 'user') exchanges.push([turn])
    else if (turn.role === 'assistant') exchanges.at(-1)?.push(turn)
  }
  return exchanges
}

export async function loadTurns(
  { store }: MemoryDependencies,
  place: SessionPlace,
): Promise<readonly Turn[]> {
  const turns: Turn[] = []
  for await (const page of pages(store, 'turn', place, { where: {} })) turns.push(...page)
  return turns.sort((a, b) => a.saidAt - b.saidAt || a.position - b.position)
}

async function loadKnownSignals(
  { store }: MemoryDependencies,
  place: SessionPlace,
  exchanges: readonly Exchange[],
): Promise<ReadonlySet<SignalId>> {
  const known = new Set<SignalId>()
  for (let start = 0; start < exchanges.length; start += SIGNALS_PER_COMMIT) {
    const ids = exchanges
      .slice(start, start + SIGNALS_PER_COMMIT)
      .map(([first]) => buildSignalId(first.id))
    const { rows } = await store.find('signal', place, { where: { ids }, limit: ids.length })
    for (const { id } of rows) known.add(id)
  }
  return known
}
