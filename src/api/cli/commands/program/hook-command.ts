/** Runs at events of agent programs: gives their models what is remembered, and records what was said. */
import { readFile, stat } from 'node:fs/promises'
import { FENCE_CLOSE, FENCE_OPEN } from '../../../../domain/context-block.ts'
import { TURN_CHARACTERS_MAX } from '../../../../domain/limits.ts'
import { INGESTED_EXCHANGES_MAX } from '../../../../learning/distillation/conversation-ingest.ts'
import { toAppError } from '../../../../lib/errors.ts'
import { parseJson } from '../../../../lib/json.ts'
import { hookClientNames, isHookClientName } from '../../../mcp/clients/hook-config.ts'
import { recallForPrompt } from '../../../operations/conversations/hook-operations.ts'
import {
  flushSession,
  ingestConversation,
} from '../../../operations/learning/distillation-operations.ts'
import { listEpisodes } from '../../../operations/learning/episode-operations.ts'
import { listIdentities } from '../../../operations/learning/identity-operations.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import {
  completeExchanges,
  type HookEvent,
  isHookInput,
  parseHookEvent,
  renderHookAnswer,
  splitConversation,
} from '../../hooks/hook-event.ts'
import { readTranscript, type TranscriptExchange } from '../../hooks/transcript.ts'
import { readStdinText } from '../../input/text-input.ts'

const TRANSCRIPT_BYTES_MAX = 64 * 1_048_576
const DIGEST_EPISODES = 3
const DIGEST_SUMMARY_CHARACTERS = 300

export const hookCommand = defineCommand({
  name: 'hook',
  group: 'Server',
  summary: 'Answer a hook of Claude Code, Codex, Gemini CLI or Cursor.',
  details:
    'Reads the event from standard input and writes the answer that the program expects: what is relevant for a prompt, ' +
    'a digest at the start of a session. At the end of an answer the conversation is recorded, before compaction it is ' +
    'distilled. `recollect connect --hooks` installs it. A failure is written to standard error and never stops the program.',
  arguments: [
    { name: 'client', help: `One of ${hookClientNames().join(', ')}.`, isRequired: true },
  ],
  options: {},
  examples: ['recollect hook claude-code < event.json'],
  async run(call): Promise<CommandResult> {
    const [client = ''] = call.positionals
    if (!isHookClientName(client)) {
      throw new UsageError(
        `\`client\` must be one of ${hookClientNames().join(', ')}; got ${client}.`,
      )
    }
    const input = parseJson(await readStdinText(call))
    const event = parseHookEvent(isHookInput(input) ? input : {})
    let context = ''
    try {
      context = await handleEvent(call, event)
    } catch (thrown) {
      await call.host.stderr.write(`Recollect: ${toAppError(thrown).message}\n`)
    }
    const answer = renderHookAnswer(client, event, context)
    return { json: answer, text: JSON.stringify(answer) }
  },
})

/** The context for the model; empty where there is none. */
async function handleEvent(call: Invocation, event: HookEvent): Promise<string> {
  switch (event.kind) {
    case 'start':
      return buildDigest(call)
    case 'prompt':
      return recall(call, event)
    case 'stop':
      await record(call, event)
      return ''
    case 'compact':
      await record(call, event)
      if (event.session !== null) await call.perform(flushSession, { id: event.session })
      return ''
    case 'other':
      return ''
  }
}

/** Without the session: its name would leave out the memories of all others. */
async function recall(call: Invocation, { prompt }: HookEvent): Promise<string> {
  if (prompt.trim() === '') return ''
  const { block, skipped } = await call.perform(recallForPrompt, { prompt })
  if (skipped === 'off') {
    const command = call.suggestCommand('settings set hooks.recallEnabled=true')
    await call.host.stderr.write(
      `Recollect: context for prompts is off; turn it on with ${command}\n`,
    )
  }
  return block
}

/** Who the user is and what the last conversations were about. */
async function buildDigest(call: Invocation): Promise<string> {
  const { user = null } = call.getEnvironment().explicitScope
  const { identities } = await call.perform(listIdentities, {})
  const { episodes } = await call.perform(listEpisodes, { limit: DIGEST_EPISODES })
  const own = identities.find((identity) => identity.user === user)
  const active = own?.overrides.filter(({ status }) => status === 'active') ?? []
  const about = [...(own?.narrative == null ? [] : [own.narrative]), ...active]
  const lines = [
    ...about.map(({ content }) => `- ${toLine(content)}`),
    ...episodes.map(
      ({ happenedAt, summary }) =>
        `- Earlier conversation (${happenedAt.slice(0, 10)}): ${toLine(summary).slice(0, DIGEST_SUMMARY_CHARACTERS)}`,
    ),
  ]
  return lines.length === 0 ? '' : [FENCE_OPEN, ...lines, FENCE_CLOSE].join('\n')
}

/** On one line, and without anything that would end the block. */
function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('<', '‹').trim()
}

async function record(call: Invocation, event: HookEvent): Promise<void> {
  const { session } = event
  if (session === null) return
  const exchanges = completeExchanges(await readExchanges(event), event)
  const { owner, user } = call.getEnvironment().explicitScope
  for (const { id, turns } of splitConversation(session, exchanges, INGESTED_EXCHANGES_MAX)) {
    await call.perform(ingestConversation, {
      ...(owner === undefined ? {} : { agent_id: owner }),
      ...(user === undefined ? {} : { user }),
      conversation_id: id,
      turns: turns.map(({ user: said, assistant }) => ({
        user: said.slice(0, TURN_CHARACTERS_MAX),
        assistant: assistant?.slice(0, TURN_CHARACTERS_MAX) ?? null,
      })),
    })
  }
}

async function readExchanges({
  transcriptPath,
}: HookEvent): Promise<readonly TranscriptExchange[]> {
  if (transcriptPath === null) return []
  try {
    const { size } = await stat(transcriptPath)
    return size > TRANSCRIPT_BYTES_MAX ? [] : readTranscript(await readFile(transcriptPath, 'utf8'))
  } catch {
    return [] // the program has not written it yet
  }
}
