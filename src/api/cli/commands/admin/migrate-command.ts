/** The command that moves everything to another store. */
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
    help: 'The address of a PostgreSQL database, or a data folder.',
  },
  'to-schema': {
    kind: 'value',
    value: 'name',
    help: 'The schema to use there. Default: `recollect`.',
  },
  ...NEW_KEY_OPTIONS,
  'dry-run': { kind: 'flag', help: 'Only say what would be moved.' },
  undo: { kind: 'flag', help: 'Use the store again that was left, or give up leaving it.' },
} as const

export const migrateCommand = defineCommand({
  name: 'migrate',
  group: 'Moving',
  summary: 'Move everything to another store while it is used.',
  details:
    'From wherever the configuration says, to a PostgreSQL database or a data folder, with history, settings, keys ' +
    'and vectors. It can be stopped at any time; the same command goes on where it was. When all is there and was ' +
    'compared, writes wait for a moment, and from then on the old store refuses them.',
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
      if (to !== undefined || isDry) throw new UsageError('`--undo` goes alone.')
      return undone(call)
    }
    const target = targetOf(call)
    if (isDry) return previewed(call)
    return moved(call, target)
  },
})

function targetOf(call: Invocation<typeof OPTIONS>): MigrationTarget {
  const { to, 'to-schema': schema } = call.options
  if (to === undefined) throw new UsageError('Give `--to`: an address, or a folder.')
  const key = parseNewKey(call)
  if (/^postgres(?:ql)?:\/\//.test(to)) {
    if (key !== null) {
      throw new UsageError('A key is for a database in a folder; PostgreSQL keeps its own.')
    }
    return { kind: 'postgres', url: to, schema: schema ?? null }
  }
  if (schema !== undefined) throw new UsageError('`--to-schema` goes with a PostgreSQL address.')
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(to)) {
    throw new UsageError('`--to` takes postgresql://… or a folder.')
  }
  return { kind: 'folder', folder: basename(to) === DATABASE_FILE ? dirname(to) : to, key }
}

async function previewed(call: Invocation): Promise<CommandResult> {
  const preview = await call.getEnvironment().database.migrator.preview()
  const lines = [`From ${preview.from} would be moved:`, ...amounts(preview)]
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
  'catching up': 'Bringing over what has changed meanwhile',
  comparing: 'Comparing both stores',
  switching: 'Switching',
} as const

function movedText(result: MigrationResult): string {
  const held =
    result.writeFreezeMs === null
      ? ''
      : ` Writes waited for ${formatNumber(result.writeFreezeMs)} ms.`
  return [
    `Moved from ${result.from} to ${result.to}; both were compared.${held}`,
    ...amounts(result),
    ...result.rejectedVectorSpaces.map(
      ({ space, reason }) => `Vectors of ${space} have to be made again: ${reason}`,
    ),
    'Set from now on, then start everything again:',
    ...result.settings.map((line) => `  ${line}`),
    'The old store refuses writes. `recollect migrate --undo` takes it back into use.',
  ].join('\n')
}

function amounts({ rows, vectors }: Pick<MigrationResult, 'rows' | 'vectors'>): readonly string[] {
  return [
    formatCount(rows.memory, 'memory', 'memories'),
    formatCount(rows.revision, 'earlier version', 'earlier versions'),
    formatCount(rows.tombstone, 'trace of something forgotten', 'traces of something forgotten'),
    formatCount(rows.turn, 'turn', 'turns'),
    formatCount(rows.entry, 'entry of the system', 'entries of the system'),
    formatCount(vectors, 'vector', 'vectors'),
  ].map((line) => `  ${line}`)
}

async function undone(call: Invocation): Promise<CommandResult> {
  const result = await call.getEnvironment().database.migrator.undo()
  if (result === null) throw new AppError('not_found', 'This store was not moved anywhere.')
  const text =
    result.state === 'moving'
      ? `Nothing is being moved to ${result.to} any more. What is there is incomplete; remove it.`
      : `This store takes writes again. What was written at ${result.to} since is only there.`
  return { json: result, text }
}
