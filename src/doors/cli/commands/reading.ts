/** Commands that only read. A database that isn't there yet is empty to them, and is not made. */
import { AppError } from '../../../core/errors.ts'
import { PAGE_ROWS_MAX, RECALL_MEMORIES_MAX } from '../../../core/limits.ts'
import type { Memory } from '../../../core/memory.ts'
import { STRATEGIES } from '../../../core/settings.ts'
import type { Engine } from '../../../engine/engine.ts'
import type { Page } from '../../../ports/store.ts'
import { type Call, defineCommand, onlyWord, UsageError, withEngine } from '../command.ts'
import { isoTime, memoryJson } from '../json.ts'
import { FILTER_OPTIONS, filteredBy, oneOf, wholeOf } from '../memory-fields.ts'
import { quoted } from '../render.ts'
import {
  renderExplanation,
  renderHistory,
  renderList,
  renderMemory,
  renderResults,
} from '../render-memory.ts'
import { textFrom } from '../text-input.ts'
import { formatTime, parseTime } from '../times.ts'

const LIST_LIMIT = 50

const LIST_OPTIONS = {
  limit: { kind: 'value', value: 'n', help: `How many at most. Default: ${LIST_LIMIT}.` },
  after: { kind: 'value', value: 'id', help: 'Go on after this memory.' },
  oldest: { kind: 'flag', help: 'Oldest first.' },
  'as-of': { kind: 'value', value: 'when', help: 'What was known then: 3d (ago), 2026-12-01.' },
  ...FILTER_OPTIONS,
} as const

export const list = defineCommand({
  name: 'list',
  group: 'Reading',
  summary: 'List memories, newest first.',
  details: 'With `--as-of`, it lists what was remembered and held at that time.',
  arguments: [],
  options: LIST_OPTIONS,
  examples: [
    'recollect list',
    'recollect list --category preference --pinned',
    'recollect list --status forgotten',
    'recollect list --as-of 2026-01-31',
  ],
  async run(call) {
    const page = await withEngine(call, { create: false }, (engine) => pageOf(call, engine))
    const { rows, next } = page
    const lines = rows.length === 0 ? [nothingIn(call, next)] : []
    if (rows.length > 0) lines.push(renderList(call.style, rows, call.host.now()))
    if (next !== null) lines.push('', `There are more: ${nextPage(call, next)}`)
    return { json: { memories: rows.map(memoryJson), next }, text: lines.join('\n') }
  },
})

async function pageOf(call: Call<typeof LIST_OPTIONS>, engine: Engine): Promise<Page<Memory>> {
  const { given, host } = call
  const { scope } = call.setup()
  const paging = {
    limit: given.limit === undefined ? LIST_LIMIT : wholeOf('limit', given.limit, 1, PAGE_ROWS_MAX),
    ...(given.after === undefined ? {} : { after: given.after }),
  }
  const filter = filteredBy(given)
  if (given['as-of'] === undefined) {
    return engine.list(scope, { ...filter, ...paging, order: given.oldest ? 'oldest' : 'newest' })
  }
  if (Object.keys(filter).length > 0 || given.oldest) {
    throw new UsageError('--as-of goes only with --limit and --after.')
  }
  return engine.asOf(scope, parseTime('as-of', given['as-of'], host.now(), 'back'), paging)
}

function nothingIn(call: Call<typeof LIST_OPTIONS>, next: string | null): string {
  const { given } = call
  if (next !== null) return 'None on this page.'
  if (given.after !== undefined) return 'There are no more.'
  if (given['as-of'] !== undefined) {
    const at = parseTime('as-of', given['as-of'], call.host.now(), 'back')
    return `Nothing was known at ${formatTime(at)}.`
  }
  return Object.keys(filteredBy(given)).length > 0
    ? 'No memories match.'
    : 'No memories here yet. Add one: recollect add "I prefer tea over coffee."'
}

/** The same command line, going on where this page ended. */
function nextPage(call: Call<typeof LIST_OPTIONS>, next: string): string {
  const options = Object.entries(call.given).flatMap(([name, value]) => {
    if (!Object.hasOwn(LIST_OPTIONS, name) || name === 'after') return []
    if (value === true) return [`--${name}`]
    if (typeof value === 'string') return [`--${name} ${quoted(value)}`]
    return Array.isArray(value) ? value.map((each) => `--${name} ${each}`) : []
  })
  return call.again(['list', ...options, `--after ${next}`].join(' '))
}

export const get = defineCommand({
  name: 'get',
  group: 'Reading',
  summary: 'Show one memory with everything about it.',
  arguments: [{ name: 'id', help: 'As `list` and `search` show it.', isRequired: true }],
  options: {},
  examples: ['recollect get mem_01kabc…', 'recollect get mem_01kabc… --json'],
  async run(call) {
    const id = onlyWord(call)
    const memory = await withEngine(call, { create: false }, (engine) =>
      engine.get(call.setup().scope, id),
    )
    if (memory === null) throw new AppError('not_found', `There is no memory ${id} here.`, { id })
    return { json: memoryJson(memory), text: renderMemory(call.style, memory, call.host.now()) }
  },
})

export const search = defineCommand({
  name: 'search',
  group: 'Reading',
  summary: 'Find the memories that answer a question, by words and meaning, best first.',
  details:
    'SCORE compares the memories of one answer with each other; COVERS says how much of the question a memory ' +
    'holds, rare words counting more.',
  arguments: [
    { name: 'words', help: 'A question or keywords, or - for standard input.', isRepeated: true },
  ],
  options: {
    limit: {
      kind: 'value',
      value: 'n',
      help: 'How many at most. Default: the setting recallLimit.',
    },
    strategy: {
      kind: 'value',
      value: 'name',
      help: `One of ${STRATEGIES.join(', ')}. Default: the setting strategy.`,
    },
    explain: { kind: 'flag', help: 'Show how each memory got its place, step by step.' },
    ...FILTER_OPTIONS,
  },
  examples: [
    'recollect search what do I drink',
    'recollect search tea --category preference --limit 3',
    'recollect search where did we go last May --explain',
  ],
  async run(call) {
    const { limit, strategy } = call.given
    const query = {
      ...filteredBy(call.given),
      ...(limit === undefined ? {} : { limit: wholeOf('limit', limit, 1, RECALL_MEMORIES_MAX) }),
      ...(strategy === undefined ? {} : { strategy: oneOf('strategy', strategy, STRATEGIES) }),
    }
    const text = await textFrom(call)
    if (text.trim() === '') throw new AppError('invalid_input', 'There are no words to search for.')
    const found = await withEngine(call, { create: false }, (engine) =>
      engine.recall(call.setup().scope, { text, ...query }),
    )
    const { memories, ...about } = found
    const json = {
      results: memories.map(({ memory, ...reasons }) => ({
        memory: memoryJson(memory),
        ...reasons,
      })),
      ...about,
    }
    const render = call.given.explain === true ? renderExplanation : renderResults
    return { json, text: render(call.style, found, call.host.now()) }
  },
})

export const history = defineCommand({
  name: 'history',
  group: 'Reading',
  summary: 'Show every version of a memory and what changed.',
  arguments: [{ name: 'id', help: 'Which memory.', isRequired: true }],
  options: {},
  examples: ['recollect history mem_01kabc…'],
  async run(call) {
    const id = onlyWord(call)
    const entries = await withEngine(call, { create: false }, (engine) =>
      engine.history(call.setup().scope, id),
    )
    const json = {
      versions: entries.map(({ memory, replacedAt }) => ({
        memory: memoryJson(memory),
        replacedAt: isoTime(replacedAt),
      })),
    }
    const hint = `Take a change back: ${call.again(`undo ${entries[0]?.memory.change ?? '<change>'}`)}`
    return { json, text: `${renderHistory(call.style, entries)}\n\n${call.style.dim(hint)}` }
  },
})
