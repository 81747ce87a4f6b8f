/** Parses the events that agent programs pass to hook commands, as JSON on standard input. */
import { filterObjects, getField, isObject, type JsonObject, parseJson } from '../../../lib/json.ts'
import { UsageError } from '../command.ts'

export type HookEventKind = 'prompt' | 'stop' | 'compact' | 'start' | 'end'

export type HookEvent = {
  /** Null for events that memory has no part in. */
  readonly kind: HookEventKind | null
  /** As the program names it. */
  readonly name: string
  readonly session: string | null
  readonly transcriptPath: string | null
  /** What the user wrote, where the event contains it. */
  readonly messages: readonly string[]
  /** Whether the user starts over in the same window: `/clear`, `/new` or `/reset`. */
  readonly isNewSession: boolean
}

/** The events of Claude Code and Codex, Gemini CLI, Cursor, Codex notifications and OpenClaw, in this order. */
const KINDS: { readonly [name: string]: HookEventKind } = {
  ...{ UserPromptSubmit: 'prompt', BeforeAgent: 'prompt', beforeSubmitPrompt: 'prompt' },
  ...{ Stop: 'stop', AfterAgent: 'stop', stop: 'stop', 'agent-turn-complete': 'stop' },
  ...{ PreCompact: 'compact', PreCompress: 'compact', preCompact: 'compact' },
  ...{ SessionStart: 'start', sessionStart: 'start' },
  ...{ SessionEnd: 'end', sessionEnd: 'end', 'command:new': 'end', 'command:reset': 'end' },
}

export function parseHookEvent(text: string): HookEvent {
  const value = parseJson(text)
  if (!isObject(value)) throw new UsageError('Standard input must be the JSON object of a hook.')
  const name = readName(value)
  if (name === null) {
    throw new UsageError('The event must name itself in `hook_event_name`, or in `type`.')
  }
  const context = isObject(value.context) ? value.context : {}
  const entry = getField(context, 'previousSessionEntry') ?? getField(context, 'sessionEntry')
  return {
    kind: Object.hasOwn(KINDS, name) ? (KINDS[name] ?? null) : null,
    name,
    session: findText(
      ...[value.session_id, value.conversation_id, value['thread-id'], value.sessionId],
      ...[getField(entry, 'sessionId'), context.sessionId, value.sessionKey],
    ),
    transcriptPath: findText(
      ...[value.transcript_path, getField(entry, 'sessionFile'), context.sessionFile],
    ),
    messages: readMessages(value),
    isNewSession: value.reason === 'clear' || name.startsWith('command:'),
  }
}

function readName({ hook_event_name: name, type, action }: JsonObject): string | null {
  if (typeof name === 'string') return name
  if (typeof type !== 'string') return null
  return typeof action === 'string' ? `${type}:${action}` : type
}

function readMessages(value: JsonObject): readonly string[] {
  const several = value['input-messages']
  if (Array.isArray(several)) return several.filter((each) => typeof each === 'string')
  if (typeof value.prompt === 'string') return [value.prompt]
  return filterObjects(value.messages).flatMap(({ role, content }) =>
    role === 'user' && typeof content === 'string' ? [content] : [],
  )
}

function findText(...values: readonly unknown[]): string | null {
  const text = values.find((value) => typeof value === 'string' && value !== '')
  return typeof text === 'string' ? text : null
}
