/** The `files` command: roots, index state and content. */
import { resolve } from 'node:path'
import type { z } from 'zod'
import { formatCitation } from '../../../../files/citation.ts'
import { FILE_SOURCES, ROOT_KINDS } from '../../../../files/file.ts'
import { AppError } from '../../../../lib/errors.ts'
import {
  addRoot,
  appendNote,
  filesStatus,
  listRoots,
  removeRoot,
  searchFiles,
  syncFiles,
  type WireFileHit,
  type WireRoot,
} from '../../../operations/files/file-operations.ts'
import { writeSessionNote } from '../../../operations/files/session-note-operation.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import { parseAction, parseChoice, parseInteger, parseNumber } from '../../input/option-values.ts'
import { readTextArgument } from '../../input/text-input.ts'
import { formatAge } from '../../input/time-format.ts'
import {
  createProgressLine,
  createTimeEstimate,
  formatPercent,
} from '../../output/progress-line.ts'
import {
  escapeControlCharacters,
  formatCount,
  formatNumber,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'
import { watchFiles } from './file-watch.ts'

const ACTIONS = [
  'list',
  'add',
  'remove',
  'status',
  'index',
  'search',
  'append',
  'write-session-note',
  'watch',
] as const
const RESULTS_MAX = 100

const OPTIONS = {
  kind: {
    kind: 'value',
    value: 'kind',
    help: `Of add: one of ${ROOT_KINDS.join(', ')}. Default: path.`,
  },
  include: { kind: 'values', value: 'glob', help: 'With add: include matching files; repeatable.' },
  exclude: { kind: 'values', value: 'glob', help: 'With add: exclude matching files; repeatable.' },
  probe: { kind: 'flag', help: 'With status: also test the embedding model and vector search.' },
  force: { kind: 'flag', help: 'With index: read and chunk every file again.' },
  'skip-vectors': {
    kind: 'flag',
    help: 'With index: leave embedding to the background; lexical search works at once.',
  },
  'max-results': { kind: 'value', value: 'n', help: 'With search. Default: 6.' },
  'min-score': { kind: 'value', value: 'n', help: 'With search, 0 to 1. Default: 0.35.' },
  source: {
    kind: 'values',
    value: 'name',
    help: `Of search: one of ${FILE_SOURCES.join(', ')}; repeatable.`,
  },
} as const

export type FilesInvocation = Invocation<typeof OPTIONS>

/** The options of each action; others are rejected. */
const TAKEN: { readonly [Name in keyof typeof OPTIONS]: (typeof ACTIONS)[number] } = {
  kind: 'add',
  include: 'add',
  exclude: 'add',
  probe: 'status',
  force: 'index',
  'skip-vectors': 'index',
  'max-results': 'search',
  'min-score': 'search',
  source: 'search',
}

export const filesCommand = defineCommand({
  name: 'files',
  group: 'Read',
  summary: 'Index and search Markdown notes and transcripts.',
  details:
    'A root is a workspace (MEMORY.md and memory/, which `append` writes to), any file ' +
    'or folder of notes, or a folder of session transcripts. Changes are indexed on ' +
    'search, by `index`, and continuously by servers. `index` also computes missing ' +
    'vectors; it can be interrupted and resumes.',
  arguments: [
    { name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: list.` },
    {
      name: 'what',
      help: 'The path to add; the id, name or path to remove; words to search for; text to append; the session to flush.',
      isRepeated: true,
    },
  ],
  options: OPTIONS,
  examples: [
    'recollect files add ~/agent --kind workspace',
    "recollect files add ~/notes --exclude 'drafts/**'",
    'recollect files status --probe',
    'recollect files search where is the spare key',
    'recollect files append "The spare key is at the neighbours\'."',
  ],
  async run(call) {
    const [word, ...rest] = call.positionals
    const action = parseAction('files', word, ACTIONS)
    refuseStray(call, action)
    switch (action) {
      case 'list':
        return listed(call)
      case 'add':
        return added(call, only(action, rest, 'a <path>'))
      case 'remove':
        return removed(call, only(action, rest, 'the id, name or path of a root'))
      case 'status':
        return status(call)
      case 'index':
        return indexed(call)
      case 'search':
        return searched(call, rest)
      case 'append':
        return appended(call, rest)
      case 'write-session-note':
        return flushed(call, only(action, rest, 'a <session>'))
      case 'watch':
        return watchFiles(call)
    }
  },
})

function refuseStray({ options: given }: FilesInvocation, action: string): void {
  for (const [name, owner] of Object.entries(TAKEN)) {
    const value = given[name as keyof typeof OPTIONS] // a key of the same table
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false
    if (isGiven && owner !== action) throw new UsageError(`--${name} goes with \`files ${owner}\`.`)
  }
}

function only(action: string, words: readonly string[], what: string): string {
  const [word] = words
  if (word !== undefined && words.length === 1) return word
  throw new UsageError(`\`files ${action}\` needs ${what}, and nothing else.`)
}

async function listed(call: FilesInvocation): Promise<CommandResult> {
  const output = await call.perform(listRoots, {})
  if (output.roots.length === 0) {
    const text = `No files are indexed. Add some: ${call.suggestCommand('files add <path>')}`
    return { json: output, text }
  }
  const rows = output.roots.map((root) => [
    { text: root.id },
    { text: root.kind },
    { text: toTerminalLine(root.name === '' ? '-' : root.name) },
    { text: placeOf(root) },
  ])
  return { json: output, text: renderTable(call.style, ['ID', 'KIND', 'NAME', 'PATH'], rows) }
}

function placeOf({ path, include, exclude }: WireRoot): string {
  const globs = [
    ...include.map((glob) => `+${toTerminalLine(glob)}`),
    ...exclude.map((glob) => `-${toTerminalLine(glob)}`),
  ]
  return [toTerminalLine(path ?? '(unknown)'), ...globs].join(' ')
}

async function added(call: FilesInvocation, given: string): Promise<CommandResult> {
  const { kind, include, exclude } = call.options
  // Resolved locally like any path argument, except for a server, which has other folders.
  const path = call.getEnvironment().remote === null ? resolve(given) : given
  const output = await call.perform(addRoot, {
    path,
    ...(kind === undefined ? {} : { kind: parseChoice('kind', kind, ROOT_KINDS) }),
    ...(include.length === 0 ? {} : { include: [...include] }),
    ...(exclude.length === 0 ? {} : { exclude: [...exclude] }),
  })
  const { root } = output
  const text = `Added ${toTerminalLine(root.path ?? path)} (${root.id}). Index it now: ${call.suggestCommand('files index')}`
  return { json: output, text }
}

async function removed(call: FilesInvocation, named: string): Promise<CommandResult> {
  const { roots } = await call.perform(listRoots, {})
  const path = call.getEnvironment().remote === null ? resolve(named) : named
  const meant = roots.filter(
    (root) => root.id === named || root.name === named || root.path === path,
  )
  const [root] = meant
  if (root === undefined || meant.length > 1) {
    const message =
      root === undefined ? `There is no root ${named}.` : `Several roots are called ${named}.`
    throw new AppError('not_found', `${message} See \`${call.suggestCommand('files list')}\`.`)
  }
  const output = await call.perform(removeRoot, { id: root.id })
  return { json: output, text: `Removed ${toTerminalLine(root.path ?? root.id)}. Its files stay.` }
}

type Status = z.output<(typeof filesStatus)['output']>

async function status(call: FilesInvocation): Promise<CommandResult> {
  const output = await call.perform(filesStatus, { probe: call.options.probe })
  const { watching, model, provider, rebuilding, probes, sources } = output
  const chunks = sources.memory.chunks + sources.sessions.chunks
  const text = renderFields(call.style, [
    ['searched by', backendText(output)],
    ['embedding', model === null ? 'none; found by words' : `${provider} ${toTerminalLine(model)}`],
    [
      'holds',
      `${formatCount(sources.memory.files, 'note')}, ${formatCount(sources.sessions.files, 'transcript')}, ${formatCount(chunks, 'chunk')}`,
    ],
    ...(output.withoutVector === 0 ? [] : [['without vector', withoutVectorText(output)] as const]),
    ['watching', watching.reason === null ? watching.mode : `${watching.mode}: ${watching.reason}`],
    ...(rebuilding === null
      ? []
      : [['rebuilding', `${rebuilding.filesDone} of ${rebuilding.filesTotal}`] as const]),
    ...(probes === undefined
      ? []
      : [
          ['model', probeText(probes.embedding)] as const,
          ['vectors', probeText(probes.vectors)] as const,
        ]),
    ...output.roots.map((root) => ['root', rootText(call, root)] as const),
  ])
  return { json: output, text }
}

function backendText({ backend, facts }: Status): string {
  const { bypassReason } = facts
  return bypassReason === undefined
    ? backend
    : `${backend}, as ${facts.primary} fails: ${toTerminalLine(String(bypassReason))}`
}

function withoutVectorText({ withoutVector, withoutVectorReason: reason }: Status): string {
  const chunks = formatCount(withoutVector, 'chunk')
  return reason === null ? chunks : `${chunks}: ${toTerminalLine(reason)}`
}

function probeText({ ok, error }: { readonly ok: boolean; readonly error: string | null }): string {
  return ok ? 'works' : `does not work: ${toTerminalLine(error ?? 'no reason is known')}`
}

const PROBLEMS_SHOWN = 10

function rootText(call: FilesInvocation, root: Status['roots'][number]): string {
  const { lastSyncAt, problems } = root
  const looked =
    lastSyncAt === null
      ? 'not indexed yet'
      : `looked at ${formatAge(Date.parse(lastSyncAt), call.host.now())}`
  return [
    `${placeOf(root)} (${root.kind}, ${root.id})`,
    `${formatCount(root.files, 'file')}, ${formatCount(root.chunks, 'chunk')}, ${looked}${root.dirty ? ', may have changed' : ''}`,
    ...problemLines(problems),
  ].join('\n')
}

function problemLines(problems: readonly { readonly message: string }[]): readonly string[] {
  const lines = problems.slice(0, PROBLEMS_SHOWN).map(({ message }) => toTerminalLine(message))
  const more = problems.length - lines.length
  return more === 0 ? lines : [...lines, `… and ${more} more.`]
}

async function indexed(call: FilesInvocation): Promise<CommandResult> {
  const { force, 'skip-vectors': skipVectors } = call.options
  // A server computes vectors in the background, without an open request.
  const embed = !skipVectors && call.getEnvironment().remote === null
  const progress = createProgressLine(call.host)
  const rest = createTimeEstimate(call.host.now)
  try {
    const output = await call.perform(
      syncFiles,
      { force, embed },
      ({ done, total, of = 'file' }) => {
        const left = rest(of, done, total)
        progress.show(
          `${formatNumber(done)} of ${formatCount(total, of)}${of === 'chunk' ? ' embedded' : ''}${formatPercent(done, total)}${left}`,
        )
      },
    )
    const { added: news, changed, moved, removed: gone, unchanged, chunks, problems } = output
    const text = [
      `${formatCount(news + changed + moved + unchanged, 'file')}, ${formatCount(chunks, 'chunk')}: ${news} new, ${changed} changed, ${moved} moved, ${gone} gone.`,
      ...problemLines(problems),
    ].join('\n')
    return { json: output, text }
  } finally {
    progress.clear()
  }
}

async function searched(call: FilesInvocation, words: readonly string[]): Promise<CommandResult> {
  const { 'max-results': most, 'min-score': least, source } = call.options
  const query = await given(call, words)
  if (query.trim() === '') throw new AppError('invalid_input', 'The query must not be empty.')
  const output = await call.perform(searchFiles, {
    query,
    ...(most === undefined
      ? {}
      : { maxResults: parseInteger('max-results', most, 1, RESULTS_MAX) }),
    ...(least === undefined ? {} : { minScore: parseNumber('min-score', least) }),
    ...(source.length === 0
      ? {}
      : { sources: source.map((name) => parseChoice('source', name, FILE_SOURCES)) }),
  })
  const { results, fallbackReason } = output
  const lines = [
    results.length === 0 ? 'No matches.' : results.map((hit) => hitText(call, hit)).join('\n\n'),
    ...(fallbackReason === null ? [] : [`\n${toTerminalLine(fallbackReason)}`]),
  ]
  return { json: output, text: lines.join('\n') }
}

function hitText({ style }: FilesInvocation, hit: WireFileHit): string {
  const { path, startLine: lineFirst, endLine: lineLast, score, snippet } = hit
  const place = toTerminalLine(formatCitation({ path, lineFirst, lineLast }))
  return `${score.toFixed(2)}  ${style.bold(place)}\n${escapeControlCharacters(snippet).replace(/^/gm, '      ')}`
}

async function appended(call: FilesInvocation, words: readonly string[]): Promise<CommandResult> {
  const output = await call.perform(appendNote, { text: await given(call, words) })
  return { json: output, text: `Added to ${output.path}.` }
}

async function flushed(call: FilesInvocation, id: string): Promise<CommandResult> {
  const output = await call.perform(writeSessionNote, { id })
  const { outcome, path, written } = output
  const done = written ? `Added to ${path}.` : `${path} says it already.`
  return { json: output, text: path === null ? `Nothing was written: ${outcome}.` : done }
}

/** The arguments after the action; `-` or none reads standard input. */
function given(call: FilesInvocation, words: readonly string[]): Promise<string> {
  return readTextArgument(
    { ...call, isStdinRequested: words.length === 1 && words[0] === '-' },
    words,
  )
}
