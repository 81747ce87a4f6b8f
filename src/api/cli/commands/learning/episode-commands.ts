/** Commands for episodes and identity. */
import { MEMORY_STATUSES } from '../../../../domain/memory.ts'
import {
  disableEpisode,
  editEpisode,
  forgetEpisode,
  getEpisode,
  listEpisodes,
  restoreEpisode,
  type WireEpisode,
} from '../../../operations/learning/episode-operations.ts'
import {
  addIdentity,
  disableIdentity,
  editIdentity,
  forgetIdentity,
  getIdentity,
  listIdentities,
  restoreIdentity,
} from '../../../operations/learning/identity-operations.ts'
import type { WireMemory } from '../../../operations/memory-schema.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import {
  PAGE_OPTIONS,
  parseAction,
  parseChoice,
  parsePage,
  requireId,
} from '../../input/option-values.ts'
import { readTextArgument } from '../../input/text-input.ts'
import { formatTime, parseTime } from '../../input/time-format.ts'
import { renderMemory } from '../../output/memory-rendering.ts'
import {
  escapeControlCharacters,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const EPISODE_ACTIONS = ['list', 'show', 'edit', 'disable', 'forget', 'restore'] as const
const EPISODE_OPTIONS = {
  day: { kind: 'value', value: 'date', help: 'Filter by day, such as 2026-05-01 (UTC).' },
  from: { kind: 'value', value: 'when', help: 'Only entries since: 30d (ago), 2026-05-01.' },
  to: { kind: 'value', value: 'when', help: 'Only entries before.' },
  topic: {
    kind: 'values',
    value: 'text',
    help: 'Filter by topic; with edit, the new topics. Repeatable.',
  },
  status: {
    kind: 'value',
    value: 'status',
    help: `Only these: ${MEMORY_STATUSES.join(', ')}. Default: active.`,
  },
  decision: {
    kind: 'values',
    value: 'text',
    help: 'With edit: the new decisions; repeatable.',
  },
  'action-item': {
    kind: 'values',
    value: 'text',
    help: 'With edit: the new action items; repeatable.',
  },
  ...PAGE_OPTIONS,
} as const

type EpisodesCall = Invocation<typeof EPISODE_OPTIONS>

export const episodesCommand = defineCommand({
  name: 'episodes',
  group: 'Read',
  summary: 'List, edit and forget episodes, the digests of conversations.',
  details:
    'An episode is a memory: `history`, `undo` and `get` work on it as well. Forgotten ' +
    'episodes move to the trash.',
  arguments: [
    { name: 'action', help: `One of ${EPISODE_ACTIONS.join(', ')}. Default: list.` },
    { name: 'id', help: 'The episode.' },
    { name: 'summary', help: 'With edit: the new summary.', isRepeated: true },
  ],
  options: EPISODE_OPTIONS,
  examples: [
    'recollect episodes --from 30d --topic travel',
    'recollect episodes show mem_01kabc…',
    'recollect episodes edit mem_01kabc… "They chose Rome." --decision "Go to Rome"',
    'recollect episodes forget mem_01kabc…',
  ],
  async run(call) {
    const [word, id] = call.positionals
    const action = parseAction('episodes', word, EPISODE_ACTIONS)
    if (action === 'list') return listed(call)
    const named = { id: requireId(call, 'episodes', action, id) }
    if (action === 'show') return shown(call, named.id)
    if (action === 'edit') {
      const output = await call.perform(editEpisode, { ...named, ...editOf(call) })
      return changed(call, output, 'Changed')
    }
    const { operation, done } = CHANGES[action]
    return changed(call, await call.perform(operation, named), done)
  },
})

const CHANGES = {
  disable: { operation: disableEpisode, done: 'Disabled' },
  forget: { operation: forgetEpisode, done: 'Forgot' },
  restore: { operation: restoreEpisode, done: 'Restored' },
} as const

function changed(
  call: Invocation,
  output: { readonly episode: WireEpisode },
  done: string,
): CommandResult {
  const { id, change } = output.episode
  return { json: output, text: `${done} ${id} (undo: ${call.suggestCommand(`undo ${change}`)})` }
}

function editOf({ options: given, positionals: words }: EpisodesCall) {
  const { topic, decision, 'action-item': actionItem } = given
  const summary = words.slice(2).join(' ')
  const edit = {
    ...(summary === '' ? {} : { summary }),
    ...(topic.length === 0 ? {} : { topics: [...topic] }),
    ...(decision.length === 0 ? {} : { decisions: [...decision] }),
    ...(actionItem.length === 0 ? {} : { actionItems: [...actionItem] }),
  }
  if (Object.keys(edit).length > 0) return edit
  throw new UsageError('There is nothing to change.', 'Give a summary, --topic or --decision.')
}

async function listed(call: EpisodesCall): Promise<CommandResult> {
  const { day, from, to, topic, status } = call.options
  const now = call.host.now()
  const output = await call.perform(listEpisodes, {
    ...(day === undefined ? {} : { day }),
    ...(from === undefined ? {} : { from: parseTime('from', from, now, 'back') }),
    ...(to === undefined ? {} : { to: parseTime('to', to, now, 'back') }),
    ...(topic.length === 0 ? {} : { topic: [...topic] }),
    ...(status === undefined ? {} : { status: [parseChoice('status', status, MEMORY_STATUSES)] }),
    ...parsePage(call.options),
  })
  if (output.episodes.length === 0) return { json: output, text: 'There are no such episodes.' }
  const rows = output.episodes.map(({ id, happenedAt, topics, summary }) => [
    { text: id },
    { text: localTime(happenedAt) },
    { text: toTerminalLine(topics.join(', ')) || '-' },
    { text: toTerminalLine(summary) },
  ])
  const lines = [renderTable(call.style, ['ID', 'WHEN', 'TOPICS', 'SUMMARY'], rows)]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.suggestCommand(`episodes --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

async function shown(call: Invocation, id: string): Promise<CommandResult> {
  const output = await call.perform(getEpisode, { id })
  const { episode, facts, deletedTurns } = output
  const some = (name: string, values: readonly string[]) =>
    values.length === 0 ? [] : [[name, values.map(toTerminalLine).join('\n')] as const]
  const gone = deletedTurns.length === 0 ? '' : ` (${deletedTurns.length} of them deleted)`
  const text = [
    escapeControlCharacters(episode.summary),
    '',
    renderFields(call.style, [
      ['id', call.style.bold(episode.id)],
      ['when', localTime(episode.happenedAt)],
      ['session', toTerminalLine(episode.sessionId) || '(none)'],
      ...(episode.user === null ? [] : [['user', toTerminalLine(episode.user)] as const]),
      ...some('topics', episode.topics),
      ...some('decisions', episode.decisions),
      ...some('to do', episode.actionItems),
      ...some('entities', episode.entities),
      ['status', `${episode.status}, trust ${episode.trust}`],
      ['turns', `${episode.turns.length}${gone}`],
      ...some(
        'learned',
        facts.map((fact) => `${fact.id}  ${fact.content}`),
      ),
    ]),
  ].join('\n')
  return { json: output, text }
}

function localTime(iso: string): string {
  return formatTime(Date.parse(iso))
}

const IDENTITY_ACTIONS = ['list', 'show', 'add', 'edit', 'disable', 'forget', 'restore'] as const

export const identityCommand = defineCommand({
  name: 'identity',
  group: 'Write',
  summary: 'Show and change the identity of a user.',
  details:
    'Each statement is a memory of the category identity: `history` and `undo` work on ' +
    'it as well. Consolidation writes the narrative from these statements and the most ' +
    'important facts.',
  arguments: [
    { name: 'action', help: `One of ${IDENTITY_ACTIONS.join(', ')}. Default: list.` },
    {
      name: 'words',
      help: 'The statement to add, or the id of one and its new content.',
      isRepeated: true,
    },
  ],
  options: {},
  examples: [
    'recollect identity --user kim',
    'recollect identity add "I am a vegetarian."',
    'recollect identity edit mem_01kabc… "I am a vegan."',
    'recollect identity disable mem_01kabc…',
  ],
  async run(call) {
    const [word, ...words] = call.positionals
    const action = parseAction('identity', word, IDENTITY_ACTIONS)
    if (action === 'list') return identities(call)
    if (action === 'add') {
      const output = await call.perform(addIdentity, {
        content: await readTextArgument(call, words),
      })
      const { id, change } = output.memory
      const text =
        output.outcome === 'known'
          ? `That is known already: ${id}`
          : `Added ${id} (undo: ${call.suggestCommand(`undo ${change}`)})`
      return { json: output, text }
    }
    const id = requireId(call, 'identity', action, words[0])
    if (action === 'show') {
      const output = await call.perform(getIdentity, { id })
      return { json: output, text: renderMemory(call.style, output.memory, call.host.now()) }
    }
    if (action === 'edit') {
      const content = await readTextArgument(call, words.slice(1))
      const output = await call.perform(editIdentity, { id, content })
      return { json: output, text: changedText(call, 'Changed', output.memory) }
    }
    const { operation, done } = IDENTITY_CHANGES[action]
    const output = await call.perform(operation, { id })
    return { json: output, text: changedText(call, done, output.memory) }
  },
})

const IDENTITY_CHANGES = {
  disable: { operation: disableIdentity, done: 'Disabled' },
  forget: { operation: forgetIdentity, done: 'Forgot' },
  restore: { operation: restoreIdentity, done: 'Restored' },
} as const

function changedText(call: Invocation, done: string, { id, change }: WireMemory): string {
  return `${done} ${id} (undo: ${call.suggestCommand(`undo ${change}`)})`
}

async function identities(call: Invocation): Promise<CommandResult> {
  const output = await call.perform(listIdentities, {})
  const texts = output.identities.map(({ owner, user, overrides, narrative }) => {
    const rows = overrides.map(({ id, status, content }) => [
      { text: id },
      {
        text:
          status === 'active' ? toTerminalLine(content) : `[${status}] ${toTerminalLine(content)}`,
      },
    ])
    return [
      call.style.bold(toTerminalLine([owner, user].filter((name) => name !== null).join(', '))),
      ...(rows.length === 0 ? [] : [renderTable(call.style, ['ID', 'STATEMENT'], rows)]),
      ...(narrative === null ? [] : ['', escapeControlCharacters(narrative.content)]),
    ].join('\n')
  })
  const none = 'There are no identity statements yet. Add one: recollect identity add "I am …"'
  return { json: output, text: texts.length === 0 ? none : texts.join('\n\n') }
}
