/** Commands for sessions, turns and scopes. */

import {
  disableTurn,
  editTurn,
  forgetSession,
  forgetTurn,
  getTurn,
  listSessions,
  listTurns,
  restoreTurn,
  type WireTurn,
} from '../../../operations/conversations/session-operations.ts'
import {
  LAYERS,
  type LayerAnswer,
  listAgents,
  searchLayer,
} from '../../../operations/recall/agent-operations.ts'
import {
  type CommandResult,
  confirmAction,
  defineCommand,
  type Invocation,
  YES_OPTION,
} from '../../command.ts'
import {
  PAGE_OPTIONS,
  parseAction,
  parseChoice,
  parseInteger,
  parsePage,
  requireId,
} from '../../input/option-values.ts'
import { readTextArgument } from '../../input/text-input.ts'
import { formatAge, formatTime } from '../../input/time-format.ts'
import {
  escapeControlCharacters,
  formatCount,
  formatMemoryCount,
  formatNumber,
  quoteForShell,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const ACTIONS = [
  'list',
  'show',
  'turn',
  'edit',
  'disable',
  'restore',
  'forget',
  'forget-turn',
] as const
const OPTIONS = {
  'newest-first': { kind: 'flag', help: 'With show: newest turn first.' },
  'include-memories': {
    kind: 'flag',
    help: 'With forget: also forget what was learned in the session.',
  },
  ...PAGE_OPTIONS,
  ...YES_OPTION,
} as const

type SessionsCall = Invocation<typeof OPTIONS>

export const sessionsCommand = defineCommand({
  name: 'sessions',
  group: 'Read',
  summary: 'List, correct, disable or erase sessions and turns.',
  details:
    'A disabled turn stays visible but is neither found, quoted nor learned from until ' +
    'it is restored; erased turns cannot be restored. Memories learned from a turn stay ' +
    'unless `--include-memories` is set. A corrected turn is learned from again, and ' +
    'what only its old text said moves to the trash.',
  arguments: [
    { name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: list.` },
    {
      name: 'id',
      help: 'The session; with turn, edit, disable, restore and forget-turn, the turn.',
    },
    { name: 'text', help: 'With edit: the corrected text.', isRepeated: true },
  ],
  options: OPTIONS,
  examples: [
    'recollect sessions',
    'recollect sessions show ses_4f1d…',
    'recollect sessions edit turn_4f1d… "I meant Rome, not Paris."',
    'recollect sessions disable turn_4f1d…',
    'recollect sessions forget ses_4f1d… --include-memories',
  ],
  async run(call) {
    const [word, given, ...words] = call.positionals
    const action = parseAction('sessions', word, ACTIONS)
    if (action === 'list') return listed(call)
    const id = requireId(call, 'sessions', action, given)
    switch (action) {
      case 'show':
        return course(call, id)
      case 'turn':
        return showTurn(call, id)
      case 'edit': {
        const output = await call.perform(editTurn, {
          id,
          content: await readTextArgument(call, words),
        })
        const taken = output.changes.map((change) => `\nTook back what it had taught: ${change}`)
        return {
          json: output,
          text: `Changed ${id} to version ${output.turn.version}${taken.join('')}`,
        }
      }
      case 'disable':
        return switched(call, disableTurn, 'Disabled', id)
      case 'restore':
        return switched(call, restoreTurn, 'Restored', id)
      case 'forget':
        return forgotten(call, id)
      case 'forget-turn':
        return forgottenTurn(call, id)
    }
  },
})

async function listed(call: SessionsCall): Promise<CommandResult> {
  const output = await call.perform(listSessions, parsePage(call.options))
  if (output.sessions.length === 0) return { json: output, text: 'No sessions are recorded.' }
  const now = call.host.now()
  const rows = output.sessions.map((session) => [
    { text: toTerminalLine(session.id) },
    { text: toTerminalLine(session.user ?? '-') },
    { text: formatAge(Date.parse(session.lastTurnAt), now) },
    { text: formatNumber(session.turns) },
    { text: session.pendingSignals === 0 ? '-' : formatNumber(session.pendingSignals) },
    { text: session.deadLetterSignals === 0 ? '-' : formatNumber(session.deadLetterSignals) },
    { text: session.episode ?? '-' },
  ])
  const head = ['SESSION', 'USER', 'LAST', 'TURNS', 'PENDING', 'FAILED', 'EPISODE']
  const lines = [renderTable(call.style, head, rows)]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.suggestCommand(`sessions --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

async function course(call: SessionsCall, id: string): Promise<CommandResult> {
  const { 'newest-first': isNewestFirst } = call.options
  const output = await call.perform(listTurns, {
    ...{ id, order: isNewestFirst ? 'desc' : 'asc' },
    ...parsePage(call.options),
  })
  const texts = output.turns.map((turn) => turnText(call, turn))
  if (output.next !== null) {
    const same = `sessions show ${quoteForShell(id)}${isNewestFirst ? ' --newest-first' : ''}`
    texts.push(`There are more: ${call.suggestCommand(`${same} --after ${output.next}`)}`)
  }
  return { json: output, text: texts.join('\n\n') || 'There are no more.' }
}

function turnText({ style }: Invocation, turn: WireTurn): string {
  const { id, role, speaker, saidAt, content, disabled } = turn
  const who = style.bold(toTerminalLine(speaker ?? role))
  const about = `${formatTime(Date.parse(saidAt))}  ${id}${disabled ? '  disabled' : ''}`
  return `${who}  ${style.dim(about)}\n${escapeControlCharacters(content)}`
}

export async function showTurn(call: Invocation, id: string): Promise<CommandResult> {
  const output = await call.perform(getTurn, { id })
  const { turn } = output
  const about = renderFields(call.style, [
    ['id', turn.id],
    ['session', toTerminalLine(turn.sessionId) || '(none)'],
    ['who', toTerminalLine(turn.speaker === null ? turn.role : `${turn.speaker} (${turn.role})`)],
    ['when', formatTime(Date.parse(turn.saidAt))],
    ['in use', turn.disabled ? 'no, disabled' : 'yes'],
    ['version', String(turn.version)],
  ])
  return { json: output, text: `${escapeControlCharacters(turn.content)}\n\n${about}` }
}

async function switched(
  call: Invocation,
  operation: typeof disableTurn | typeof restoreTurn,
  done: string,
  id: string,
): Promise<CommandResult> {
  const output = await call.perform(operation, { id })
  return { json: output, text: `${done} ${id}.${stays(output.learned)}` }
}

function stays(learned: readonly string[]): string {
  return learned.length === 0 ? '' : `\nWhat was learned from it stays: ${learned.join(', ')}`
}

const KEPT = 'Nothing was removed.'

async function forgotten(call: SessionsCall, id: string): Promise<CommandResult> {
  await confirmAction(call, `Erase all turns of ${toTerminalLine(id)} permanently?`, KEPT)
  const output = await call.perform(forgetSession, {
    id,
    memories: call.options['include-memories'],
  })
  const { turns, memories: binned, change } = output
  const lines = [`Removed ${formatCount(turns, 'turn')}.`]
  if (change !== null) {
    const undoing = call.suggestCommand(`undo ${change}`)
    lines.push(`${formatMemoryCount(binned)} moved to the trash (restore: ${undoing})`)
  }
  return { json: output, text: lines.join('\n') }
}

async function forgottenTurn(call: SessionsCall, id: string): Promise<CommandResult> {
  await confirmAction(call, `Remove ${toTerminalLine(id)} for good?`, KEPT)
  const output = await call.perform(forgetTurn, { id })
  return { json: output, text: `Removed ${id}.${stays(output.learned)}` }
}

export const agentsCommand = defineCommand({
  name: 'agents',
  group: 'Read',
  summary: 'List owners and users with their active facts and episodes.',
  arguments: [],
  options: {},
  examples: ['recollect agents', 'recollect agents --json'],
  async run(call) {
    const output = await call.perform(listAgents, {})
    const now = call.host.now()
    const rows = output.agents.map(({ id, memory_entry_count: entries, updated_at: at }) => [
      { text: toTerminalLine(id) },
      { text: formatNumber(entries) },
      { text: at === null ? '-' : formatAge(Date.parse(at), now) },
    ])
    return { json: output, text: renderTable(call.style, ['OWNER', 'MEMORIES', 'CHANGED'], rows) }
  },
})

const DAYS_MAX = 3_650
const LAYER_HITS_MAX = 50

/** The implementation of `search --layer`. */
export async function searchLayerResult(
  call: Invocation,
  query: string,
  given: Readonly<Record<'layer' | 'limit' | 'days', string | undefined>>,
): Promise<CommandResult> {
  const { layer = '', limit, days } = given
  const output = await call.perform(searchLayer, {
    query,
    scope: parseChoice('layer', layer, LAYERS),
    ...(limit === undefined ? {} : { top_k: parseInteger('limit', limit, 1, LAYER_HITS_MAX) }),
    ...(days === undefined ? {} : { days: parseInteger('days', days, 1, DAYS_MAX) }),
  })
  return { json: output, text: layerText(call, output) }
}

function layerText(call: Invocation, { scope, results }: LayerAnswer): string {
  if (results.length === 0) return 'Nothing found.'
  const now = call.host.now()
  const rows = results.map(({ id, score, created_at, content, role, topics = [] }) => [
    { text: score.toFixed(2) },
    { text: formatAge(Date.parse(created_at), now) },
    { text: id },
    { text: toTerminalLine([role, topics.join(', '), content].filter(Boolean).join(': ')) },
  ])
  const head = { pinned: 'FACT', episodes: 'EPISODE', transcript: 'SAID' }[scope]
  return renderTable(call.style, ['SCORE', 'WHEN', 'ID', head], rows)
}
