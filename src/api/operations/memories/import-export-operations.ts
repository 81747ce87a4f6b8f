/** Export and import, streamed line by line. */
import { z } from 'zod'
import { AppError } from '../../../lib/errors.ts'
import { parseForeignDatabaseKey } from '../../../portability/importers/foreign-database.ts'
import { IMPORT_FORMATS } from '../../../portability/importers/format-detection.ts'
import { assertAccess } from '../authorization.ts'
import { defineOperation, type Upload } from '../operation.ts'
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

/** A file in any supported format. */
const upload = z.custom<Upload>(
  (value) => typeof value === 'object' && value !== null && 'bytes' in value,
)

const importCounts = z.object({
  memories: z.int(),
  turns: z.int(),
  settings: z.int(),
  signals: z.int().describe('Exchanges that wait to be learned from.'),
})

export const importSource = defineOperation({
  name: 'memory.importSource',
  summary: 'Imports a file of another system, or an export. Idempotent.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    user: scopeFields.user,
    from: z.enum(IMPORT_FORMATS).optional().describe('The format. Default: detected.'),
    ownerPerKey: z
      .boolean()
      .optional()
      .describe(
        'Keeps the owners of the source; superadmins only. Default: when it has several and no `owner` is named.',
      ),
    dryRun: z.boolean().optional().describe('Only reports what would be imported and skipped.'),
    learn: z
      .boolean()
      .optional()
      .describe('Learns from imported conversations in the background. Default: true.'),
    encryptionKey: z
      .string()
      .max(1_000)
      .optional()
      .describe('The key of an SQLCipher database. Send it as a form field, not in the URL.'),
    passphrase: z
      .string()
      .max(1_000)
      .optional()
      .describe('The passphrase of an encrypted export. Send it as a form field, not in the URL.'),
    upload,
  }),
  output: z.object({
    format: z.enum(IMPORT_FORMATS),
    dryRun: z.boolean(),
    imported: z.int(),
    updated: z.int(),
    skipped: z.int(),
    failed: z.int(),
    counts: importCounts.nullable().describe('Imported records by kind; null for exports.'),
    owners: z.array(z.string()).describe('The owners that records were imported into.'),
    preview: z
      .array(
        z.object({
          line: z.int(),
          kind: z.enum(['memory', 'turn']),
          owner: z.string(),
          user: z.string().nullable(),
          session: z.string().nullable(),
          text: z.string(),
        }),
      )
      .describe('The first imported records.'),
    failures: lineNotes.describe('Reasons of the first failures.'),
    skips: lineNotes.describe('Reasons of the first skipped records.'),
  }),
  http: { method: 'POST', path: '/api/import', stream: 'upload' },
  cli: 'import',
  targets: () => ['import'],
  run: async (context, input) => {
    const { caller, engine, signal, onProgress } = context
    const { from, dryRun = false, learn = true, encryptionKey, passphrase, ownerPerKey } = input
    const isSuperadmin = caller.role === 'superadmin'
    if (ownerPerKey === true) assertAccess(caller, 'manage')
    const owner = resolveOwner(context, input, 'curate')
    const isOwnerNamed = input.owner !== undefined || input.apiKeyId !== undefined
    const source = await engine.admin.openImport({
      source: input.upload,
      ...(from === undefined ? {} : { from }),
      getKey: async () =>
        encryptionKey === undefined ? null : parseForeignDatabaseKey(encryptionKey),
    })
    const progress = {
      signal,
      ...(onProgress === undefined
        ? {}
        : { onProgress: (done: number) => onProgress({ done, total: 0, of: 'records' }) }),
    }
    try {
      if (source.kind === 'lines') {
        if (dryRun) {
          throw new AppError(
            'invalid_input',
            '`dryRun` is not supported for exports of Recollect.',
            {
              field: 'dryRun',
            },
          )
        }
        const done = await engine.admin.import(source.lines, {
          ...progress,
          ...(ownerPerKey === true ? {} : { owner }),
          ...(passphrase === undefined ? {} : { passphrase }),
        })
        const common = { format: source.format, dryRun, counts: null, owners: [], preview: [] }
        return { ...done, ...common, failures: [...done.failures], skips: [...done.skips] }
      }
      const isPerKey = isSuperadmin && !isOwnerNamed ? ownerPerKey : (ownerPerKey ?? false)
      const done = await engine.admin.importSource(
        { owner, ...(input.user === undefined ? {} : { user: input.user }) },
        source,
        {
          ...progress,
          dryRun,
          learns: learn,
          allowsSystemSettings: isSuperadmin,
          ...(isPerKey === undefined ? {} : { ownerPerKey: isPerKey }),
        },
      )
      return {
        ...done,
        format: source.format,
        dryRun,
        owners: [...done.owners],
        preview: [...done.preview],
        failures: [...done.failures],
        skips: [...done.skips],
      }
    } finally {
      source.close()
    }
  },
})
