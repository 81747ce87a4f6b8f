/** A client of the gateway, as far as the engine sees it. */
import { onTestFinished } from 'vitest'
import type {
  ConversationRequest,
  PreparedRequest,
  RequestOutcome,
} from '../../src/conversations/conversations.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import type { Exchange, ModelAnswer, ModelRequest } from '../../src/domain/model-call.ts'
import type { SettingValues } from '../../src/domain/settings/settings.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import type { EngineDependencies } from '../../src/engine/engine-dependencies.ts'
import type { Store } from '../../src/storage/store.ts'
import { countingIds, FakeClock } from '../fakes/clock.ts'

export type OpenStore = () => Promise<Store>

export const ADA = { owner: 'ada' }

export const ada = 'ada' as OwnerId

export type RequestFields = Partial<Omit<ConversationRequest, 'request' | 'options'>> & {
  readonly asked?: Partial<ModelRequest>
  readonly wants?: Partial<ConversationRequest['options']>
}

/** Said so far, and asked now: `['I like tea', 'Noted.', 'What do I like?']`. */
export function exchangesOf(said: readonly string[]): readonly Exchange[] {
  return said.flatMap((user, index) =>
    index % 2 === 0 ? [{ user, assistant: said[index + 1] ?? null }] : [],
  )
}

export function requestOf(
  said: readonly string[],
  fields: RequestFields = {},
): ConversationRequest {
  const { toolResults = [], exchanges = exchangesOf(said) } = fields.asked ?? {}
  return {
    requestId: 'req_1',
    scope: ADA,
    format: 'chat',
    model: 'openai/gpt',
    provider: 'openai',
    contextWindow: null,
    signal: new AbortController().signal,
    ...fields,
    request: {
      model: 'gpt',
      isStreaming: false,
      endUser: null,
      instructions: '',
      exchanges,
      toolResults,
      isMidAnswer: toolResults.length > 0 || (exchanges.at(-1)?.assistant ?? null) !== null,
      previousResponseId: null,
      conversationId: null,
      characters: said.join('').length,
      outputTokensMax: null,
      ...fields.asked,
    },
    options: { memory: true, inject: true, extract: true, ...fields.wants },
  }
}

export function answerOf(text: string, fields: Partial<ModelAnswer> = {}): ModelAnswer {
  return { id: null, text, isComplete: true, usage: null, ...fields }
}

export function outcomeOf(
  { block, skipped }: PreparedRequest,
  answer: ModelAnswer | null,
  fields: Partial<RequestOutcome> = {},
): RequestOutcome {
  return {
    placement: block === null ? null : 'turn-end',
    skipped,
    status: 200,
    answer,
    firstByteMs: 5,
    totalMs: 9,
    toolCalls: [],
    ...fields,
  }
}

/** Nothing is late here, however busy the machine is, unless a test says so. */
const PATIENT: SettingValues = {
  'gateway.contextSources': 'facts',
  'gateway.enabled': true,
  'gateway.contextTimeoutMs': 30_000,
}

export async function openConversations(
  open: OpenStore,
  {
    settings,
    ...parts
  }: Partial<Omit<EngineDependencies, 'settings'>> & { readonly settings?: SettingValues } = {},
) {
  const store = parts.store ?? (await open())
  const clock = new FakeClock()
  const ids = countingIds()
  const on = (other: Store) =>
    createEngineWith({ clock, ids, ...parts, store: other, settings: { ...PATIENT, ...settings } })
  const engine = on(store)
  onTestFinished(() => engine.close())
  return { engine, store, clock, on, client: clientOf(engine) }
}

/** Asks and hears the answer. */
export function clientOf(engine: Engine) {
  const { conversations } = engine
  /** Without waiting for what is kept of it. */
  const send = async (
    said: readonly string[],
    answer: ModelAnswer | string | null,
    fields: RequestFields = {},
    outcome: Partial<RequestOutcome> = {},
  ): Promise<PreparedRequest> => {
    const prepared = await conversations.prepare(requestOf(said, fields))
    const events = typeof answer === 'string' ? answerOf(answer) : answer
    conversations.recordOutcome(prepared, outcomeOf(prepared, events, outcome))
    return prepared
  }
  return {
    send,
    ask: async (...given: Parameters<typeof send>): Promise<PreparedRequest> => {
      const prepared = await send(...given)
      await conversations.flush()
      return prepared
    },
  }
}

/** What was recorded, in order: `session: role: content`, sessions by the order in which they began. */
export async function transcript(store: Store, owner = ada): Promise<readonly string[]> {
  const { rows } = await store.find('turn', { owner }, { where: {}, limit: 1_000 })
  const begun = rows.toSorted((a, b) => a.saidAt - b.saidAt || a.position - b.position)
  const sessions = [...new Set(begun.map(({ place }) => place.session))]
  return begun
    .map((turn) => ({ ...turn, number: sessions.indexOf(turn.place.session) + 1 }))
    .sort((a, b) => a.number - b.number || a.position - b.position)
    .map(({ number, role, content }) => `${number} ${role}: ${content}`)
}

export async function contentsOf(engine: Engine): Promise<readonly string[]> {
  const { rows } = await engine.list(ADA, { limit: 200 })
  return rows.map(({ content }) => content).sort()
}
