/** Commands that edit, disable, restore and undo changes of memories. */
import type { z } from 'zod'
import {
  disableMemory,
  restoreMemory,
  undoMemoryChange,
  updateMemory,
} from '../../../operations/memories/memory-operations.ts'
import {
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import { MEMORY_OPTIONS, parseMemoryOptions } from '../../input/memory-options.ts'
import { parseInteger } from '../../input/option-values.ts'
import { readStdinText, readTextArgument } from '../../input/text-input.ts'

const VERSION_MAX = Number.MAX_SAFE_INTEGER

const ID = { name: 'id', help: 'The memory.', isRequired: true } as const

const EDIT_OPTIONS = {
  content: { kind: 'value', value: 'text', help: 'The new content, or - for standard input.' },
  ...MEMORY_OPTIONS,
  unpin: { kind: 'flag', help: 'Unpin it.' },
  'no-key': { kind: 'flag', help: 'Remove its key.' },
  'no-expiry': { kind: 'flag', help: 'Remove its expiry.' },
  'if-version': { kind: 'value', value: 'n', help: 'Fail if the version differs.' },
} as const

export const editCommand = defineCommand({
  name: 'edit',
  group: 'Edit',
  summary: 'Change fields of a memory.',
  details:
    'The previous version stays in the history. `--metadata` and `--entity` replace the ' +
    'present values.',
  arguments: [
    ID,
    { name: 'text', help: 'The new content, or - for standard input.', isRepeated: true },
  ],
  options: EDIT_OPTIONS,
  examples: [
    'recollect edit mem_01kabc… "I prefer green tea."',
    'recollect edit mem_01kabc… --importance 9 --no-expiry',
  ],
  async run(call) {
    const { options: given, positionals: words } = call
    refuseBoth(given.pin && given.unpin, '--pin', '--unpin')
    refuseBoth(given.key !== undefined && given['no-key'], '--key', '--no-key')
    refuseBoth(given.expires !== undefined && given['no-expiry'], '--expires', '--no-expiry')
    refuseBoth(given.content !== undefined && words.length > 1, '--content', 'a text')
    const version = given['if-version']
    const described = {
      ...parseMemoryOptions(call),
      ...(given.unpin ? { pinned: false } : {}),
      ...(given['no-key'] ? { key: null } : {}),
      ...(given['no-expiry'] ? { expiresAt: null } : {}),
    }
    const content = await newContent(call)
    if (content === undefined && Object.keys(described).length === 0) {
      throw new UsageError(
        'There is nothing to change.',
        'Run `recollect help edit` for what can be.',
      )
    }
    const output = await call.perform(updateMemory, {
      id: words[0] ?? '',
      ...described,
      ...(content === undefined ? {} : { content }),
      ...(version === undefined
        ? {}
        : { version: parseInteger('if-version', version, 1, VERSION_MAX) }),
    })
    const { id, version: now } = output.memory
    return changed(call, output, `Changed ${id} to version ${now}`)
  },
})

async function newContent(call: Invocation<typeof EDIT_OPTIONS>): Promise<string | undefined> {
  const { content } = call.options
  if (content === '-') return readStdinText(call)
  const words = call.positionals.slice(1)
  return words.length > 0 ? readTextArgument(call, words) : content
}

function refuseBoth(areBoth: boolean, one: string, other: string): void {
  if (areBoth) throw new UsageError(`${one} and ${other} contradict each other. Give one of them.`)
}

export const disableCommand = defineCommand({
  name: 'disable',
  group: 'Edit',
  summary: 'Exclude a memory from recall without forgetting it.',
  arguments: [ID],
  options: {},
  examples: ['recollect disable mem_01kabc…'],
  async run(call) {
    const output = await call.perform(disableMemory, { id: requirePositional(call) })
    return changed(call, output, `Disabled ${output.memory.id}`)
  },
})

export const restoreCommand = defineCommand({
  name: 'restore',
  group: 'Edit',
  summary: 'Restore a forgotten, disabled or superseded memory.',
  arguments: [ID],
  options: {
    version: {
      kind: 'value',
      value: 'n',
      help: 'Also restore the content of this version.',
    },
  },
  examples: ['recollect restore mem_01kabc…', 'recollect restore mem_01kabc… --version 2'],
  async run(call) {
    const { version } = call.options
    const id = requirePositional(call)
    if (/[/\\]|\.db$/.test(id)) throw meantRecover(call, id)
    const output = await call.perform(restoreMemory, {
      id,
      ...(version === undefined
        ? {}
        : { version: parseInteger('version', version, 1, VERSION_MAX) }),
    })
    return changed(call, output, `Restored ${output.memory.id}`)
  },
})

/** `restore` with a file name most likely means a backup. */
function meantRecover(call: Invocation, path: string): UsageError {
  const recovering = call.suggestCommand(`recover ${path}`)
  return new UsageError(
    `\`restore\` brings back a memory, and ${path} is no id of one. To go back to a backup: ${recovering}`,
  )
}

type Changed = z.output<(typeof updateMemory)['output']>

function changed(call: Invocation, output: Changed, what: string): CommandResult {
  const undoing = call.suggestCommand(`undo ${output.memory.change}`)
  return { json: output, text: `${what} (undo: ${undoing})` }
}

export const undoCommand = defineCommand({
  name: 'undo',
  group: 'Edit',
  summary: 'Revert a change.',
  details: 'Later changes to the same memories are kept.',
  arguments: [{ name: 'change', help: 'The change id, as shown by `history`.', isRequired: true }],
  options: {},
  examples: ['recollect undo chg_01kabc…'],
  async run(call) {
    const output = await call.perform(undoMemoryChange, { change: requirePositional(call) })
    const lines = output.memories.map(({ id, status }) =>
      status === 'forgotten' ? `  ${id} is in the bin` : `  ${id} is as it was before`,
    )
    const kept = output.conflictingFields.map(
      (field) => `  ${field} was changed since and is unchanged`,
    )
    const turns = output.turnsEnabled === 0 ? [] : [`  Turns enabled: ${output.turnsEnabled}`]
    const text = [`Reverted ${requirePositional(call)}:`, ...lines, ...kept, ...turns].join('\n')
    return { json: output, text }
  },
})
