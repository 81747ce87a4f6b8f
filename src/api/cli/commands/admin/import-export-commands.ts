/** Commands that move memories between databases and files. */
import type { z } from 'zod'
import type { ScopeInput } from '../../../../domain/scope.ts'
import type { Engine } from '../../../../engine/engine.ts'
import { ERRORS } from '../../../../lib/errors.ts'
import { decryptLines, encryptLines } from '../../../../portability/export-encryption.ts'
import { IMPORT_FORMATS } from '../../../../portability/importers/format-detection.ts'
import { getSystemStatus } from '../../../operations/admin/system-operations.ts'
import {
  exportMemories,
  importMemories,
} from '../../../operations/memories/import-export-operations.ts'
import {
  assertNotAborted,
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import type { ImportReader, ImportSource } from '../../host.ts'
import { readSecretFile, writeLinesAtomically } from '../../input/file-access.ts'
import { parseChoice } from '../../input/option-values.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import { formatCount, formatNumber } from '../../output/text-rendering.ts'

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
    let rows = -1 // the header is no row
    const lines = watched(call, rowsOf, file !== '-', () => rows++)
    // Encrypted here, so that a server never learns the passphrase.
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
    'What the file is, is told from its content. Of an export, owners, users, ids and history come back as they were; ' +
    'with `--into-owner` or `--owner`, all of it goes to that one, and on a server with a key that is no superadmin’s, ' +
    'to the home of the key. Importing the same file again changes nothing. Lines that cannot be read are told with ' +
    'their numbers and do not stop the others; then the exit code is 2. What other systems keep is read on this ' +
    'machine only.',
  arguments: [{ name: 'file', help: 'Input file, or - for standard input.', isRequired: true }],
  options: IMPORT_OPTIONS,
  examples: [
    'recollect import memories.jsonl',
    'gunzip -c all.jsonl.gz | recollect import -',
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
      return answerFor(imported)
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
    ...(from === undefined ? {} : { from: parseChoice('from', from, IMPORT_FORMATS) }),
    onBytes: (bytes) => {
      amount.read = bytes
    },
  }
}

type Lines = Extract<ImportReader, { kind: 'lines' }>
type Records = Extract<ImportReader, { kind: 'records' }>
type Imported = z.output<(typeof importMemories)['output']>

async function importOwn(
  call: ImportCall,
  { format, lines }: Lines,
  onLine: (lines: number) => void,
): Promise<Imported> {
  // Decrypted here, so that a server never learns the passphrase.
  const plain =
    format === 'recollect-encrypted' ? decryptLines(lines, await passphraseFor(call)) : lines
  const destination = await destinationOf(call)
  return call.perform(importMemories, { ...destination, lines: counted(call, plain, onLine) })
}

/** Nobody's memories may end up with somebody else unasked; only a superadmin can give them back to several. */
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
  const { database, scope, remote, openInMemoryEngine: openScratch } = call.getEnvironment()
  const named = call.options['into-owner'] ?? scope.owner
  if (remote === null) {
    const engine = await database.openEngine({ create: true })
    try {
      const imported = await takeIn(call, engine, { ...scope, owner: named }, records, onRecord)
      const entry = { actor: null, operation: importMemories.name, owner: named }
      await engine.admin.audit.append({ ...entry, targets: ['import'] })
      return imported
    } finally {
      await engine.close()
    }
  }
  // A server knows our own lines only, so they are made here.
  const scratch = await openScratch()
  try {
    const owner = call.options['into-owner'] ?? (await homeOf(call))
    const taken = await takeIn(call, scratch, { ...scope, owner }, records, onRecord)
    const lines = scratch.admin.export({ owner })
    const sent = await call.perform(importMemories, { owner, lines })
    return {
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

async function takeIn(
  call: ImportCall,
  engine: Engine,
  scope: ScopeInput,
  { records, observedAt }: Records,
  onRecord: (records: number) => void,
): Promise<Imported> {
  const imported = await engine.admin.importRecords(
    scope,
    counted(call, records, onRecord),
    observedAt === null ? {} : { observedAt },
  )
  return { ...imported, failures: [...imported.failures], skips: [...imported.skips] }
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

function answerFor(imported: Imported): CommandResult {
  const { failures, failed } = imported
  const summary =
    `Imported ${formatNumber(imported.imported)}, updated ${formatNumber(imported.updated)}, ` +
    `skipped ${formatNumber(imported.skipped)} already there, failed ${formatNumber(failed)}.`
  const lines = failures.map(({ line, message }) => `  line ${line}: ${message}`)
  if (failed > failures.length) lines.push(`  and ${formatNumber(failed - failures.length)} more`)
  return {
    json: imported,
    text: [summary, ...lines].join('\n'),
    ...(failed > 0 ? { exitCode: ERRORS.invalid_input.exit } : {}),
  }
}
