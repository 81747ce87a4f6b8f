/** Commands about what was said, and about who has memories here. */

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
import { type Answer, type Call, defineCommand, makeSure, YES } from '../../command.ts'
import { actionOf, idOf, oneOf, PAGE_OPTIONS, pageOf, wholeOf } from '../../input/option-values.ts'
import { textFrom } from '../../input/text-input.ts'
import { formatAge, formatTime } from '../../input/time-format.ts'
import {
  count,
  fields,
  formatNumber,
  harmless,
  memories,
  oneLine,
  quoted,
  table,
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
  last: { kind: 'flag', help: 'With show: the last word first.' },
  memories: {
    kind: 'flag',
    help: 'With forget: what was learned in it goes into the bin as well.',
  },
  ...PAGE_OPTIONS,
  ...YES,
} as const

type SessionsCall = Call<typeof OPTIONS>

export const sessions = defineCommand({
  name: 'sessions',
  group: 'Reading',
  summary: 'Show what was said, correct it, take it out of use, or remove it for good.',
  details:
    'A turn that is disabled is kept and shown, and neither found, quoted nor learned from until it is restored; what is ' +
    'removed does not come back. Memories that were learned from it stay, unless `--memories` says otherwise. What is ' +
    'corrected is learned from again, and what only the old words said goes into the bin.',
  arguments: [
    { name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: list.` },
    {
      name: 'id',
      help: 'The session; with turn, edit, disable, restore and forget-turn, the turn.',
    },
    { name: 'text', help: 'With edit: what was really said.', isRepeated: true },
  ],
  options: OPTIONS,
  examples: [
    'recollect sessions',
    'recollect sessions show ses_4f1d…',
    'recollect sessions edit turn_4f1d… "I meant Rome, not Paris."',
    'recollect sessions disable turn_4f1d…',
    'recollect sessions forget ses_4f1d… --memories',
  ],
  async run(call) {
    const [word, given, ...words] = call.words
    const action = actionOf('sessions', word, ACTIONS)
    if (action === 'list') return listed(call)
    const id = idOf(call, 'sessions', action, given)
    switch (action) {
      case 'show':
        return course(call, id)
      case 'turn':
        return oneTurn(call, id)
      case 'edit': {
        const output = await call.perform(editTurn, { id, content: await textFrom(call, words) })
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

async function listed(call: SessionsCall): Promise<Answer> {
  const output = await call.perform(listSessions, pageOf(call.given))
  if (output.sessions.length === 0) return { json: output, text: 'No conversations are kept.' }
  const now = call.host.now()
  const rows = output.sessions.map(({ id, user, lastSaidAt, turns, pending, dead, episode }) => [
    { text: oneLine(id) },
    { text: oneLine(user ?? '-') },
    { text: formatAge(Date.parse(lastSaidAt), now) },
    { text: formatNumber(turns) },
    { text: pending === 0 ? '-' : formatNumber(pending) },
    { text: dead === 0 ? '-' : formatNumber(dead) },
    { text: episode ?? '-' },
  ])
  const head = ['SESSION', 'USER', 'LAST', 'TURNS', 'WAITING', 'FAILED', 'EPISODE']
  const lines = [table(call.style, head, rows)]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.again(`sessions --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

async function course(call: SessionsCall, id: string): Promise<Answer> {
  const { last } = call.given
  const output = await call.perform(listTurns, {
    ...{ id, order: last ? 'lastSaid' : 'said' },
    ...pageOf(call.given),
  })
  const texts = output.turns.map((turn) => turnText(call, turn))
  if (output.next !== null) {
    const same = `sessions show ${quoted(id)}${last ? ' --last' : ''}`
    texts.push(`There are more: ${call.again(`${same} --after ${output.next}`)}`)
  }
  return { json: output, text: texts.join('\n\n') || 'There are no more.' }
}

function turnText({ style }: Call, turn: WireTurn): string {
  const { id, role, speaker, saidAt, content, disabled } = turn
  const who = style.bold(oneLine(speaker ?? role))
  const about = `${formatTime(Date.parse(saidAt))}  ${id}${disabled ? '  disabled' : ''}`
  return `${who}  ${style.dim(about)}\n${harmless(content)}`
}

export async function oneTurn(call: Call, id: string): Promise<Answer> {
  const output = await call.perform(getTurn, { id })
  const { turn } = output
  const about = fields(call.style, [
    ['id', turn.id],
    ['session', oneLine(turn.sessionId) || '(none)'],
    ['who', oneLine(turn.speaker === null ? turn.role : `${turn.speaker} (${turn.role})`)],
    ['when', formatTime(Date.parse(turn.saidAt))],
    ['in use', turn.disabled ? 'no, disabled' : 'yes'],
    ['version', String(turn.version)],
  ])
  return { json: output, text: `${harmless(turn.content)}\n\n${about}` }
}

async function switched(
  call: Call,
  operation: typeof disableTurn | typeof restoreTurn,
  done: string,
  id: string,
): Promise<Answer> {
  const output = await call.perform(operation, { id })
  return { json: output, text: `${done} ${id}.${stays(output.learned)}` }
}

function stays(learned: readonly string[]): string {
  return learned.length === 0 ? '' : `\nWhat was learned from it stays: ${learned.join(', ')}`
}

const KEPT = 'Nothing was removed.'

async function forgotten(call: SessionsCall, id: string): Promise<Answer> {
  await makeSure(call, `Remove everything that was said in ${oneLine(id)} for good?`, KEPT)
  const output = await call.perform(forgetSession, { id, memories: call.given.memories })
  const { turns, memories: binned, change } = output
  const lines = [`Removed ${count(turns, 'turn')}.`]
  if (change !== null) {
    const undoing = call.again(`undo ${change}`)
    lines.push(`${memories(binned)} went into the bin (bring back: ${undoing})`)
  }
  return { json: output, text: lines.join('\n') }
}

async function forgottenTurn(call: SessionsCall, id: string): Promise<Answer> {
  await makeSure(call, `Remove ${oneLine(id)} for good?`, KEPT)
  const output = await call.perform(forgetTurn, { id })
  return { json: output, text: `Removed ${id}.${stays(output.learned)}` }
}

export const agents = defineCommand({
  name: 'agents',
  group: 'Reading',
  summary: 'Show who has memories here, and how many facts and episodes are in use.',
  arguments: [],
  options: {},
  examples: ['recollect agents', 'recollect agents --json'],
  async run(call) {
    const output = await call.perform(listAgents, {})
    const now = call.host.now()
    const rows = output.agents.map(({ id, memory_entry_count: entries, updated_at: at }) => [
      { text: oneLine(id) },
      { text: formatNumber(entries) },
      { text: at === null ? '-' : formatAge(Date.parse(at), now) },
    ])
    return { json: output, text: table(call.style, ['OWNER', 'MEMORIES', 'CHANGED'], rows) }
  },
})

const DAYS_MAX = 3_650
const LAYER_HITS_MAX = 50

/** What `search` does with `--layer`. */
export async function searchOneLayer(
  call: Call,
  query: string,
  given: Readonly<Record<'layer' | 'limit' | 'days', string | undefined>>,
): Promise<Answer> {
  const { layer = '', limit, days } = given
  const output = await call.perform(searchLayer, {
    query,
    scope: oneOf('layer', layer, LAYERS),
    ...(limit === undefined ? {} : { top_k: wholeOf('limit', limit, 1, LAYER_HITS_MAX) }),
    ...(days === undefined ? {} : { days: wholeOf('days', days, 1, DAYS_MAX) }),
  })
  return { json: output, text: layerText(call, output) }
}

function layerText(call: Call, { scope, results }: LayerAnswer): string {
  if (results.length === 0) return 'Nothing found.'
  const now = call.host.now()
  const rows = results.map(({ id, score, created_at, content, role, topics = [] }) => [
    { text: score.toFixed(2) },
    { text: formatAge(Date.parse(created_at), now) },
    { text: id },
    { text: oneLine([role, topics.join(', '), content].filter(Boolean).join(': ')) },
  ])
  const head = { pinned: 'FACT', episodes: 'EPISODE', transcript: 'SAID' }[scope]
  return table(call.style, ['SCORE', 'WHEN', 'ID', head], rows)
}
