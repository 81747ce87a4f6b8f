/** Operations on the file index: the indexed files with their state, and their chunks. */
import { z } from 'zod'
import { FILE_SOURCES } from '../../../files/file.ts'
import { FILE_STATES } from '../../../files/file-contents.ts'
import { hasAccess } from '../authorization.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import {
  filePath,
  fileProblem,
  fileScopeFields,
  redactRootPath,
  resolveOwnerFiles,
} from './file-operations.ts'

const PER_PAGE_MAX = 200
const PER_PAGE = 50
const CURSOR_CHARACTERS_MAX = 4_000

const paginate = {
  limit: z.int().min(1).max(PER_PAGE_MAX).default(PER_PAGE),
  after: z.string().min(1).max(CURSOR_CHARACTERS_MAX).optional().describe('From `next`.'),
}
const next = z.string().nullable()

function from(after: string | undefined) {
  return after === undefined ? {} : { after }
}

export const listFiles = defineOperation({
  name: 'files.list',
  summary: 'The files of a root with their state, by path.',
  access: 'read',
  input: z.strictObject({ ...fileScopeFields, root: z.string().min(1).max(200), ...paginate }),
  output: z.object({
    files: z.array(
      z.object({
        path: z.string(),
        state: z
          .enum(FILE_STATES)
          .describe('`partial`: only a part was indexed. `skipped`: nothing was indexed.'),
        source: z.enum(FILE_SOURCES),
        chunks: z.int(),
        sizeBytes: z.int().nullable(),
        modifiedAt: z.string().nullable(),
        indexedAt: z.string().nullable(),
        problem: fileProblem.nullable(),
      }),
    ),
    total: z.int(),
    next,
  }),
  http: { method: 'GET', path: '/api/files' },
  run: async (context, { root: id, limit, after, ...input }) => {
    const { files, owner } = resolveOwnerFiles(context, input, 'read')
    const found = await files.contents.files(owner, id, { limit, ...from(after) })
    const showsPath = hasAccess(context.caller, 'manage')
    const root = (await files.roots.list(owner)).find((each) => each.id === id)
    return {
      files: found.items.map(({ problem, modifiedAt, indexedAt, ...file }) => ({
        ...file,
        ...{ modifiedAt: isoTime(modifiedAt), indexedAt: isoTime(indexedAt) },
        problem:
          problem === null || showsPath || root === undefined
            ? problem && { ...problem }
            : redactRootPath(problem, root),
      })),
      ...{ total: found.total, next: found.next },
    }
  },
})

export const listChunks = defineOperation({
  name: 'files.chunks',
  summary: 'The chunks of a file, each with its lines and headings.',
  access: 'read',
  input: z.strictObject({
    ...fileScopeFields,
    path: filePath,
    limit: paginate.limit,
    after: z
      .string()
      .regex(/^\d{1,9}$/)
      .optional()
      .describe('From `next`.'),
  }),
  output: z.object({
    chunks: z.array(
      z.object({
        startLine: z.int().describe('1-based, inclusive.'),
        endLine: z.int(),
        headings: z.array(z.string()).describe('Outermost first.'),
        text: z.string(),
        hasVector: z.boolean().describe('Without a vector, only keyword search finds it.'),
      }),
    ),
    total: z.int(),
    next,
  }),
  http: { method: 'GET', path: '/api/files/chunks' },
  run: async (context, { path, limit, after, ...input }) => {
    const { files, owner } = resolveOwnerFiles(context, input, 'read')
    const found = await files.contents.chunks(owner, path, { limit, ...from(after) })
    return {
      chunks: found.items.map(({ lineFirst, lineLast, headings, text, hasVector }) => ({
        ...{ startLine: lineFirst, endLine: lineLast, headings: [...headings], text, hasVector },
      })),
      ...{ total: found.total, next: found.next },
    }
  },
})
