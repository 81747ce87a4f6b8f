/** Commands that store a statement or learn from a text. */
import type { z } from 'zod'
import { AppError } from '../../../../lib/errors.ts'
import { addMemory, learnMemories } from '../../../operations/memories/memory-operations.ts'
import { defineCommand, type Invocation, UsageError } from '../../command.ts'
import { MEMORY_OPTIONS, parseMemoryOptions } from '../../input/memory-options.ts'
import { readTextArgument } from '../../input/text-input.ts'
import { parseTime } from '../../input/time-format.ts'
import { formatCount, toTerminalLine } from '../../output/text-rendering.ts'

type Remembered = z.output<(typeof addMemory)['output']>
type Learned = z.output<(typeof learnMemories)['output']>

const SAID_OPTION = {
  'observed-at': {
    kind: 'value',
    value: 'when',
    help: 'The time of the statement: 3d (ago), 2026-12-01. Default: now.',
  },
} as const

export const addCommand = defineCommand({
  name: 'add',
  group: 'Write',
  summary: 'Remember a statement.',
  details:
    'Reads the text from the arguments, or from standard input when piped or given as ' +
    '`-`, without the trailing line end. A known statement is reinforced, a clear ' +
    'correction supersedes the old statement and keeps its history, and a merely ' +
    'different one is stored beside it.',
  arguments: [{ name: 'text', help: 'The statement, or - for standard input.', isRepeated: true }],
  options: { ...MEMORY_OPTIONS, ...SAID_OPTION },
  examples: [
    'recollect add "I prefer tea over coffee."',
    'recollect add --key home --pin "I live in Lisbon."',
    'recollect add --expires 30d "The build server is down for maintenance."',
    'pbpaste | recollect add --category fact',
  ],
  async run(call) {
    const described = parseMemoryOptions(call)
    const { expiresAt } = described
    if (expiresAt !== undefined && expiresAt <= call.host.now()) {
      throw new UsageError('--expires is in the past: it would never be found.')
    }
    const observedAt = parseObservedAt(call)
    const content = await statementFrom(call)
    const remembered = await call.perform(addMemory, {
      ...described,
      content,
      source: 'cli',
      ...(observedAt === undefined ? {} : { observedAt }),
    })
    return { json: remembered, text: sentenceFor(call, remembered) }
  },
})

const LEARN_OPTIONS = {
  ...SAID_OPTION,
  'dry-run': { kind: 'flag', help: 'Only show what would be remembered.' },
} as const

export const learnCommand = defineCommand({
  name: 'learn',
  group: 'Write',
  summary: 'Extract statements about the author of a text, and remember them.',
  details:
    'Uses patterns for first-person statements, without a model: "I live in Lisbon", "my ' +
    'sister is called Ana". Reads the text like `add`.',
  arguments: [{ name: 'text', help: 'The text, or - for standard input.', isRepeated: true }],
  options: LEARN_OPTIONS,
  examples: [
    'recollect learn "Hi! I live in Lisbon and I love old maps."',
    'recollect learn < chat.txt',
  ],
  async run(call) {
    const observedAt = parseObservedAt(call)
    const text = await statementFrom(call)
    const { 'dry-run': dryRun } = call.options
    const learned = await call.perform(learnMemories, {
      text,
      source: 'cli',
      dryRun,
      ...(observedAt === undefined ? {} : { observedAt }),
    })
    const preview = learned.remembered.map(({ memory }) => toTerminalLine(memory.content))
    if (dryRun) return { json: learned, text: preview.join('\n') || 'Nothing would be remembered.' }
    return { json: learned, text: summaryOf(call, learned) }
  },
})

async function statementFrom(call: Invocation): Promise<string> {
  const text = await readTextArgument(call)
  if (text.trim() === '') throw new AppError('invalid_input', 'The text is blank.')
  return text
}

function parseObservedAt(call: {
  readonly options: { readonly 'observed-at': string | undefined }
  readonly host: Invocation['host']
}): number | undefined {
  const { 'observed-at': observedAt } = call.options
  return observedAt === undefined
    ? undefined
    : parseTime('observed-at', observedAt, call.host.now(), 'back')
}

function sentenceFor(call: Invocation, { outcome, memory, other, reason }: Remembered): string {
  const undo = `undo: ${call.suggestCommand(`undo ${memory.change}`)}`
  const otherId = other?.id ?? ''
  switch (outcome) {
    case 'create':
      return `Remembered ${memory.id}`
    case 'update':
      return `Updated ${memory.id} to version ${memory.version} (${undo})`
    case 'duplicate': {
      const state = memory.status === 'disabled' ? ', which stays disabled' : ''
      return `Already known; reinforced ${memory.id}${state} (said ${formatCount(memory.sourceCount, 'time')})`
    }
    case 'supersede':
      return `Replaced ${otherId} with ${memory.id} (${undo})`
    case 'conflict':
      return `Remembered ${memory.id}\nKept beside ${otherId}, which says otherwise (${reason ?? 'unclear'})`
  }
}

function summaryOf(call: Invocation, { remembered, rejected }: Learned): string {
  const lines = remembered.map(
    (each) => `${sentenceFor(call, each)}\n  ${toTerminalLine(each.memory.content)}`,
  )
  if (rejected > 0) {
    lines.push(`Left out ${formatCount(rejected, 'statement')} that had been forgotten since.`)
  }
  return lines.length > 0 ? lines.join('\n') : 'Found nothing that the writer says about themself.'
}
