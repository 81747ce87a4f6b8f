/** Somebody who talks to a model through the gateway, and servers that learn from it. */
import { onTestFinished } from 'vitest'
import type { Entry, EntryKind } from '../../src/domain/entry.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { SYSTEM_OWNER } from '../../src/domain/scope.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import type { LanguageModel } from '../../src/models/language-model.ts'
import type { Store } from '../../src/storage/store.ts'
import { clientOf } from '../conversations/conversations-support.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

export type OpenStore = () => Promise<Store>

export const ADA = { owner: 'ada' }

export const ada = 'ada' as OwnerId

export const QUIET_MS = 60_000

export const HOUR_MS = 3_600_000

/** Long enough to be worth a question. */
export const ROME =
  'I am going to Rome with my sister Clara in June, and we both eat no meat at all.'

export const OSLO = 'In August we go to Oslo by train, because neither of us wants to fly anywhere.'

export async function openLife(
  open: OpenStore,
  {
    model,
    settings = {},
    on = (store) => store,
  }: {
    readonly model?: LanguageModel
    readonly settings?: SettingValues
    readonly on?: (store: Store) => Store
  } = {},
) {
  const store = await open()
  const clock = new FakeClock()
  const ids = countingIds()
  const inForce: SettingValues = {
    'gateway.enabled': true,
    'gateway.contextTimeoutMs': 30_000,
    ...(model === undefined ? {} : { 'learning.extractionModel': 'test/core' }),
    ...settings,
  }
  const serve = (languageModel = model): Engine => {
    // Whoever closes one must not close the store for the others.
    const shared = { ...on(store), close: async () => {} }
    const ports = { store: shared, clock, ids, settings: inForce }
    const engine = createEngineWith(
      languageModel === undefined ? ports : { ...ports, languageModel },
    )
    onTestFinished(() => engine.close())
    return engine
  }
  onTestFinished(() => store.close())
  const engine = serve()
  return { store, clock, engine, serve, ...personOn(engine), entries: entriesIn(store) }
}

export function personOn(engine: Engine) {
  const client = clientOf(engine)
  return {
    client,
    /** Says something in a session of this name, and gets an answer. */
    say: (session: string, text: string, answer = 'I see.', owner = 'ada') =>
      client.ask([text], answer, { scope: { owner, session } }),
  }
}

/** What the system keeps about an owner, or in its place. */
export function entriesIn(store: Store) {
  return async (kind: EntryKind, owner = 'ada'): Promise<readonly Entry[]> => {
    const named = owner as OwnerId
    const [own, about] = await Promise.all([
      store.find('entry', { owner: named }, { where: { kinds: [kind] }, limit: 100 }),
      store.find(
        'entry',
        { owner: SYSTEM_OWNER },
        { where: { kinds: [kind], about: named }, limit: 100 },
      ),
    ])
    return [...own.rows, ...about.rows]
  }
}

export async function statusesOf(engine: Engine, session?: string): Promise<readonly string[]> {
  const scope = session === undefined ? ADA : { ...ADA, session }
  const { rows } = await engine.learning.signals.list(scope)
  return rows.map(({ status }) => status)
}
