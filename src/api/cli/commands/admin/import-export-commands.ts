/** Export and import commands. */
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { z } from 'zod'
import type { ScopeInput } from '../../../../domain/scope.ts'
import type { Engine } from '../../../../engine/engine.ts'
import { ERRORS } from '../../../../lib/errors.ts'
import { decryptLines, encryptLines } from '../../../../portability/export-encryption.ts'
import type { ImportReader, ImportSource } from '../../../../portability/import-source.ts'
import {
  type ForeignDatabaseKey,
  parseForeignDatabaseKey,
} from '../../../../portability/importers/foreign-database.ts'
import {
  IMPORT_FORMATS,
  type ImportFormat,
} from '../../../../portability/importers/format-detection.ts'
import { getSystemStatus } from '../../../operations/admin/system-operations.ts'
import {
  exportMemories,
  importMemories,
  importSource,
} from '../../../operations/memories/import-export-operations.ts'
import type { Upload } from '../../../operations/operation.ts'
import {
  assertNotAborted,
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import { readSecretFile, writeLinesAtomically } from '../../input/file-access.ts'
import { parseChoice } from '../../input/option-values.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import { formatCount, formatNumber, toTerminalLine } from '../../output/text-rendering.ts'

const BUFFERED_CHARACTERS = 64 * 1024

export const exportCommand = defineCommand({
  name: 'export',
  group: 'Import and export',
  summary: 'Export an owner as JSON Lines, with history.',
  details:
    'One header, then one row per line, times in milliseconds since 1970; `import` reads it. Without a file it ' +
    'goes to standard output. A file appears only when it is complete.',
  arguments: [{ name: 'file', help: 'Output file, or - for standard output.' }],
  options: {
    'all-owners': { kind: 'flag', help: 'Export all owners.' },
    'passphrase-file': {
      kind: 'value',
      value: 'file',
      help: 'Encrypt the export with the passphrase in this file.',
    },
    force: { kind: 'flag', help: 'Overwrite an existing file.' },
  },
  examples: [
    'recollect export memories.jsonl',
    'recollect export --all-owners | gzip > all.jsonl.gz',
  ],
  async run(call) {
    const [file = '-'] = call.positionals
    const { 'all-owners': isAll, 'passphrase-file': secretFile, force } = call.options
    const passphrase = secretFile === undefined ? null : await passphraseIn(secretFile)
    const rowsOf = await call.perform(exportMemories, isAll ? { allOwners: true } : {})
    let rows = -1 // the header is not a row
    const lines = watched(call, rowsOf, file !== '-', () => rows++)
    // Encrypted locally, so that a server never learns the passphrase.
    const sealed = passphrase === null ? lines : encryptLines(lines, passphrase)
    if (file === '-') return printLines(call, sealed)
    await writeLinesAtomically(file, sealed, { replace: force })
    return { json: { file, rows }, text: `Wrote ${formatCount(rows, 'row')} to ${file}` }
  },
})

async function* watched(
  call: Invocation,
  lines: AsyncIterable<string>,
  isWhole: boolean,
  onLine: () => number,
): AsyncGenerator<string> {
  const progress = createProgressLine(call.host)
  try {
    for await (const line of lines) {
      assertNotAborted(call, isWhole ? 'Stopped; nothing was written.' : 'Stopped.')
      const rows = onLine()
      yield line
      progress.show(`Exporting: ${formatNumber(rows + 1)} rows`)
    }
  } finally {
    progress.clear()
  }
}

async function printLines(call: Invocation, lines: AsyncIterable<string>): Promise<null> {
  let buffered = ''
  for await (const line of lines) {
    buffered += `${line}\n`
    if (buffered.length < BUFFERED_CHARACTERS) continue
    await call.host.stdout.write(buffered)
    buffered = ''
  }
  await call.host.stdout.write(buffered)
  return null
}

const IMPORT_OPTIONS = {
  from: {
    kind: 'value',
    value: 'format',
    help: `The format, if it cannot be detected: ${IMPORT_FORMATS.join(', ')}.`,
  },
  'into-owner': { kind: 'value', value: 'name', help: 'Import everything into this owner.' },
  'owner-per-key': {
    kind: 'flag',
    help: 'Keep the owners of the source: API keys, agents, instances. Default when there are several.',
  },
  'dry-run': { kind: 'flag', help: 'Only show what would be imported and skipped.' },
  'skip-learning': { kind: 'flag', help: 'Do not learn from imported conversations.' },
  'key-file': {
    kind: 'value',
    value: 'file',
    help: 'The key file of an SQLCipher database: 64 hexadecimal digits, or a passphrase.',
  },
  'passphrase-file': {
    kind: 'value',
    value: 'file',
    help: 'The passphrase file of an encrypted export.',
  },
} as const

type ImportCall = Invocation<typeof IMPORT_OPTIONS>

export const importCommand = defineCommand({
  name: 'import',
  group: 'Import and export',
  summary: 'Import an export, or data of other systems.',
  details:
    'The source is a file, a LanceDB folder, or the URL of a Polyant database. The format is detected from the content. ' +
    'Exports keep owners, users, ids and history. Sources with several API keys, agents or instances keep them as owners; ' +
    'with `--into-owner` or `--owner`, everything goes to that owner, and on a server with a key below superadmin, to the ' +
    'owner of the key. Conversations are learned from in the background. Importing the same file again changes nothing. ' +
    'Invalid records are reported with their numbers and do not stop the import; the exit code is then 2.',
  arguments: [{ name: 'file', help: 'Input file, or - for standard input.', isRequired: true }],
  options: IMPORT_OPTIONS,
  examples: [
    'recollect import memories.jsonl',
    'recollect import ~/.omniroute/storage.sqlite --dry-run',
    'recollect import ~/.osaurus/memory/memory.sqlite --key-file osaurus.key',
    'recollect import postgresql://localhost/polyant --from polyant-postgres',
    'recollect import conversations.json --from chatgpt --into-owner ada',
  ],
  async run(call) {
    const progress = createProgressLine(call.host)
    const amount = { read: 0, size: 0 }
    const opened = await call.getEnvironment().openImport(sourceOf(call, amount))
    amount.size = opened.sizeBytes ?? 0
    const show = (done: number, what: string) =>
      progress.show(
        `Importing: ${formatCount(done, what)}${formatPercent(amount.read, amount.size)}`,
      )
    try {
      const imported =
        opened.kind === 'lines'
          ? await importOwn(call, opened, (lines) => show(lines, 'line'))
          : await importForeign(call, opened, (records) => show(records, 'record'))
      return answerFor({ ...imported, format: opened.format }, call.options['dry-run'])
    } finally {
      opened.close()
      progress.clear()
    }
  },
})

function sourceOf(call: ImportCall, amount: { read: number }): ImportSource {
  const file = requirePositional(call)
  const { from } = call.options
  return {
    source: file === '-' ? { bytes: call.host.stdin.bytes(), name: 'Standard input' } : file,
    ...(from === undefined ? {} : { from: parseChoice('from', toFormat(from), IMPORT_FORMATS) }),
    getKey: () => databaseKey(call),
    onBytes: (bytes) => {
      amount.read = bytes
    },
  }
}

/** The name of a system without its kind of database. */
function toFormat(name: string): string {
  const known: readonly string[] = IMPORT_FORMATS
  if (known.includes(name)) return name
  return known.find((format) => format === `${name}-sqlite`) ?? name
}

async function databaseKey(call: ImportCall): Promise<ForeignDatabaseKey | null> {
  const file = call.options['key-file']
  if (file !== undefined) return parseForeignDatabaseKey(await readSecretFile(file))
  const { host } = call
  if (!host.stdin.isTerminal || !host.stderr.isTerminal) return null
  const text = await host.askSecret('Key or passphrase of the database: ')
  return text === '' ? null : parseForeignDatabaseKey(text)
}

type Lines = Extract<ImportReader, { kind: 'lines' }>
type Records = Extract<ImportReader, { kind: 'records' }>
type Imported = z.output<(typeof importMemories)['output']> &
  Partial<Pick<z.output<(typeof importSource)['output']>, 'counts' | 'owners' | 'preview'>>

async function importOwn(
  call: ImportCall,
  { format, lines }: Lines,
  onLine: (lines: number) => void,
): Promise<Imported> {
  if (call.options['dry-run']) {
    throw new UsageError('--dry-run is not supported for exports of Recollect.')
  }
  // Decrypted locally, so that a server never learns the passphrase.
  const plain =
    format === 'recollect-encrypted' ? decryptLines(lines, await passphraseFor(call)) : lines
  const destination = await destinationOf(call)
  return call.perform(importMemories, { ...destination, lines: counted(call, plain, onLine) })
}

/** Rows of several owners require an explicit target; only a superadmin may restore them to their owners. */
async function destinationOf(call: ImportCall) {
  const owner = call.options['into-owner'] ?? call.getEnvironment().explicitScope.owner
  if (owner !== undefined) return { owner }
  const { caller } = await call.perform(getSystemStatus, {})
  return caller.role === 'superadmin' ? { allOwners: true } : {}
}

async function importForeign(
  call: ImportCall,
  records: Records,
  onRecord: (records: number) => void,
): Promise<Imported> {
  const { database, scope, remote, explicitScope } = call.getEnvironment()
  const into = call.options['into-owner'] ?? explicitScope.owner
  const options = importOptions(call, into)
  if (remote === null) {
    const owner = into ?? scope.owner
    const engine = await database.openEngine({ create: true })
    try {
      const imported = await importInto(
        call,
        engine,
        { ...scope, owner },
        records,
        options,
        onRecord,
      )
      if (!call.options['dry-run']) {
        const entry = { actor: null, operation: importSource.name, owner }
        await engine.admin.audit.append({ ...entry, targets: ['import'] })
      }
      return imported
    } finally {
      await engine.close()
    }
  }
  const upload = uploadOf(call, records)
  if (upload !== null) {
    const { 'dry-run': dryRun, 'skip-learning': isSkipped } = call.options
    return call.perform(importSource, {
      ...(into === undefined ? {} : { owner: into }),
      ...(options.ownerPerKey === undefined ? {} : { ownerPerKey: options.ownerPerKey }),
      ...{ from: records.format, dryRun, learn: !isSkipped, upload },
    })
  }
  return importThroughScratch(call, records, options, onRecord)
}

type SourceOptions = {
  readonly ownerPerKey?: boolean
  readonly dryRun: boolean
  readonly learns: boolean
}

function importOptions(call: ImportCall, into: string | undefined): SourceOptions {
  const { 'owner-per-key': isPerKey, 'dry-run': dryRun, 'skip-learning': isSkipped } = call.options
  if (isPerKey && into !== undefined) {
    throw new UsageError('--owner-per-key cannot be combined with --into-owner or --owner.')
  }
  const ownerPerKey =
    into === undefined ? (isPerKey ? { ownerPerKey: true } : {}) : { ownerPerKey: false }
  return { ...ownerPerKey, dryRun, learns: !isSkipped }
}

/** The file as it is; null for folders, database URLs, standard input and encrypted databases. */
function uploadOf(call: ImportCall, { format }: Records): Upload | null {
  const path = requirePositional(call)
  const isEncrypted = call.options['key-file'] !== undefined
  const isFile = !['openclaw-lancedb', 'polyant-postgres'].includes(format) && path !== '-'
  if (!isFile || isEncrypted) return null
  return { bytes: createReadStream(path), name: basename(path) }
}

/** Reads the source on this machine, and sends it as an export. */
async function importThroughScratch(
  call: ImportCall,
  records: Records,
  options: SourceOptions,
  onRecord: (records: number) => void,
): Promise<Imported> {
  const { scope, openInMemoryEngine } = call.getEnvironment()
  const scratch = await openInMemoryEngine()
  try {
    const owner = call.options['into-owner'] ?? (await homeOf(call))
    const isAll = options.ownerPerKey === true
    const own = { ...options, ownerPerKey: isAll }
    const taken = await importInto(call, scratch, { ...scope, owner }, records, own, onRecord)
    if (options.dryRun) return taken
    const lines = scratch.admin.export(isAll ? null : { owner })
    const target = isAll ? { allOwners: true } : { owner }
    const sent = await call.perform(importMemories, { ...target, lines })
    return {
      ...taken,
      ...sent,
      failed: taken.failed + sent.failed,
      failures: [...taken.failures, ...sent.failures],
    }
  } finally {
    await scratch.close()
  }
}

async function homeOf(call: ImportCall): Promise<string> {
  const { explicitScope: named } = call.getEnvironment()
  return named.owner ?? (await call.perform(getSystemStatus, {})).caller.home
}

async function importInto(
  call: ImportCall,
  engine: Engine,
  scope: ScopeInput,
  source: Records,
  options: SourceOptions,
  onRecord: (records: number) => void,
): Promise<Imported> {
  const done = await engine.admin.importSource(scope, source, {
    ...options,
    onProgress: onRecord,
    signal: call.host.stopSignal,
  })
  return {
    ...done,
    owners: [...done.owners],
    preview: [...done.preview],
    failures: [...done.failures],
    skips: [...done.skips],
  }
}

async function* counted<Item>(
  call: Invocation,
  items: AsyncIterable<Item>,
  onItem: (number: number) => void,
): AsyncGenerator<Item> {
  let number = 0
  for await (const item of items) {
    assertNotAborted(call, 'Canceled. Imported rows stay; run the import again to continue.')
    yield item
    onItem(++number)
  }
}

async function passphraseFor(call: ImportCall): Promise<string | undefined> {
  const file = call.options['passphrase-file']
  if (file !== undefined) return passphraseIn(file)
  const { host } = call
  const canAsk = host.stdin.isTerminal && host.stderr.isTerminal
  return canAsk ? host.askSecret('Passphrase of the export: ') : undefined
}

async function passphraseIn(file: string): Promise<string> {
  const passphrase = await readSecretFile(file)
  if (passphrase === '') throw new UsageError(`${file} contains no passphrase.`)
  return passphrase
}

function answerFor(
  imported: Imported & { readonly format: ImportFormat },
  isDryRun: boolean,
): CommandResult {
  const { failures, failed, skips, preview = [], owners = [], counts } = imported
  const summary = isDryRun
    ? `Would import ${formatNumber(imported.imported)}, update ${formatNumber(imported.updated)}, ` +
      `skip ${formatNumber(imported.skipped)}, reject ${formatNumber(failed)}.`
    : `Imported ${formatNumber(imported.imported)}, updated ${formatNumber(imported.updated)}, ` +
      `skipped ${formatNumber(imported.skipped)} already there, failed ${formatNumber(failed)}.`
  const lines = failures.map(({ line, message }) => `  line ${line}: ${message}`)
  if (failed > failures.length) lines.push(`  and ${formatNumber(failed - failures.length)} more`)
  if (isDryRun) {
    lines.push(...skips.map(({ line, message }) => `  skipped line ${line}: ${message}`))
    lines.push(
      ...preview.map(
        ({ kind, owner, text }) => `  ${toTerminalLine(`${kind} of ${owner}: ${text}`)}`,
      ),
    )
  }
  if (owners.length > 1) lines.push(`Owners: ${owners.map(toTerminalLine).join(', ')}`)
  if ((counts?.signals ?? 0) > 0) {
    const waiting = formatCount(counts?.signals ?? 0, 'exchange')
    lines.push(`${waiting} will be learned from in the background.`)
  }
  return {
    json: imported,
    text: [summary, ...lines].join('\n'),
    ...(failed > 0 ? { exitCode: ERRORS.invalid_input.exit } : {}),
  }
}
