/** Events of agent programs as their hooks report them, and the answers that the programs read. Pure. */

import { isObject, type JsonObject } from '../../../lib/json.ts'
import type { HookClientName } from '../../mcp/clients/hook-config.ts'
import type { TranscriptExchange } from './transcript.ts'

export type HookEvent = {
  /** `prompt`: the user has sent one. `stop`: the answer is complete. `compact`: the program is about to shorten its context. */
  readonly kind: 'start' | 'prompt' | 'compact' | 'stop' | 'other'
  /** As the program calls it. */
  readonly name: string
  readonly session: string | null
  readonly prompt: string
  readonly answer: string
  readonly transcriptPath: string | null
}

const KINDS: Readonly<Record<string, HookEvent['kind']>> = {
  sessionstart: 'start',
  userpromptsubmit: 'prompt',
  beforeagent: 'prompt',
  beforesubmitprompt: 'prompt',
  precompact: 'compact',
  precompress: 'compact',
  stop: 'stop',
  afteragent: 'stop',
  sessionend: 'stop',
}

export function parseHookEvent(input: JsonObject): HookEvent {
  const readText = (...fields: readonly string[]) => {
    const found = fields.map((field) => input[field]).find((value) => typeof value === 'string')
    return typeof found === 'string' ? found : ''
  }
  const name = readText('hook_event_name')
  return {
    kind: KINDS[name.toLowerCase()] ?? 'other',
    name,
    session: readText('session_id', 'conversation_id') || null,
    prompt: readText('prompt'),
    answer: readText('prompt_response', 'last_assistant_message'),
    transcriptPath: readText('transcript_path') || null,
  }
}

/** What the program reads: context for its model, or nothing to do. */
export function renderHookAnswer(
  client: HookClientName,
  { kind, name }: HookEvent,
  context: string,
): JsonObject {
  if (client === 'cursor') {
    return {
      ...(kind === 'prompt' ? { continue: true } : {}),
      ...(context === '' ? {} : { additional_context: context }),
    }
  }
  if (context === '') return {}
  return { hookSpecificOutput: { hookEventName: name, additionalContext: context } }
}

/**
 * The exchanges of the session. Programs may write their transcript after the hook, so what the event itself says counts
 * as its last exchange.
 */
export function completeExchanges(
  transcript: readonly TranscriptExchange[],
  { kind, prompt, answer }: Pick<HookEvent, 'kind' | 'prompt' | 'answer'>,
): readonly TranscriptExchange[] {
  if (kind !== 'stop') return transcript
  const assistant = answer === '' ? null : answer
  const last = transcript.at(-1)
  if (prompt !== '' && last?.user !== prompt.trim()) {
    return [...transcript, { user: prompt.trim(), assistant }]
  }
  if (last === undefined || last.assistant !== null || assistant === null) return transcript
  return [...transcript.slice(0, -1), { ...last, assistant }]
}

/** A session with more exchanges than one conversation may have continues in another. */
export function splitConversation(
  session: string,
  exchanges: readonly TranscriptExchange[],
  size: number,
): readonly { readonly id: string; readonly turns: readonly TranscriptExchange[] }[] {
  const parts = Math.ceil(exchanges.length / size)
  return Array.from({ length: parts }, (_, part) => ({
    id: part === 0 ? session : `${session}#${part + 1}`,
    turns: exchanges.slice(part * size, (part + 1) * size),
  }))
}

export function isHookInput(value: unknown): value is JsonObject {
  return isObject(value)
}
