/** Who talks, what is said, and what a scripted model makes of it: for processes that learn until they are killed. */

import type { SettingValues } from '../../src/domain/settings/settings.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { Provider, ProviderRegistry } from '../../src/models/provider.ts'

export const OWNER = 'ada'

export const LEARNING: SettingValues = {
  'gateway.enabled': true,
  'learning.extractionModel': 'scripted/core',
  'learning.debounceSeconds': 10,
  'learning.consolidationIntervalHours': 1,
}

/** What every session tells: however often it is said, it is one fact. */
export const TEA = 'The user drinks green tea every morning'

/** Long enough to be worth a question. Nothing in it is for patterns to find. */
export function said(session: string): string {
  return `Label ${session}: crate ${session}, a large crate, kept in the blue room on the third floor of the old office in Berlin; green tea to drink every morning.`
}

/** Which session a model is asked to distil, by what it is sent; null when it is asked something else. */
export function sessionIn(prompt: string): string | null {
  return /Label ([\w-]+):/.exec(prompt)?.[1] ?? null
}

/** Two facts of a session; one says a word more, so that consolidation makes one of them. */
export function factsOf(session: string): readonly [string, string] {
  const where = 'in the blue room on the third floor of the old office in Berlin'
  return [
    `The user keeps crate ${session} ${where}`,
    `The user keeps large crate ${session} ${where}`,
  ]
}

/** What a model answers. Where it isn't asked to distil, it is of no help. */
export function learnedFrom(session: string | null): string {
  if (session === null) return 'I do not know.'
  const facts = [...factsOf(session), TEA].map((content) => ({ content, turns: [0] }))
  return JSON.stringify({ episode: { summary: `The user moved crate ${session}.` }, facts })
}

export type LearnerInput = {
  readonly path: string
  /** Of the scripted model. */
  readonly url: string
  readonly round: number
  readonly startsAt: number
}

/** `name` is told to the model with every question. */
export function registryOf(url: string, name = 'only'): ProviderRegistry {
  const provider: Provider = {
    name: 'scripted',
    kind: 'openai',
    baseUrl: `${url}/v1`,
    key: null,
    models: [],
    systemRole: null,
    supportsTools: true,
    isPrivate: false,
    headers: { 'x-server': name },
    timeouts: { connectMs: 10_000, firstByteMs: 20_000, idleMs: 20_000 },
  }
  const defaults = { chat: 'scripted', responses: null, messages: null, gemini: null }
  return { providers: [provider], aliases: {}, defaults }
}

/** One exchange through the gateway's way: its turns, its signal and its job are one commit. */
export async function say(
  { conversations }: Pick<Engine, 'conversations'>,
  session: string,
  owner = OWNER,
): Promise<void> {
  const text = said(session)
  const prepared = await conversations.prepare({
    requestId: 'req_1',
    scope: { owner, session },
    format: 'chat',
    model: 'scripted/chat',
    provider: 'scripted',
    contextWindow: null,
    signal: new AbortController().signal,
    request: {
      model: 'chat',
      isStreaming: false,
      endUser: null,
      instructions: '',
      exchanges: [{ user: text, assistant: null }],
      toolResults: [],
      isMidAnswer: false,
      previousResponseId: null,
      conversationId: null,
      characters: text.length,
      outputTokensMax: null,
    },
    options: { memory: true, inject: false, extract: true },
  })
  conversations.recordOutcome(prepared, {
    placement: null,
    skipped: prepared.skipped,
    status: 200,
    answer: { id: null, text: 'Noted.', isComplete: true, usage: null },
    firstByteMs: 1,
    totalMs: 1,
    toolCalls: [],
  })
  await conversations.flush()
}
