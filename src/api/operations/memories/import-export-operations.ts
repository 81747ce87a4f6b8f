/** Moving memories out and in. Both pass lines on as they come, so that size does not matter. */
import { z } from 'zod'
import { AppError } from '../../../lib/errors.ts'
import { assertAccess } from '../authorization.ts'
import { defineOperation } from '../operation.ts'
import { resolveOwner, resolveScope, scopeFields } from '../scope-fields.ts'

/** Lines without line ends. */
const lines = z.custom<AsyncIterable<string>>(
  (value) => typeof value === 'object' && value !== null && Symbol.asyncIterator in value,
)

export const exportMemories = defineOperation({
  name: 'memory.export',
  summary: 'Everything of an owner as JSON Lines: memories, history, conversations, settings.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    allOwners: z.boolean().optional().describe('Everything of everybody, for superadmins.'),
  }),
  output: lines,
  http: { method: 'GET', path: '/api/memory/export', stream: 'out' },
  cli: 'export',
  targets: () => ['export'],
  run: async (context, { allOwners, ...input }) => {
    if (allOwners === true) {
      assertAccess(context.caller, 'manage')
      return context.engine.admin.export(null)
    }
    return context.engine.admin.export(resolveScope(context, input, 'curate'))
  },
})

const lineNotes = z.array(z.object({ line: z.int(), message: z.string() }))

export const importMemories = defineOperation({
  name: 'memory.import',
  summary: 'Takes the lines of an export in. Doing it twice changes nothing the second time.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    allOwners: z
      .boolean()
      .optional()
      .describe('Each memory to the owner that it came from, for superadmins.'),
    lines,
  }),
  output: z.object({
    imported: z.int(),
    updated: z.int(),
    skipped: z.int(),
    failed: z.int(),
    failures: lineNotes.describe('Why the first of those that failed did.'),
    skips: lineNotes.describe('Why the first of those that were skipped were.'),
  }),
  http: { method: 'POST', path: '/api/memory/import', stream: 'in' },
  cli: 'import',
  targets: () => ['import'],
  run: async (context, { allOwners, lines: given, ...input }) => {
    if (allOwners === true) assertAccess(context.caller, 'manage')
    const owner = resolveOwner(context, input, 'curate')
    if (given === undefined) throw new AppError('invalid_input', 'There is nothing to import.')
    const done = await context.engine.admin.import(given, allOwners === true ? {} : { owner })
    return { ...done, failures: [...done.failures], skips: [...done.skips] }
  },
})
