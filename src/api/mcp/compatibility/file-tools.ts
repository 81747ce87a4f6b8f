/**
 * Tools of agents that keep their memory in files. Two share a name with ours but have other
 * fields: in this set, our tools also accept those fields and answer from files and memories.
 */
import { z } from 'zod'
import { isTurnId } from '../../../domain/search-document.ts'
import { FILE_SOURCES, type FileSource } from '../../../files/file.ts'
import { SEARCH_SOURCES, type SearchSource } from '../../../files/search/source-search.ts'
import { AppError } from '../../../lib/errors.ts'
import { sliceLines } from '../../../text/lines.ts'
import type { WireTurn } from '../../operations/conversations/session-operations.ts'
import {
  fileSearchFields,
  fileTextFields,
  noteText,
} from '../../operations/files/file-operations.ts'
import { listField, type WireMemory } from '../../operations/memory-schema.ts'
import type { OperationContext } from '../../operations/operation.ts'
import type { searchMemories } from '../../operations/recall/search-operations.ts'
import {
  inputSchemaOf,
  type JsonSchema,
  outputSchemaOf,
  type Tool,
  type ToolFields,
} from '../tool.ts'
import { defineTool, runOperation } from './compatibility-tool.ts'

const RESULTS = 6
/** A path that is a memory or turn id reads that document. */
const DOCUMENT_ID = /^(?:mem|turn)_/

/** With those of our tools that accept more fields in this set. */
export function fileTools(own: readonly Tool[]): readonly Tool[] {
  const widened = own.flatMap((tool) => {
    if (tool.name === 'memory_search') return [extendSearch(tool)]
    return tool.name === 'memory_get' ? [extendGet(tool)] : []
  })
  return [...widened, append]
}

const { maxResults, minScore, sessionKey } = fileSearchFields
const sources = listField(z.enum([...FILE_SOURCES, ...SEARCH_SOURCES]))
  .optional()
  .describe(
    '`memory`: notes and memories. `sessions`: transcripts in files. Or any of ours. Default: notes, transcripts and memories.',
  )
const searchExtras = z.strictObject({ maxResults, minScore, sources, sessionKey })
const searchFields = z.strictObject({ query: fileSearchFields.query, ...searchExtras.shape })

/** A loose schema: the result has our shape or that of the other system. */
const anyResults = z.looseObject({
  results: z.array(z.looseObject({ score: z.number(), snippet: z.string() })),
  disabled: z.boolean().optional(),
  error: z.string().optional(),
})

type Found = z.output<(typeof searchMemories)['output']>
type Place = {
  readonly id: string
  readonly path: string
  readonly startLine: number
  readonly endLine: number
  readonly score: number
  readonly snippet: string
  readonly source: string
  readonly citation?: string
}

function extendSearch(own: Tool): Tool {
  return {
    ...own,
    description: `${own.description} Looks in notes and files too; cite what has a citation.`,
    inputSchema: joined(own.inputSchema, inputSchemaOf(searchExtras)),
    outputSchema: outputSchemaOf(anyResults),
    call: async (context, given) => {
      const { success, data } = searchFields.safeParse(given)
      // Calls with our fields, or with invalid ones, are answered as without the set.
      if (!success) return own.call(context, given)
      try {
        return await searchEverywhere(context, data)
      } catch (error) {
        // Prompts of these agents continue when memory is unavailable.
        if (!(error instanceof AppError) || error.code === 'invalid_input') throw error
        return { results: [], disabled: true, error: error.message }
      }
    },
    formatResult: (output) => formatPlaces(output) ?? own.formatResult(output),
  }
}

async function searchEverywhere(
  context: OperationContext,
  asked: z.output<typeof searchFields>,
): Promise<ToolFields> {
  const { query, maxResults: limit = RESULTS, minScore: floor, sessionKey: session } = asked
  const found = await runOperation<Found>(context, 'memory.search', {
    ...{ query, limit, minScore: floor, sessionKey: session, detail: 'full' },
    ...ourSources(asked.sources ?? FILE_SOURCES),
  })
  const { files } = found
  return {
    results: found.results.map(toPlace),
    provider: files?.provider ?? null,
    model: files?.model ?? null,
    fallback: files?.fallbackReason ?? null,
    citations: files?.citations ?? 'auto',
    mode: files?.mode === 'hybrid' ? 'hybrid' : 'fts-only',
  }
}

/** Memories count as notes. */
function ourSources(given: readonly (FileSource | SearchSource)[]): {
  readonly sources: readonly SearchSource[]
  readonly fileSources?: readonly FileSource[]
} {
  const has = (name: FileSource | SearchSource) => given.includes(name)
  const fileSources = FILE_SOURCES.filter((name) => has(name) || has('files'))
  const isMeant = {
    memories: has('memories') || has('memory'),
    episodes: has('episodes') || has('memory'),
    transcript: has('transcript'),
    files: fileSources.length > 0,
  }
  return {
    sources: SEARCH_SOURCES.filter((name) => isMeant[name]),
    ...(isMeant.files ? { fileSources } : {}),
  }
}

/** Memories and turns are addressed as files, which `memory_get` reads. */
function toPlace(hit: Found['results'][number]): Place {
  const { id, score, snippet, citation } = hit
  const source = hit.fileSource ?? hit.source
  const { path = id, startLine = 1, endLine = linesOf(hit) } = hit
  return {
    ...{ id, path, startLine, endLine, score, source },
    snippet: citation === undefined ? snippet : `${snippet}\n\nSource: ${citation}`,
    ...(citation === undefined ? {} : { citation }),
  }
}

function linesOf({ memory, content = memory?.content ?? '' }: Found['results'][number]): number {
  return content.split('\n').length
}

function formatPlaces(output: ToolFields): string | null {
  const { results, disabled, error } = output as z.output<typeof anyResults> // as the schema says
  if (disabled === true) return `Memory can't be searched: ${error}`
  const places = results as unknown as readonly Place[] // unless they are ours, which have no lines
  if (places.some(({ startLine }) => startLine === undefined)) return null
  if (places.length === 0) return 'No matches.'
  return places
    .map(
      ({ path, startLine, endLine, score, snippet }, at) =>
        `${at + 1}. ${path}:${startLine}-${endLine} (${score.toFixed(2)})\n${snippet}`,
    )
    .join('\n\n')
}

const getFields = z.strictObject(fileTextFields)
const anyText = z.looseObject({
  path: z.string().optional(),
  text: z.string().optional(),
  disabled: z.boolean().optional(),
  error: z.string().optional(),
})

function extendGet(own: Tool): Tool {
  const schema = joined(own.inputSchema, inputSchemaOf(getFields))
  const { required: _, ...either } = schema
  return {
    ...own,
    description: `${own.description} Or read a file, or some lines of it, by its path.`,
    inputSchema: either as JsonSchema, // an object still
    outputSchema: outputSchemaOf(anyText),
    call: async (context, given) => {
      const { success, data } = getFields.safeParse(given)
      return success ? readPath(context, data) : own.call(context, given)
    },
    formatResult: (output) => {
      const { path, text, error } = output as z.output<typeof anyText> // as the schema says
      if (path === undefined) return own.formatResult(output)
      return text === '' ? (error ?? 'The file is empty.') : (text ?? '')
    },
  }
}

async function readPath(
  context: OperationContext,
  { path, from, lines }: z.output<typeof getFields>,
): Promise<ToolFields> {
  try {
    if (DOCUMENT_ID.test(path)) {
      const content = await contentOf(context, path)
      return { path, text: sliceLines(content, from ?? 1, lines ?? Number.MAX_SAFE_INTEGER) }
    }
    const read = await runOperation<{ text: string; reason: string | null }>(context, 'files.get', {
      ...{ path, from, lines },
    })
    const { text, reason } = read
    if (reason === null) return { path, text }
    return { path, text, ...(text === '' ? { disabled: true } : {}), error: reason }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { path, text: '', disabled: true, error: error.message }
  }
}

async function contentOf(context: OperationContext, id: string): Promise<string> {
  if (isTurnId(id)) {
    return (await runOperation<{ turn: WireTurn }>(context, 'turn.get', { id })).turn.content
  }
  return (await runOperation<{ memory: WireMemory }>(context, 'memory.get', { id })).memory.content
}

const append = defineTool({
  name: 'memory_append',
  description: 'Add lasting notes, in Markdown, to the note of today (memory/YYYY-MM-DD.md).',
  access: 'write',
  input: z.strictObject({ text: noteText }),
  output: z.object({ path: z.string() }),
  call: async (context, { text }) => {
    const { path } = await runOperation<{ path: string }>(context, 'files.append', { text })
    return { path }
  },
  formatResult: ({ path }) => `Added to ${path}.`,
})

/** The fields of both. The required fields of the first stay required. */
function joined(first: JsonSchema, second: JsonSchema): JsonSchema {
  const properties = { ...(first.properties as object), ...(second.properties as object) }
  return { ...first, properties }
}
