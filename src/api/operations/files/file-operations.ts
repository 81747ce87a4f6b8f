/** Operations on memory in files: roots, search, reading, notes. */
import { z } from 'zod'
import type { OwnerId } from '../../../domain/ids.ts'
import { parseScope } from '../../../domain/scope.ts'
import { CITATION_MODES } from '../../../domain/settings/setting-choices.ts'
import { type CitationMode, formatCitation, isCitationShown } from '../../../files/citation.ts'
import { FILE_PROBLEMS, FILE_SOURCES, type FileProblem, ROOT_KINDS } from '../../../files/file.ts'
import type {
  FileHit,
  FileQuery,
  FileSearchResult,
  FileStatus,
} from '../../../files/file-search.ts'
import type { Files } from '../../../files/files.ts'
import type { NamedRoot } from '../../../files/roots.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { type Access, hasAccess } from '../authorization.ts'
import { isoTime, listField } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveOwner, type ScopeFields, scopeFields } from '../scope-fields.ts'

const QUERY_CHARACTERS = 10_000
const PATH_CHARACTERS = 4_000
const NOTE_CHARACTERS = 100_000
const RESULTS_MAX = 100
const LINE_MAX = 1_000_000_000

const { owner, apiKeyId } = scopeFields

export const fileScopeFields = { owner, apiKeyId }
const globs = z.array(z.string().min(1).max(500)).max(100)

export type OwnerFiles = { readonly files: Files; readonly owner: OwnerId }

/** The files of the resolved owner. */
export function resolveOwnerFiles(
  context: OperationContext,
  input: ScopeFields,
  access: Access,
): OwnerFiles {
  const named = resolveOwner(context, input, access)
  const { files } = context.engine
  if (files === null) {
    throw new AppError('missing_part', 'The file index is not available with this store.')
  }
  return { files, owner: parseScope({ owner: named }).owner }
}

const wireRoot = z
  .object({
    id: z.string(),
    kind: z
      .enum(ROOT_KINDS)
      .describe(
        '`workspace`: MEMORY.md and memory/, which are also written to. `path`: a file or a folder of notes. `sessions`: transcripts.',
      ),
    name: z.string().describe('Prefix of the paths of its files. Empty for the workspace.'),
    path: z
      .string()
      .nullable()
      .describe('Its path; null for callers without the manage permission.'),
    include: z.array(z.string()),
    exclude: z.array(z.string()),
  })
  .meta({ id: 'FileRoot' })

export type WireRoot = z.output<typeof wireRoot>

function toWireRoot({ caller }: OperationContext, root: NamedRoot): WireRoot {
  const { id, kind, name, path, include, exclude } = root
  const showsPath = hasAccess(caller, 'manage')
  return {
    ...{ id, kind, name, include: [...include], exclude: [...exclude] },
    path: showsPath ? path : null,
  }
}

export const listRoots = defineOperation({
  name: 'files.roots',
  summary: 'Lists the file roots of an owner.',
  access: 'read',
  input: z.strictObject(fileScopeFields),
  output: z.object({ roots: z.array(wireRoot) }),
  http: { method: 'GET', path: '/api/files/roots' },
  cli: 'files',
  run: async (context, input) => {
    const of = resolveOwnerFiles(context, input, 'read')
    const roots = await of.files.roots.list(of.owner)
    return { roots: roots.map((root) => toWireRoot(context, root)) }
  },
})

export const addRoot = defineOperation({
  name: 'files.addRoot',
  summary: "Adds a file root: files on the server's machine are indexed for an owner.",
  // Whoever adds a root can read its files.
  access: 'manage',
  isIdempotent: true,
  input: z.strictObject({
    ...fileScopeFields,
    kind: z.enum(ROOT_KINDS).default('path'),
    path: z.string().min(1).max(PATH_CHARACTERS).describe('Absolute, or within the workspace.'),
    include: globs.optional().describe('Only files that match these globs, such as `**/*.md`.'),
    exclude: globs.optional(),
  }),
  output: z.object({ success: z.literal(true), root: wireRoot }),
  http: { method: 'POST', path: '/api/files/roots', status: 201 },
  cli: 'files',
  targets: ({ root }) => [root.id],
  run: async (context, { kind, path, include, exclude, ...input }) => {
    const of = resolveOwnerFiles(context, input, 'manage')
    const globOptions = omitUndefined({ include, exclude })
    const root = await of.files.roots.add(of.owner, { kind, path, ...globOptions } as never) // without what is undefined
    return { success: true as const, root: toWireRoot(context, root) }
  },
})

export const removeRoot = defineOperation({
  name: 'files.removeRoot',
  summary: 'Removes a file root from the index. The files are not touched.',
  access: 'manage',
  isIdempotent: true,
  input: z.strictObject({ ...fileScopeFields, id: z.string().min(1).max(200) }),
  output: z.object({ success: z.literal(true), id: z.string() }),
  http: { method: 'DELETE', path: '/api/files/roots/{id}' },
  cli: 'files',
  targets: ({ id }) => [id],
  run: async (context, { id, ...input }) => {
    const of = resolveOwnerFiles(context, input, 'manage')
    if (!(await of.files.roots.remove(of.owner, id))) {
      throw new AppError('not_found', `File root ${id} not found.`, { id })
    }
    return { success: true as const, id }
  },
})

const countOutput = z.object({ files: z.int(), chunks: z.int() })
const probeOutput = z.object({ ok: z.boolean(), error: z.string().nullable() })

export const fileProblem = z.object({
  path: z.string().describe('Empty for the root itself.'),
  reason: z.enum(FILE_PROBLEMS),
  message: z.string(),
})

export const filesStatus = defineOperation({
  name: 'files.status',
  summary: "State of an owner's file index, with problems.",
  access: 'read',
  input: z.strictObject({
    ...fileScopeFields,
    probe: z.boolean().default(false).describe('Also tests the embedding model and vector search.'),
  }),
  output: z.object({
    backend: z.string().describe('The search backend in use: `builtin` or `qmd`.'),
    roots: z.array(
      wireRoot.extend({
        ...countOutput.shape,
        dirty: z.boolean().describe('Whether files may have changed since the last sync.'),
        lastSyncAt: z.string().nullable(),
        problems: z.array(fileProblem),
      }),
    ),
    sources: z.object({ memory: countOutput, sessions: countOutput }),
    watching: z.object({
      mode: z.enum(['events', 'polling', 'off']),
      reason: z.string().nullable().describe('Why changes are not watched by events.'),
    }),
    provider: z.string().nullable().describe('Provider of the embedding model; null without one.'),
    model: z.string().nullable(),
    withoutVector: z
      .int()
      .describe('Chunks that have no vector yet: only keyword search finds them.'),
    withoutVectorReason: z
      .string()
      .nullable()
      .describe('What failed; null while the chunks just wait to be embedded.'),
    rebuilding: z.object({ filesDone: z.int(), filesTotal: z.int() }).nullable(),
    facts: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    probes: z.object({ embedding: probeOutput, vectors: probeOutput }).optional(),
  }),
  http: { method: 'GET', path: '/api/files/status' },
  cli: 'files',
  run: async (context, { probe, ...input }) => {
    const { files, owner: of } = resolveOwnerFiles(context, input, 'read')
    const [status, roots] = await Promise.all([files.status(of), files.roots.list(of)])
    const { bySource, roots: states, facts, watching, rebuilding, ...rest } = status
    return {
      ...rest,
      ...{ watching: { ...watching }, facts: { ...facts } },
      rebuilding: rebuilding && { ...rebuilding },
      sources: { memory: { ...bySource.memory }, sessions: { ...bySource.sessions } },
      roots: roots.map((root) => toRootStatus(context, root, states)),
      ...(probe ? { probes: await toProbes(files) } : {}),
    }
  },
})

async function toProbes(files: Files) {
  const [embedding, vectors] = await Promise.all([
    files.probeEmbeddingAvailability(),
    files.probeVectorAvailability(),
  ])
  return { embedding: { ...embedding }, vectors: { ...vectors } }
}

function toRootStatus(context: OperationContext, root: NamedRoot, states: FileStatus['roots']) {
  const wire = toWireRoot(context, root)
  const state = states.find(({ id }) => id === root.id)
  return {
    ...wire,
    files: state?.files ?? 0,
    chunks: state?.chunks ?? 0,
    dirty: state?.isDirty ?? true,
    lastSyncAt: isoTime(state?.lastSyncAt ?? null),
    problems: (state?.problems ?? []).map((each) =>
      wire.path === null ? redactRootPath(each, root) : { ...each },
    ),
  }
}

/** Paths on the server's machine are not for everybody. */
export function redactRootPath({ path, reason, message }: FileProblem, root: NamedRoot) {
  const name = root.name === '' ? 'the workspace' : root.name
  const hide = (text: string) => text.replaceAll(root.path, name)
  return { path: hide(path), reason, message: hide(message) }
}

export const syncFiles = defineOperation({
  name: 'files.sync',
  summary: 'Synchronizes the file index of an owner now and reports the changes.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...fileScopeFields,
    force: z.boolean().default(false).describe('Re-reads and re-chunks every file.'),
    embed: z
      .boolean()
      .default(false)
      .describe(
        'Waits until every chunk has a vector; otherwise they are embedded in the background.',
      ),
  }),
  output: z.object({
    added: z.int(),
    changed: z.int(),
    moved: z.int(),
    removed: z.int(),
    unchanged: z.int(),
    chunks: z.int(),
    problems: z.array(fileProblem),
    durationMs: z.number(),
  }),
  http: { method: 'POST', path: '/api/files/sync' },
  cli: 'files',
  run: async (context, { force, embed: embeds, ...input }) => {
    const { files, owner: of } = resolveOwnerFiles(context, input, 'write')
    const { signal, onProgress } = context
    const { problems, ...report } = await files.sync(of, {
      ...{ force, embeds, signal },
      onProgress: ({ filesDone, filesTotal }) =>
        onProgress?.({ done: filesDone, total: filesTotal, of: 'file' }),
      onEmbedding: (progress) => onProgress?.({ ...progress, of: 'chunk' }),
    })
    if (hasAccess(context.caller, 'manage')) return { ...report, problems: [...problems] }
    const roots = await files.roots.list(of)
    return {
      ...report,
      problems: problems.map((each) => roots.reduce(redactRootPath, { ...each })),
    }
  },
})

/** As the prompts of agents expect. */
export const fileSearchFields = {
  query: z.string().min(1).max(QUERY_CHARACTERS),
  maxResults: z.int().min(1).max(RESULTS_MAX).optional(),
  minScore: z.number().min(0).max(1).optional(),
  sources: listField(z.enum(FILE_SOURCES))
    .optional()
    .describe('`memory`: notes. `sessions`: transcripts. Default: both.'),
  sessionKey: z
    .string()
    .max(1_000)
    .optional()
    .describe('The session key of the caller, such as `agent:main:discord:group:42`.'),
}

const fileHit = z.object({
  path: z.string(),
  startLine: z.int().describe('1-based, inclusive.'),
  endLine: z.int(),
  score: z.number().describe('0 to 1.'),
  snippet: z.string(),
  source: z.enum(FILE_SOURCES),
  headings: z.array(z.string()),
  citation: z
    .string()
    .optional()
    .describe('For example `memory/2026-11-15.md#L5-L9`, where citations are on.'),
})

export type WireFileHit = z.output<typeof fileHit>

export function toFileHit(hit: FileHit, isWithCitation: boolean): WireFileHit {
  const { path, startLine: lineFirst, endLine: lineLast, headings } = hit
  const citation = isWithCitation ? { citation: formatCitation({ path, lineFirst, lineLast }) } : {}
  return { ...hit, headings: [...headings], ...citation }
}

/** The backend that answered, and its mode. */
export const fileAnswer = z.object({
  backend: z.string().describe('The search backend that answered: `builtin` or `qmd`.'),
  provider: z.string().nullable().describe('Provider of the embedding model; null without one.'),
  model: z.string().nullable(),
  fallbackReason: z.string().nullable().describe('The unavailable component and the reason.'),
  citations: z.enum(CITATION_MODES),
  mode: z.enum(['hybrid', 'keyword']),
})

export function toFileAnswer(answer: FileSearchResult, citations: CitationMode) {
  const { backend, provider, model, fallbackReason, mode } = answer
  return { backend, provider, model, fallbackReason, mode, citations }
}

export const searchFiles = defineOperation({
  name: 'files.search',
  summary: 'Searches files, best first. May return nothing.',
  access: 'read',
  input: z.strictObject({ ...fileScopeFields, ...fileSearchFields }),
  output: fileAnswer.extend({ results: z.array(fileHit) }),
  http: { method: 'POST', path: '/api/files/search' },
  cli: 'files',
  run: async (context, { query, maxResults, minScore, sources, sessionKey, ...input }) => {
    const { files, owner: of } = resolveOwnerFiles(context, input, 'read')
    const asked = omitUndefined({
      text: query,
      maxResults,
      minScore,
      sources,
      session: sessionKey,
      signal: context.signal,
    })
    const answer = await files.search(of, asked as FileQuery) // without what is undefined
    const { 'files.citations': citations } = await context.engine.admin.settings.resolve(of)
    const isWithCitation = isCitationShown(citations, sessionKey)
    const results = answer.hits.map((hit) => toFileHit(hit, isWithCitation))
    return { ...toFileAnswer(answer, citations), results }
  },
})

export const filePath = z
  .string()
  .min(1)
  .max(PATH_CHARACTERS)
  .describe('The path as returned by search.')

export const fileTextFields = {
  path: filePath,
  from: z.int().min(1).max(LINE_MAX).optional().describe('The first line, from 1.'),
  lines: z.int().min(1).max(LINE_MAX).optional().describe('Number of lines. Default: all.'),
}

export const getFileText = defineOperation({
  name: 'files.get',
  summary: 'Reads a file or some of its lines; empty with a reason when it does not exist.',
  access: 'read',
  input: z.strictObject({ ...fileScopeFields, ...fileTextFields }),
  output: z.object({
    path: z.string(),
    text: z.string(),
    reason: z.string().nullable().describe('Why there is no text, or not all of it.'),
  }),
  http: { method: 'GET', path: '/api/files/text' },
  cli: 'files',
  run: async (context, { path, from, lines, ...input }) => {
    const { files, owner: of } = resolveOwnerFiles(context, input, 'read')
    const range = omitUndefined({ from, lines }) as Parameters<Files['readFile']>[2] // without what is undefined
    const read = await files.readFile(of, path, range)
    if (read.reason === null || hasAccess(context.caller, 'manage')) return { ...read }
    const roots = await files.roots.list(of)
    const problem: FileProblem = { path: '', reason: 'failed', message: read.reason }
    return { ...read, reason: roots.reduce(redactRootPath, problem).message }
  },
})

export const noteText = z.string().min(1).max(NOTE_CHARACTERS)

export const appendNote = defineOperation({
  name: 'files.append',
  summary: "Appends to today's note in an owner's workspace.",
  access: 'write',
  input: z.strictObject({ ...fileScopeFields, text: noteText.describe('Markdown.') }),
  output: z.object({ success: z.literal(true), path: z.string() }),
  http: { method: 'POST', path: '/api/files/append', status: 201 },
  cli: 'files',
  targets: ({ path }) => [path],
  run: async (context, { text, ...input }) => {
    const { files, owner: of } = resolveOwnerFiles(context, input, 'write')
    return { success: true as const, path: (await files.appendToDailyNote(of, text)).path }
  },
})
