/** The command that agent programs run at their hooks: recall, capture, and learning before a compaction. */
import { insertLines, renderBlockFrame, toSingleLine } from '../../../../domain/context-block.ts'
import type { Exchange } from '../../../../domain/model-call.ts'
import { parseAgentTranscript } from '../../../../files/sessions/agent-transcript.ts'
import { INGESTED_EXCHANGES_MAX } from '../../../../learning/distillation/conversation-ingest.ts'
import { AppError, toAppError } from '../../../../lib/errors.ts'
import type { Instant } from '../../../../lib/time.ts'
import { getSettings } from '../../../operations/admin/settings-operations.ts'
import {
  captureMessages,
  recallForPrompt,
} from '../../../operations/conversations/hook-operations.ts'
import { writeSessionNote } from '../../../operations/files/session-note-operation.ts'
import { ingestConversation } from '../../../operations/learning/distillation-operations.ts'
import { listEpisodes } from '../../../operations/learning/episode-operations.ts'
import { listIdentities } from '../../../operations/learning/identity-operations.ts'
import { type CommandResult, defineCommand, type Invocation } from '../../command.ts'
import { readTextFile } from '../../input/file-access.ts'
import { type HookEvent, parseHookEvent } from '../../input/hook-event.ts'
import { readStdinText } from '../../input/text-input.ts'
import { escapeControlCharacters } from '../../output/text-rendering.ts'

export const hookCommand = defineCommand({
  name: 'hook',
  group: 'Server',
  summary: 'Answer a hook of an agent program, given as JSON on standard input.',
  details:
    'For hooks of Claude Code, Codex, Gemini CLI, Cursor and OpenClaw. When a prompt is ' +
    'submitted, it prints memories as additional context; at the start of a session, a digest ' +
    'of what is known. When an answer ends, it captures what the user asked to remember ' +
    '(`hooks.captureEnabled`). Before a compaction and at the end of a session, it ingests the ' +
    'transcript, learns from it, and writes the note of the day if there is a workspace; when ' +
    'the user starts over, also the last messages as a note of their own. Other events ' +
    'are ignored. A failure never blocks the program: it is printed to standard error, with exit code 1.',
  arguments: [],
  options: {},
  examples: ['recollect hook < event.json', 'recollect hook --owner ada'],
  async run(call) {
    try {
      return await answer(call, parseHookEvent(await readStdinText(call)))
    } catch (thrown) {
      // Exit code 2, that of invalid input, would make programs block the prompt.
      const { message } = toAppError(thrown)
      await call.host.stderr.write(`recollect: ${escapeControlCharacters(message)}\n`)
      return { json: {}, text: '', exitCode: 1 }
    }
  },
})

async function answer(call: Invocation, event: HookEvent): Promise<CommandResult> {
  switch (event.kind) {
    case 'prompt':
      return toContextResult(event, await recall(call, event))
    case 'start':
      return toContextResult(event, await renderDigest(call))
    case 'stop':
      return capture(call, event)
    case 'compact':
    case 'end':
      return learn(call, event)
    case null:
      return NOTHING
  }
}

const NOTHING: CommandResult = { json: {}, text: '' }

/** The programs that pass context on read it from different fields. */
function toContextResult({ name }: HookEvent, context: string): CommandResult {
  if (context === '') return NOTHING
  const json =
    name === 'sessionStart' || name === 'beforeSubmitPrompt'
      ? { additional_context: context }
      : { hookSpecificOutput: { hookEventName: name, additionalContext: context } }
  return { json, text: JSON.stringify(json) }
}

async function recall(call: Invocation, { session, messages }: HookEvent): Promise<string> {
  const { block } = await call.perform(recallForPrompt, {
    prompt: messages.join('\n'),
    ...(session === null ? {} : { sessionId: session }),
  })
  return block
}

const EPISODES_MAX = 3
const LINES_MAX = 20
const LINE_CHARACTERS_MAX = 400

/** Who the user is, and what the last conversations came to. */
async function renderDigest(call: Invocation): Promise<string> {
  const settings = await call.perform(getSettings, {})
  if (settings['hooks.recallEnabled'] === false) return ''
  const { identities } = await call.perform(listIdentities, {})
  const { episodes } = await call.perform(listEpisodes, { limit: EPISODES_MAX })
  const known = identities.flatMap(({ overrides, narrative }) => [
    ...overrides,
    ...(narrative === null ? [] : [narrative]),
  ])
  const texts = [
    ...known.filter(isUsable).map(({ content }) => content),
    ...episodes.filter(isUsable).map(({ happenedAt, summary, actionItems }) => {
      const open = actionItems.length === 0 ? '' : ` To do: ${actionItems.join('; ')}.`
      return `${happenedAt.slice(0, 10)}: ${summary}${open}`
    }),
  ]
  const lines = texts
    .map((text) => `- ${toSingleLine(text).slice(0, LINE_CHARACTERS_MAX)}`)
    .slice(0, LINES_MAX)
  const today = call.host.now() as Instant // whole milliseconds
  return lines.length === 0 ? '' : insertLines(renderBlockFrame(today), lines)
}

function isUsable({ status, trust }: { readonly status: string; readonly trust: string }): boolean {
  return status === 'active' && trust !== 'suspect'
}

async function capture(call: Invocation, event: HookEvent): Promise<CommandResult> {
  const last =
    event.messages.length > 0
      ? event.messages
      : (await readTranscript(event)).slice(-1).map(({ user }) => user)
  if (last.length === 0) return NOTHING
  const { captured } = await call.perform(captureMessages, {
    messages: last.map((content) => ({ role: 'user', content })),
    ...(event.session === null ? {} : { sessionId: event.session }),
  })
  return { json: { captured: captured.length }, text: '' }
}

/** As many as the note of a session contained in OpenClaw. */
const NOTE_MESSAGES = 15

async function learn(call: Invocation, event: HookEvent): Promise<CommandResult> {
  const { session } = event
  if (session === null) throw new AppError('invalid_input', 'The event must name its session.')
  const exchanges = await readTranscript(event)
  if (exchanges.length === 0) return NOTHING
  const { owner } = call.getEnvironment().explicitScope
  let conversation = session
  let outcome = ''
  // A conversation in parts of a fixed size: what was ingested before stays the same when it grows.
  for (let start = 0; start < exchanges.length; start += INGESTED_EXCHANGES_MAX) {
    conversation = start === 0 ? session : `${session}:${start / INGESTED_EXCHANGES_MAX + 1}`
    const turns = exchanges.slice(start, start + INGESTED_EXCHANGES_MAX)
    const ingested = await call.perform(ingestConversation, {
      ...{ conversation_id: conversation, turns: [...turns] },
      ...(owner === undefined ? {} : { agent_id: owner }),
    })
    outcome = ingested.distillation
  }
  const notes = [
    await writeNote(call, conversation, 0),
    ...(event.isNewSession ? [await writeNote(call, conversation, NOTE_MESSAGES)] : []),
  ].filter((path) => path !== null)
  return { json: { session, exchanges: exchanges.length, distillation: outcome, notes }, text: '' }
}

/** Null without a workspace, and when there is nothing to write. */
async function writeNote(call: Invocation, id: string, messages: number): Promise<string | null> {
  try {
    return (await call.perform(writeSessionNote, { id, messages })).path
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'not_found' || code === 'missing_part') return null
    throw thrown
  }
}

async function readTranscript({ transcriptPath }: HookEvent): Promise<readonly Exchange[]> {
  return transcriptPath === null ? [] : parseAgentTranscript(await readTextFile(transcriptPath))
}
