/** One owner whose conversations are distilled, as far as the engine sees it. */
import { onTestFinished } from 'vitest'
import type { OwnerId, SessionId, TurnId } from '../../src/domain/ids.ts'
import type { Memory } from '../../src/domain/memory.ts'
import type { SessionPlace } from '../../src/domain/scope.ts'
import { buildSignalId, createPendingSignal, type Signal } from '../../src/domain/signal.ts'
import type { Turn } from '../../src/domain/turn.ts'
import type { EngineDependencies } from '../../src/engine/engine-dependencies.ts'
import type { DistillationMode } from '../../src/learning/distillation/distillation-task.ts'
import {
  type DistillerDependencies,
  distillSession,
} from '../../src/learning/distillation/distiller.ts'
import { loadSignals } from '../../src/learning/signals.ts'
import type { Instant } from '../../src/lib/time.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
import type { Change, Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

export type OpenStore = () => Promise<Store>

export const NEVER = new AbortController().signal

export const HOME = { owner: 'ada' as OwnerId, user: null }

export const placeOf = (session: string): SessionPlace => ({
  ...HOME,
  session: session as SessionId,
})

export type Exchange = readonly [user: string, assistant?: string]

/** Long enough to be worth a question. */
export const TRIP: readonly Exchange[] = [
  ['I am going to Rome with my sister Clara in June, and I am vegetarian.', 'How nice!'],
  ['We want to stay in a small hotel near the river. I like tea.', 'I will look for one.'],
]

export async function openSession(open: OpenStore, on: (store: Store) => Store = (store) => store) {
  const base = await open()
  onTestFinished(() => base.close())
  const store = on(base)
  const clock = new FakeClock(Date.UTC(2024, 4, 31, 10))
  const ports: EngineDependencies = { store, clock, ids: countingIds(), settings: {} }

  const partsWith = (languageModel: LanguageModel | null): DistillerDependencies => ({
    ports,
    model: languageModel && { name: 'test/model', languageModel },
  })
  return {
    base,
    store,
    clock,
    ports,
    partsWith,
    /** Turns and signals in one commit for each exchange, as they are recorded. */
    say: async (exchanges: readonly Exchange[], session = 'trip') => {
      const before = await loadSignals({ store: base }, placeOf(session))
      for (const [index, exchange] of exchanges.entries()) {
        await base.commit(recording(exchange, before.length + index, session, clock.advance(1_000)))
      }
    },
    distil: (
      languageModel: LanguageModel | null,
      { session = 'trip', signal = NEVER, mode = 'session' as DistillationMode } = {},
    ) => distillSession(partsWith(languageModel), placeOf(session), signal, mode),
    signals: (session = 'trip') => loadSignals({ store: base }, placeOf(session)),
    memories: async (): Promise<readonly Memory[]> => {
      const { rows } = await base.find('memory', HOME, { where: {}, limit: 100, order: 'oldest' })
      return rows
    },
    turns: async (session = 'trip'): Promise<readonly Turn[]> => {
      const { rows } = await base.find('turn', placeOf(session), { where: {}, limit: 1_000 })
      return [...rows].sort((a, b) => a.position - b.position)
    },
  }
}

export function recording(
  exchange: Exchange,
  position: number,
  session: string,
  saidAt: Instant,
  before: Signal | null = null,
): readonly Change[] {
  const place = placeOf(session)
  const turns = exchange.map((content, index): Turn => {
    const role = index === 0 ? 'user' : 'assistant'
    const id = `turn_${session}_${position}_${role}` as TurnId
    const at = position * 2 + index
    return {
      id,
      place,
      version: 1,
      role,
      speaker: null,
      content: content ?? '',
      position: at,
      saidAt,
      disabled: false,
    }
  })
  const [first, ...rest] = turns.map(({ id }) => id)
  if (first === undefined) return []
  const row = createPendingSignal(place, [first, ...rest], saidAt, before)
  const expect = before === null ? 'absent' : { version: before.version }
  return [
    ...turns.map((turn): Change => ({ op: 'put', table: 'turn', row: turn, expect: 'any' })),
    { op: 'put', table: 'signal', row, expect },
  ]
}

export const turnNamed = (position: number, role: 'user' | 'assistant', session = 'trip') =>
  `turn_${session}_${position}_${role}` as TurnId

export const signalNamed = (position: number, session = 'trip') =>
  buildSignalId(turnNamed(position, 'user', session))

type AnswerFields = {
  readonly summary?: string
  readonly identity?: readonly string[]
  readonly decisions?: readonly string[]
}

/** An answer as it was asked for. */
export function answer(
  facts: readonly (string | object)[],
  { summary = 'Ada planned a trip to Rome.', identity = [], ...episode }: AnswerFields = {},
): object {
  return { episode: summary === '' ? null : { summary, ...episode }, facts, identity }
}
