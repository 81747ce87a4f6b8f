/** Commands for ingesting conversations and for learning signals. */
import type { z } from 'zod'
import { SIGNAL_STATUSES } from '../../../../domain/signal.ts'
import { ingestConversation } from '../../../operations/learning/distillation-operations.ts'
import {
  forgetSignals,
  getSignal,
  learningStatus,
  listSignals,
  retrySignals,
  type WireSignal,
} from '../../../operations/learning/signal-operations.ts'
import {
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import { readTextFile } from '../../input/file-access.ts'
import {
  PAGE_OPTIONS,
  parseAction,
  parseChoice,
  parsePage,
  requireId,
} from '../../input/option-values.ts'
import { readStdinText } from '../../input/text-input.ts'
import { formatTime, parseTime } from '../../input/time-format.ts'
import {
  formatCount,
  formatNumber,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'
import { distillationFields } from './distillation-commands.ts'

type Conversation = z.input<(typeof ingestConversation)['input']>

export const ingestCommand = defineCommand({
  name: 'ingest',
  group: 'Write',
  summary: 'Ingest a whole conversation and distill it.',
  details:
    'The file contains JSON as `POST /memory/ingest` accepts it: `{"conversation_id": …, ' +
    '"turns": [{"user": …, "assistant": …}]}`, or only the turns with `--conversation`. ' +
    'Ingesting it again changes nothing. Distillation needs a model ' +
    '(`learning.extractionModel`); without one, patterns extract facts and the ' +
    'conversation stays pending.',
  arguments: [{ name: 'file', help: 'Input file, or - for standard input.', isRequired: true }],
  options: {
    conversation: {
      kind: 'value',
      value: 'name',
      help: 'The id of the conversation, used as its session id.',
    },
    date: {
      kind: 'value',
      value: 'when',
      help: 'The time of the conversation: 3d (ago), 2026-12-01.',
    },
    'skip-extraction': { kind: 'flag', help: 'Record the conversation without learning from it.' },
  },
  examples: [
    'recollect ingest trip.json',
    'recollect ingest turns.json --conversation trip --date 2026-05-02',
  ],
  async run(call) {
    const { conversation, date, 'skip-extraction': isSkipped } = call.options
    const { owner } = call.getEnvironment().explicitScope
    const output = await call.perform(ingestConversation, {
      ...(await conversationIn(call)),
      ...(owner === undefined ? {} : { agent_id: owner }),
      ...(conversation === undefined ? {} : { conversation_id: conversation }),
      ...(date === undefined
        ? {}
        : { session_date: parseTime('date', date, call.host.now(), 'back') }),
      ...(isSkipped ? { skip_extraction: true } : {}),
    })
    const { turns_ingested: turns, distillation: outcome, episode_id: episode } = output
    const text = renderFields(call.style, [
      ['turns', formatNumber(turns)],
      ...distillationFields(call, { ...output, outcome, episode }),
    ])
    return { json: output, text }
  },
})

/** Accepts any object or list; the operation validates its fields. */
async function conversationIn(call: Invocation): Promise<Conversation> {
  const file = requirePositional(call)
  const text = call.isStdinRequested ? await readStdinText(call) : await readTextFile(file)
  const given = parsed(text, call.isStdinRequested ? 'Standard input' : file)
  const conversation = Array.isArray(given) ? { turns: given } : given
  if (typeof conversation !== 'object' || conversation === null) {
    throw new UsageError('A conversation is a JSON object, or a list of turns.')
  }
  return conversation as Conversation // validated by the operation
}

function parsed(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${name} is not JSON.`)
  }
}

const ACTIONS = ['list', 'show', 'retry', 'forget'] as const
const OPTIONS = {
  status: { kind: 'value', value: 'status', help: `Only these: ${SIGNAL_STATUSES.join(', ')}.` },
  ...PAGE_OPTIONS,
} as const

type SignalsCall = Invocation<typeof OPTIONS>

export const signalsCommand = defineCommand({
  name: 'signals',
  group: 'Administration',
  summary: 'List, retry or discard pending learning signals.',
  details:
    'Each recorded exchange has a signal. After three failures it is `dead` until it is ' +
    'retried. A `forgotten` signal is never learned from; the turns stay, and `retry` ' +
    'reverts that.',
  arguments: [
    { name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: list.` },
    {
      name: 'id',
      help: 'The signal. Default with retry: all failed ones; with forget: those of --session.',
      isRepeated: true,
    },
  ],
  options: OPTIONS,
  examples: [
    'recollect signals --status dead',
    'recollect signals retry',
    'recollect signals forget --session trip',
  ],
  async run(call) {
    const [word, ...ids] = call.positionals
    const action = parseAction('signals', word, ACTIONS)
    if (action === 'list') return listed(call)
    if (action === 'show') return shown(call, requireId(call, 'signals', action, ids[0]))
    const { operation, none, done } = CHANGES[action]
    const output = await call.perform(operation, ids.length === 0 ? {} : { ids })
    const changed = output.signals.length
    return {
      json: output,
      text: changed === 0 ? none : `${formatCount(changed, 'exchange')} ${done}`,
    }
  },
})

const CHANGES = {
  retry: {
    operation: retrySignals,
    none: 'There is nothing to try again.',
    done: 'will be tried again.',
  },
  forget: {
    operation: forgetSignals,
    none: 'No matching signals are pending.',
    done: 'will not be learned from.',
  },
} as const

async function shown(call: SignalsCall, id: string): Promise<CommandResult> {
  const output = await call.perform(getSignal, { id })
  const { signal } = output
  const text = renderFields(call.style, [
    ['id', call.style.bold(signal.id)],
    ['status', signal.status],
    ['session', toTerminalLine(signal.sessionId)],
    ...(signal.user === null ? [] : [['user', toTerminalLine(signal.user)] as const]),
    ['when', formatTime(Date.parse(signal.createdAt))],
    ['tried', String(signal.attempts)],
    ...(signal.error === null ? [] : [['error', toTerminalLine(signal.error)] as const]),
    ['turns', signal.turns.join('\n')],
    ...(signal.change === null
      ? []
      : [['undo', call.suggestCommand(`undo ${signal.change}`)] as const]),
  ])
  return { json: output, text }
}

async function listed(call: SignalsCall): Promise<CommandResult> {
  const { status } = call.options
  const output = await call.perform(listSignals, {
    ...(status === undefined ? {} : { status: parseChoice('status', status, SIGNAL_STATUSES) }),
    ...parsePage(call.options),
  })
  const { signals: found, next } = output
  if (found.length === 0) return { json: output, text: 'There are no such signals.' }
  const head = ['ID', 'STATUS', 'WHEN', 'TRIED', 'SESSION', 'USER', 'ERROR']
  const lines = [renderTable(call.style, head, found.map(signalRow))]
  if (next !== null)
    lines.push('', `There are more: ${call.suggestCommand(`signals --after ${next}`)}`)
  return { json: output, text: lines.join('\n') }
}

function signalRow({ id, status, createdAt, attempts, sessionId, user, error }: WireSignal) {
  return [
    { text: id },
    { text: status },
    { text: formatTime(Date.parse(createdAt)) },
    { text: String(attempts) },
    { text: toTerminalLine(sessionId) },
    { text: toTerminalLine(user ?? '-') },
    { text: toTerminalLine(error ?? '-') },
  ]
}

/** The learning line of `status`. */
export async function renderPendingSignals(call: Invocation): Promise<string> {
  const { pending, dead } = (await call.perform(learningStatus, {})).signals
  const lines = [
    ...(pending === 0 ? [] : [`${formatCount(pending, 'exchange')} waiting`]),
    ...(dead === 0
      ? []
      : [
          `${formatCount(dead, 'exchange')} failed too often: ${call.suggestCommand('signals retry')}`,
        ]),
  ]
  return lines.join('\n')
}
