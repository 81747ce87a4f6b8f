/** Read commands. They treat a missing database as empty and do not create it. */
import type { z } from 'zod'
import { RECALL_MEMORIES_MAX } from '../../../../domain/limits.ts'
import { isTurnId } from '../../../../domain/search-document.ts'
import { SETTINGS, STRATEGIES } from '../../../../domain/settings/settings.ts'
import { SEARCH_SOURCES } from '../../../../files/search/source-search.ts'
import { AppError } from '../../../../lib/errors.ts'
import { MEMORY_ORDERS, type MemoryOrder } from '../../../../storage/store.ts'
import { listMemories } from '../../../operations/memories/memory-list-operations.ts'
import { getMemory, memoryHistory } from '../../../operations/memories/memory-operations.ts'
import { LAYERS } from '../../../operations/recall/agent-operations.ts'
import { searchMemories } from '../../../operations/recall/search-operations.ts'
import { defineCommand, type Invocation, requirePositional, UsageError } from '../../command.ts'
import { FILTER_OPTIONS, parseFilterOptions } from '../../input/memory-options.ts'
import { parseChoice, parseInteger } from '../../input/option-values.ts'
import { readTextArgument } from '../../input/text-input.ts'
import { formatTime, parseTime } from '../../input/time-format.ts'
import {
  renderHistory,
  renderMemory,
  renderMemoryList,
  renderRankingTrails,
  renderSearchResults,
} from '../../output/memory-rendering.ts'
import { formatMemoryCount, quoteForShell } from '../../output/text-rendering.ts'
import { searchLayerResult, showTurn } from '../learning/session-commands.ts'

const LIST_LIMIT = 50
const LIST_LIMIT_MAX = 200
const PAGE_MAX = 1_000_000
const OFFSET_MAX = 1_000_000_000
const TOKENS_MAX = 16_000

const LIST_OPTIONS = {
  q: { kind: 'value', value: 'text', help: 'Filter by text in content or key.' },
  limit: { kind: 'value', value: 'n', help: `How many at most. Default: ${LIST_LIMIT}.` },
  page: { kind: 'value', value: 'n', help: 'Page number, from 1.' },
  offset: { kind: 'value', value: 'n', help: 'Number of results to skip, instead of --page.' },
  after: { kind: 'value', value: 'id', help: 'Continue after this memory, instead of --page.' },
  sort: {
    kind: 'value',
    value: 'order',
    help: `One of ${MEMORY_ORDERS.join(', ')}. Default: newest.`,
  },
  oldest: { kind: 'flag', help: 'The same as --sort oldest.' },
  updated: { kind: 'flag', help: 'The same as --sort updated.' },
  'as-of': { kind: 'value', value: 'when', help: 'The state at this time: 3d (ago), 2026-12-01.' },
  ...FILTER_OPTIONS,
} as const

type ListCall = Invocation<typeof LIST_OPTIONS>

export const listCommand = defineCommand({
  name: 'list',
  group: 'Read',
  summary: 'List memories, newest first.',
  details: 'With `--as-of`, lists the memories that were stored and valid at that time.',
  arguments: [],
  options: LIST_OPTIONS,
  examples: [
    'recollect list',
    'recollect list --q lisbon --category preference --pinned',
    'recollect list --limit 20 --page 3',
    'recollect list --sort importance',
    'recollect list --status forgotten',
    'recollect list --as-of 2026-01-31',
  ],
  async run(call) {
    const page = await call.perform(listMemories, listInput(call))
    const { data, next } = page
    const lines = data.length === 0 ? [nothingIn(call, next)] : []
    if (data.length > 0) lines.push(renderMemoryList(call.style, data, call.host.now()))
    if (next !== null) lines.push('', moreOf(call, next, page.total))
    return { json: page, text: lines.join('\n') }
  },
})

function listInput(call: ListCall): z.input<(typeof listMemories)['input']> {
  const { options: given, host } = call
  const filter = parseFilterOptions(given)
  const { limit, after, q } = given
  const position = positionOf(call)
  const order = orderOf(call)
  const paging = {
    limit: limit === undefined ? LIST_LIMIT : parseInteger('limit', limit, 1, LIST_LIMIT_MAX),
    ...(after === undefined ? {} : { after: afterOf(after) }),
  }
  if (given['as-of'] === undefined) {
    const text = q === undefined ? {} : { q }
    return { ...filter, ...text, ...paging, ...position, ...order }
  }
  const others = { ...filter, ...position, ...order }
  if (Object.keys(others).length > 0 || q !== undefined) {
    throw new UsageError('--as-of goes only with --limit and --after.')
  }
  return { ...paging, asOf: parseTime('as-of', given['as-of'], host.now(), 'back') }
}

function positionOf({ options: given }: ListCall): {
  readonly page?: number
  readonly offset?: number
} {
  const ways = (['page', 'offset', 'after'] as const).filter((name) => given[name] !== undefined)
  if (ways.length > 1) {
    throw new UsageError(
      `Give one of ${ways.map((name) => `--${name}`).join(' and ')}, not several.`,
    )
  }
  const { page, offset } = given
  if (page !== undefined) return { page: parseInteger('page', page, 1, PAGE_MAX) }
  return offset === undefined ? {} : { offset: parseInteger('offset', offset, 0, OFFSET_MAX) }
}

function orderOf({ options: given }: ListCall): { readonly order?: MemoryOrder } {
  const orders = [
    ...(given.sort === undefined ? [] : [parseChoice('sort', given.sort, MEMORY_ORDERS)]),
    ...(['oldest', 'updated'] as const).filter((name) => given[name]),
  ]
  if (orders.length > 1) {
    const ways = (['sort', 'oldest', 'updated'] as const).filter((name) => given[name])
    const named = ways.map((name) => `--${name}`).join(' and ')
    throw new UsageError(`${named} contradict each other. Give one of them.`)
  }
  const [order] = orders
  return order === undefined ? {} : { order }
}

/** Refuses other values, which would be taken for a cursor. */
function afterOf(text: string): string {
  if (/^(-?[\d.e-]{1,30}~)?mem_\w{1,60}$/.test(text)) return text
  throw new UsageError(
    `--after takes the id of a memory, not "${text.slice(0, 40)}".`,
    'Use the id printed at the end of the previous page.',
  )
}

function nothingIn(call: ListCall, next: string | null): string {
  const { options: given } = call
  if (next !== null) return 'None on this page.'
  if (given.after !== undefined) return 'There are no more.'
  if (given.page !== undefined || given.offset !== undefined) return 'There are not that many.'
  if (given['as-of'] !== undefined) {
    const at = parseTime('as-of', given['as-of'], call.host.now(), 'back')
    return `Nothing was known at ${formatTime(at)}.`
  }
  return given.q !== undefined || Object.keys(parseFilterOptions(given)).length > 0
    ? 'No memories match.'
    : 'No memories here yet. Add one: recollect add "I prefer tea over coffee."'
}

/** The same command line for the next page. */
function moreOf(call: ListCall, next: string, total: number): string {
  const { options: given } = call
  const moves = given.page !== undefined || given.offset !== undefined
  const limit = given.limit === undefined ? LIST_LIMIT : Number(given.limit)
  const page = given.page === undefined ? 1 : Number(given.page)
  const further = !moves
    ? `--after ${next}`
    : given.offset === undefined
      ? `--page ${page + 1}`
      : `--offset ${Number(given.offset) + limit}`
  const options = Object.entries(given).flatMap(([name, value]) => {
    if (!Object.hasOwn(LIST_OPTIONS, name) || ['after', 'page', 'offset'].includes(name)) return []
    if (value === true) return [`--${name}`]
    if (typeof value === 'string') return [`--${name} ${quoteForShell(value)}`]
    return Array.isArray(value) ? value.map((each) => `--${name} ${each}`) : []
  })
  const commandLine = call.suggestCommand(['list', ...options, further].join(' '))
  const of = given['as-of'] === undefined ? ` (${formatMemoryCount(total)} in all)` : ''
  return `There are more${of}: ${commandLine}`
}

export const getCommand = defineCommand({
  name: 'get',
  group: 'Read',
  summary: 'Show a memory or a turn with all attributes.',
  arguments: [{ name: 'id', help: 'The id, as shown by `list` and `search`.', isRequired: true }],
  options: {},
  examples: ['recollect get mem_01kabc…', 'recollect get mem_01kabc… --json'],
  async run(call) {
    const id = requirePositional(call)
    if (isTurnId(id)) return showTurn(call, id)
    const found = await call.perform(getMemory, { id, includeTrash: true })
    return { json: found, text: renderMemory(call.style, found.memory, call.host.now()) }
  },
})

export const searchCommand = defineCommand({
  name: 'search',
  group: 'Read',
  summary: 'Search memories and conversation turns, best first.',
  details:
    'Memories and turns share one ranking. Narrow it with `--source memories --source ' +
    'episodes` or `--source transcript`. Filters on fields that turns lack, such as ' +
    '`--category`, exclude turns. `get` shows a result in full, `sessions show` its ' +
    'conversation. SCORE is comparable within one result list; COVERS is the share of ' +
    'query terms in a result, weighted by rarity.',
  arguments: [
    { name: 'words', help: 'A question or keywords, or - for standard input.', isRepeated: true },
  ],
  options: {
    limit: {
      kind: 'value',
      value: 'n',
      help: 'Maximum number of results. Default: the setting recall.limit.',
    },
    strategy: {
      kind: 'value',
      value: 'name',
      help: `One of ${STRATEGIES.join(', ')}. Default: the setting strategy.`,
    },
    scope: {
      kind: 'value',
      value: 'where',
      help: `One of ${SETTINGS['recall.scope'].choices.join(', ')}. Default: the setting recallScope.`,
    },
    'max-tokens': { kind: 'value', value: 'n', help: 'Token budget of all results.' },
    'as-of': {
      kind: 'value',
      value: 'when',
      help: 'The state at this time: 3d (ago), 2026-12-01.',
    },
    explain: { kind: 'flag', help: 'Show the ranking trail of each result.' },
    layer: {
      kind: 'value',
      value: 'name',
      help: `Only one layer: ${LAYERS.join(', ')}. Goes with --limit and --days only.`,
    },
    days: { kind: 'value', value: 'n', help: 'With `--layer transcript`: maximum age in days.' },
    source: {
      kind: 'values',
      value: 'name',
      help: `Search only this source: ${SEARCH_SOURCES.join(', ')}; repeatable, in one list. Default: memories, episodes and transcript.`,
    },
    ...FILTER_OPTIONS,
  },
  examples: [
    'recollect search what do I drink',
    'recollect search tea --category preference --limit 3',
    'recollect search where did we go last May --explain',
    'recollect search ferry tickets --layer transcript --days 30',
    'recollect search ferry tickets --source transcript',
    'recollect search the new router --source memories --source files',
  ],
  async run(call) {
    const { limit, strategy, scope, explain, 'max-tokens': tokens, 'as-of': asOf } = call.options
    const { layer, days, source } = call.options
    const { choices } = SETTINGS['recall.scope']
    const query = {
      ...parseFilterOptions(call.options),
      ...(limit === undefined
        ? {}
        : { limit: parseInteger('limit', limit, 1, RECALL_MEMORIES_MAX) }),
      ...(strategy === undefined
        ? {}
        : { strategy: parseChoice('strategy', strategy, STRATEGIES) }),
      ...(scope === undefined ? {} : { scope: parseChoice('scope', scope, choices) }),
      ...(tokens === undefined
        ? {}
        : { maxTokens: parseInteger('max-tokens', tokens, 1, TOKENS_MAX) }),
      ...(asOf === undefined ? {} : { asOf: parseTime('as-of', asOf, call.host.now(), 'back') }),
      ...(source.length === 0
        ? {}
        : { sources: source.map((name) => parseChoice('source', name, SEARCH_SOURCES)) }),
    }
    const text = await readTextArgument(call)
    if (text.trim() === '') throw new AppError('invalid_input', 'The query must not be empty.')
    if (layer !== undefined) {
      if (explain || Object.keys(query).some((name) => name !== 'limit')) {
        throw new UsageError('--layer goes only with --limit and --days.')
      }
      return searchLayerResult(call, text, { layer, limit, days })
    }
    if (days !== undefined) throw new UsageError('--days goes with --layer transcript.')
    const detail = explain ? ('explain' as const) : ('full' as const)
    const found = await call.perform(searchMemories, { query: text, ...query, detail })
    const render = explain ? renderRankingTrails : renderSearchResults
    return { json: found, text: render(call.style, found, call.host.now()) }
  },
})

export const historyCommand = defineCommand({
  name: 'history',
  group: 'Read',
  summary: 'Show all versions of a memory with their changes.',
  arguments: [{ name: 'id', help: 'The memory.', isRequired: true }],
  options: {},
  examples: ['recollect history mem_01kabc…'],
  async run(call) {
    const output = await call.perform(memoryHistory, { id: requirePositional(call) })
    const { versions } = output
    const hint = `Take a change back: ${call.suggestCommand(`undo ${versions[0]?.memory.change ?? '<change>'}`)}`
    const text = `${renderHistory(call.style, versions)}\n\n${call.style.dim(hint)}`
    return { json: output, text }
  },
})
