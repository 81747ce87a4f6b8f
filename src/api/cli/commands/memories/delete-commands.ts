/** Commands that forget or erase memories. */
import type { z } from 'zod'
import { SETTINGS } from '../../../../domain/settings/settings.ts'
import { AppError, ERRORS } from '../../../../lib/errors.ts'
import { getSettings } from '../../../operations/admin/settings-operations.ts'
import { clearMemories } from '../../../operations/memories/memory-list-operations.ts'
import {
  emptyTrash,
  eraseMemory,
  forgetMatching,
  forgetMemory,
  getMemory,
} from '../../../operations/memories/memory-operations.ts'
import {
  assertNotAborted,
  type CommandResult,
  confirmAction,
  defineCommand,
  type Invocation,
  UsageError,
  YES_OPTION,
} from '../../command.ts'
import { FILTER_OPTIONS, parseFilterOptions } from '../../input/memory-options.ts'
import { parseInteger } from '../../input/option-values.ts'
import { parseAge } from '../../input/time-format.ts'
import {
  formatCount,
  formatMemoryCount,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const IDS = { name: 'id', help: 'The memories.', isRepeated: true } as const
const NOT_ERASED = 'Nothing was erased.'

export const forgetCommand = defineCommand({
  name: 'forget',
  group: 'Edit',
  summary: 'Move memories to the trash. They can be restored.',
  details:
    'Forgotten statements do not return from earlier conversations or running jobs. With ' +
    '`--query`, the one memory that clearly matches is forgotten; if the match is ' +
    'ambiguous, the candidates are listed and the exit code is 4. With `--erase`, ' +
    'memories are removed permanently, with their history.',
  arguments: [IDS],
  options: {
    query: {
      kind: 'value',
      value: 'text',
      help: 'A description of the memory, instead of its id.',
    },
    erase: { kind: 'flag', help: 'Remove them permanently.' },
    ...YES_OPTION,
  },
  examples: [
    'recollect forget mem_01kabc…',
    'recollect forget --query "my old phone number"',
    'recollect forget mem_01kabc… --erase --yes',
  ],
  async run(call) {
    const { query, erase: isForGood } = call.options
    if ((query === undefined) === (call.positionals.length === 0)) {
      throw new UsageError(
        '`forget` needs an <id>, or --query.',
        'Usage: recollect forget <id>… | --query <text>',
      )
    }
    if (query !== undefined && isForGood) {
      throw new UsageError('--erase requires ids.')
    }
    if (query !== undefined) return forgetDescribed(call, query)
    return isForGood ? eraseEach(call, call.positionals) : forgetEach(call, call.positionals)
  },
})

async function forgetEach(call: Invocation, ids: readonly string[]): Promise<CommandResult> {
  if (ids.length > 1) await requireAll(call, ids)
  const forgotten: z.output<(typeof forgetMemory)['output']>[] = []
  for (const id of ids) {
    assertNotAborted(call, `Stopped; forgot ${forgotten.length} of ${ids.length}.`)
    forgotten.push(await call.perform(forgetMemory, { id }))
  }
  const lines = forgotten.map(({ memory, turnsDisabled }) =>
    forgotText(call, memory.id, turnsDisabled),
  )
  const json = forgotten.length === 1 ? forgotten[0] : forgotten
  return { json, text: lines.join('\n') }
}

function forgotText(call: Invocation, id: string, turnsDisabled: number): string {
  const back = call.suggestCommand(`restore ${id}`)
  return `Forgot ${id} (bring it back: ${back})${turnsText(turnsDisabled)}`
}

/** Forgotten statements are also hidden in turns. */
function turnsText(turnsDisabled: number): string {
  return turnsDisabled === 0 ? '' : `\n  Turns disabled: ${turnsDisabled}`
}

async function forgetDescribed(call: Invocation, query: string): Promise<CommandResult> {
  const output = await call.perform(forgetMatching, { query })
  const { forgotten, candidates, turnsDisabled } = output
  if (forgotten !== null) {
    const text = `${forgotText(call, forgotten.id, turnsDisabled)}\n  ${toTerminalLine(forgotten.content)}`
    return { json: output, text }
  }
  const rows = candidates.map(({ id, snippet }) => [
    { text: id },
    { text: toTerminalLine(snippet) },
  ])
  const text =
    rows.length === 0
      ? 'No memory matches.'
      : `It is not clear which one is meant, so nothing was forgotten. Give an id:\n\n${renderTable(call.style, ['ID', 'MEMORY'], rows)}`
  return { json: output, text, exitCode: ERRORS.not_found.exit }
}

export const eraseCommand = defineCommand({
  name: 'erase',
  group: 'Edit',
  summary: 'Permanently remove memories with their history.',
  details:
    'Erases the named memories, or with `--trash` everything forgotten long enough ago. ' +
    'It asks for confirmation; without a terminal it needs `--yes`.',
  arguments: [IDS],
  options: {
    trash: { kind: 'flag', help: 'Empty the trash instead.' },
    days: {
      kind: 'value',
      value: 'n',
      help: 'Minimum days since it was forgotten. Default: the setting retention.trashDays.',
    },
    ...YES_OPTION,
  },
  examples: ['recollect erase mem_01kabc…', 'recollect erase --trash --days 0 --yes'],
  async run(call) {
    const { trash, days } = call.options
    if (trash && call.positionals.length > 0) throw new UsageError('Give ids or --trash, not both.')
    if (!trash && days !== undefined) throw new UsageError('--days goes with --trash.')
    if (!trash && call.positionals.length === 0) {
      throw new UsageError(
        '`erase` needs an <id>, or --trash.',
        'Usage: recollect erase <id>… | --trash',
      )
    }
    return trash ? emptyTrashCommand(call, days) : eraseEach(call, call.positionals)
  },
})

type Sure = Invocation<typeof YES_OPTION>

async function eraseEach(call: Sure, ids: readonly string[]): Promise<CommandResult> {
  await requireAll(call, ids)
  const question = `Erase ${formatMemoryCount(ids.length)} with all history? It can't be undone.`
  await confirmAction(call, question, NOT_ERASED)
  const total = { memories: 0, revisions: 0, turnsDisabled: 0 }
  for (const id of new Set(ids)) {
    assertNotAborted(call, `Stopped; erased ${total.memories} of ${ids.length}.`)
    const erased = await call.perform(eraseMemory, { id })
    total.memories += erased.memories
    total.revisions += erased.revisions
    total.turnsDisabled += erased.turnsDisabled
  }
  return { json: total, text: erasedText(total) }
}

async function emptyTrashCommand(call: Sure, days: string | undefined): Promise<CommandResult> {
  const options =
    days === undefined
      ? {}
      : { days: parseInteger('days', days, 0, SETTINGS['retention.trashDays'].max) }
  const age = options.days ?? Number((await call.perform(getSettings, {}))['retention.trashDays'])
  const which =
    age === 0
      ? 'everything in the trash'
      : `what was forgotten ${formatCount(age, 'day')} ago or earlier`
  await confirmAction(call, `Erase ${which}? It can't be undone.`, NOT_ERASED)
  const erased = await call.perform(emptyTrash, options)
  const text = erased.memories === 0 ? 'Nothing in the trash is that old.' : erasedText(erased)
  return { json: erased, text: age === 0 && erased.memories === 0 ? 'The trash is empty.' : text }
}

function erasedText(erased: z.output<(typeof eraseMemory)['output']>): string {
  const history =
    erased.revisions === 0 ? '' : ` and ${formatCount(erased.revisions, 'earlier version')}`
  return `Erased ${formatMemoryCount(erased.memories)}${history} for good.${turnsText(erased.turnsDisabled)}`
}

/** Checks all ids first, so that a missing one changes nothing. */
async function requireAll(call: Invocation, ids: readonly string[]): Promise<void> {
  for (const id of ids) {
    try {
      await call.perform(getMemory, { id, includeTrash: true })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'not_found') throw error
      throw new AppError('not_found', `${error.message} Nothing was changed.`, { id })
    }
  }
}

const CLEAR_OPTIONS = {
  ids: { kind: 'values', value: 'ids', help: 'Only these ids, comma-separated; repeatable.' },
  q: { kind: 'value', value: 'text', help: 'Filter by text in content or key.' },
  'older-than': {
    kind: 'value',
    value: 'age',
    help: 'Minimum age: 30d, 2w, 6m (months), 1y, or a date such as 2026-01-31.',
  },
  type: FILTER_OPTIONS.type,
  category: FILTER_OPTIONS.category,
  status: FILTER_OPTIONS.status,
  'all-statuses': FILTER_OPTIONS['all-statuses'],
  pinned: FILTER_OPTIONS.pinned,
  all: { kind: 'flag', help: 'All memories; required without other filters.' },
  erase: { kind: 'flag', help: 'Remove them permanently, with their history.' },
  'dry-run': { kind: 'flag', help: 'Only count.' },
  ...YES_OPTION,
} as const

type ClearCall = Invocation<typeof CLEAR_OPTIONS>

export const clearCommand = defineCommand({
  name: 'clear',
  group: 'Edit',
  summary: 'Forget memories in bulk, by filter or age.',
  details:
    'Shows the number of memories and asks for confirmation; without a terminal it needs ' +
    '`--yes`. It is one change, which `undo` reverts unless `--erase` was given.',
  arguments: [],
  options: CLEAR_OPTIONS,
  examples: [
    'recollect clear --category event --older-than 6m --dry-run',
    'recollect clear --session chat-17 --yes',
    'recollect clear --all',
  ],
  async run(call) {
    const input = clearInput(call)
    const counted = await call.perform(clearMemories, { ...input, dryRun: true })
    if (counted.matched === 0) return { json: counted, text: 'No memories match.' }
    const number = formatMemoryCount(counted.matched)
    const { erase: isForGood } = call.options
    if (call.options['dry-run']) {
      const text = `${number} would be ${isForGood ? 'erased' : 'forgotten'}. Nothing was changed.`
      return { json: counted, text }
    }
    const question = isForGood
      ? `Erase ${number} with all history? It can't be undone.`
      : `Forget ${number}?`
    await confirmAction(call, question, 'Nothing was changed.')
    const cleared = await call.perform(clearMemories, input)
    return { json: cleared, text: clearedText(call, cleared) }
  },
})

function clearInput(call: ClearCall): z.input<(typeof clearMemories)['input']> {
  const { options: given } = call
  const { q, 'older-than': age, all, erase: isForGood } = given
  const ids = given.ids.flatMap((text) => text.split(',')).filter((id) => id !== '')
  const { session } = call.getEnvironment().explicitScope
  const filter = {
    ...parseFilterOptions({ ...given, 'include-expired': false }),
    ...(session === undefined ? {} : { sessionId: session }),
    ...(ids.length > 0 ? { ids } : {}),
    ...(q === undefined ? {} : { q }),
    ...(age === undefined ? {} : { olderThan: parseAge('older-than', age, call.host.now()) }),
  }
  if (Object.keys(filter).length === 0 && !all) {
    throw new UsageError(
      'This would clear everything.',
      'Say what to clear (`recollect help clear`), or give --all.',
    )
  }
  return { ...filter, ...(all ? { all: true } : {}), ...(isForGood ? { erase: true } : {}) }
}

function clearedText(
  call: Invocation,
  cleared: z.output<(typeof clearMemories)['output']>,
): string {
  const number = formatMemoryCount(cleared.deletedCount)
  const turns = turnsText(cleared.turnsDisabled)
  if (cleared.change === null) return `Erased ${number} for good.${turns}`
  return `Forgot ${number} (undo: ${call.suggestCommand(`undo ${cleared.change}`)})${turns}`
}
