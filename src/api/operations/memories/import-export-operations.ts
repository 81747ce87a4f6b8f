/** Export and import, streamed line by line. */
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
  summary: 'Exports an owner as JSON Lines: memories, history, conversations, settings.',
  access: 'curate',
  input: z.strictObject({
    ...scopeFields,
    allOwners: z.boolean().optional().describe('Exports all owners; superadmins only.'),
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
  summary: 'Imports JSON Lines of an export. Idempotent.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    allOwners: z.boolean().optional().describe('Keeps original owners; superadmins only.'),
    lines,
  }),
  output: z.object({
    imported: z.int(),
    updated: z.int(),
    skipped: z.int(),
    failed: z.int(),
    failures: lineNotes.describe('Reasons of the first failures.'),
    skips: lineNotes.describe('Reasons of the first skipped records.'),
  }),
  http: { method: 'POST', path: '/api/memory/import', stream: 'in' },
  cli: 'import',
  targets: () => ['import'],
  run: async (context, { allOwners, lines: given, ...input }) => {
    if (allOwners === true) assertAccess(context.caller, 'manage')
    const owner = resolveOwner(context, input, 'curate')
    if (given === undefined)
      throw new AppError('invalid_input', 'The request body contains nothing to import.')
    const done = await context.engine.admin.import(given, allOwners === true ? {} : { owner })
    return { ...done, failures: [...done.failures], skips: [...done.skips] }
  },
})
