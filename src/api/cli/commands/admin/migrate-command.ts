/** The `migrate` command. */
import { basename, dirname } from 'node:path'
import { AppError } from '../../../../lib/errors.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import type { MigrationResult, MigrationTarget } from '../../database.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import { formatCount, formatNumber } from '../../output/text-rendering.ts'
import { NEW_KEY_OPTIONS, parseNewKey } from './encryption-commands.ts'

const DATABASE_FILE = 'recollect.db'

const OPTIONS = {
  to: {
    kind: 'value',
    value: 'place',
    help: 'A PostgreSQL URL, or a data folder.',
  },
  'to-schema': {
    kind: 'value',
    value: 'name',
    help: 'The target schema. Default: `recollect`.',
  },
  ...NEW_KEY_OPTIONS,
  'dry-run': { kind: 'flag', help: 'Only report what would be migrated.' },
  undo: { kind: 'flag', help: 'Return to the previous store, or abandon a running migration.' },
} as const

export const migrateCommand = defineCommand({
  name: 'migrate',
  group: 'Import and export',
  summary: 'Migrate to another store while it is in use.',
  details:
    'Migrates from the configured store to a PostgreSQL database or a data folder, with ' +
    'history, settings, keys and vectors. It can be interrupted at any time; the same ' +
    'command resumes. After both stores were compared, writes are frozen briefly, and ' +
    'the old store refuses them from then on.',
  arguments: [],
  options: OPTIONS,
  examples: [
    'recollect migrate --to postgresql://localhost/recollect',
    'recollect migrate --to ~/recollect-encrypted --generate-key-file ~/recollect.key',
    'recollect migrate --undo',
  ],
  isLocalOnly: true,
  async run(call) {
    const { to, undo, 'dry-run': isDry } = call.options
    if (undo) {
      if (to !== undefined || isDry)
        throw new UsageError('`--undo` cannot be combined with other options.')
      return undone(call)
    }
    const target = targetOf(call)
    if (isDry) return previewed(call)
    return moved(call, target)
  },
})

function targetOf(call: Invocation<typeof OPTIONS>): MigrationTarget {
  const { to, 'to-schema': schema } = call.options
  if (to === undefined) throw new UsageError('`--to` is required: a URL or a folder.')
  const key = parseNewKey(call)
  if (/^postgres(?:ql)?:\/\//.test(to)) {
    if (key !== null) {
      throw new UsageError('Key options apply to databases in a folder only, not to PostgreSQL.')
    }
    return { kind: 'postgres', url: to, schema: schema ?? null }
  }
  if (schema !== undefined) throw new UsageError('`--to-schema` requires a PostgreSQL URL.')
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(to)) {
    throw new UsageError('`--to` must be postgresql://… or a folder.')
  }
  return { kind: 'folder', folder: basename(to) === DATABASE_FILE ? dirname(to) : to, key }
}

async function previewed(call: Invocation): Promise<CommandResult> {
  const preview = await call.getEnvironment().database.migrator.preview()
  const lines = [`Would be migrated from ${preview.from}:`, ...amounts(preview)]
  return { json: { ...preview, dryRun: true }, text: lines.join('\n') }
}

async function moved(call: Invocation, target: MigrationTarget): Promise<CommandResult> {
  const progress = createProgressLine(call.host)
  try {
    const result = await call.getEnvironment().database.migrator.migrate(target, {
      signal: call.host.stopSignal,
      onProgress: (phase, done, total) =>
        progress.show(
          `${PHASES[phase]}${done > 0 ? `: ${formatNumber(done)} rows` : ''}${formatPercent(done, total)}`,
        ),
    })
    progress.clear()
    return { json: result, text: movedText(result) }
  } finally {
    progress.clear()
  }
}

const PHASES = {
  copying: 'Copying',
  'catching up': 'Copying changes made meanwhile',
  comparing: 'Comparing both stores',
  switching: 'Switching',
} as const

function movedText(result: MigrationResult): string {
  const held =
    result.writeFreezeMs === null
      ? ''
      : ` Writes waited for ${formatNumber(result.writeFreezeMs)} ms.`
  return [
    `Migrated from ${result.from} to ${result.to}; both were compared.${held}`,
    ...amounts(result),
    ...result.rejectedVectorSpaces.map(
      ({ space, reason }) => `Vectors of ${space} must be rebuilt: ${reason}`,
    ),
    'Set the following, then restart all servers:',
    ...result.settings.map((line) => `  ${line}`),
    'The old store refuses writes. Run `recollect migrate --undo` to return to it.',
  ].join('\n')
}

function amounts({ rows, vectors }: Pick<MigrationResult, 'rows' | 'vectors'>): readonly string[] {
  return [
    formatCount(rows.memory, 'memory', 'memories'),
    formatCount(rows.revision, 'earlier version', 'earlier versions'),
    formatCount(rows.tombstone, 'tombstone', 'tombstones'),
    formatCount(rows.turn, 'turn', 'turns'),
    formatCount(rows.entry, 'system entry', 'system entries'),
    formatCount(vectors, 'vector', 'vectors'),
  ].map((line) => `  ${line}`)
}

async function undone(call: Invocation): Promise<CommandResult> {
  const result = await call.getEnvironment().database.migrator.undo()
  if (result === null) throw new AppError('not_found', 'This store was not migrated.')
  const text =
    result.state === 'moving'
      ? `The migration to ${result.to} was abandoned. The data there is incomplete; remove it.`
      : `This store accepts writes again. Data written to ${result.to} since then is only there.`
  return { json: result, text }
}
