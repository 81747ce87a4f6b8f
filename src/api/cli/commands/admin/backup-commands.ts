/** Backup and restore commands. */
import { sleep } from '../../../../lib/abort.ts'
import { AppError } from '../../../../lib/errors.ts'
import { DAY_MS } from '../../../../lib/time.ts'
import {
  type CommandResult,
  defineCommand,
  type Invocation,
  requirePositional,
  UsageError,
} from '../../command.ts'
import { parseTime } from '../../input/time-format.ts'
import { formatCount } from '../../output/text-rendering.ts'

const KEEP = 48
const KEEP_MAX = 100_000

const BACKUP_OPTIONS = {
  every: {
    kind: 'value',
    value: 'span',
    help: 'Repeat at this interval, such as 15m or 6h, until stopped.',
  },
  keep: {
    kind: 'value',
    value: 'n',
    help: `Write into a folder and keep the newest n backups. Default with --every: ${KEEP}.`,
  },
} as const

export const backupCommand = defineCommand({
  name: 'backup',
  group: 'Administration',
  summary: 'Back up the database to a new file while it is in use.',
  details:
    'A backup is a regular database file, encrypted with the same key as the original; ' +
    '`recover` restores it. With `--every` or `--keep`, backups go into a folder, named ' +
    'by time. Each backup is verified.',
  arguments: [
    {
      name: 'file',
      help: 'The new file. With --every or --keep, a folder.',
      isRequired: true,
    },
  ],
  options: BACKUP_OPTIONS,
  examples: [
    'recollect backup ~/backups/recollect-monday.db',
    'recollect backup ~/backups --every 15m --keep 96',
  ],
  isLocalOnly: true,
  async run(call) {
    const { every, keep } = call.options
    if (every !== undefined || keep !== undefined) return repeated(call)
    const file = requirePositional(call)
    const { database } = call.getEnvironment()
    await database.backup(file)
    const key = database.state() === 'encrypted' ? ' It is encrypted with the same key.' : ''
    return { json: { file }, text: `Backed up the database to ${file}.${key}` }
  },
})

async function repeated(call: Invocation<typeof BACKUP_OPTIONS>): Promise<CommandResult> {
  const { every, keep } = call.options
  const folder = requirePositional(call)
  const spanMs = every === undefined ? null : parseTime('every', every, 0, 'ahead')
  if (spanMs !== null && (spanMs <= 0 || spanMs > SPAN_MS_MAX)) {
    throw new UsageError('--every must be a duration of up to 24 days, such as 15m or 6h.')
  }
  const { host } = call
  const { database } = call.getEnvironment()
  let taken = 0
  let last = await database.snapshot(folder, keepOf(keep))
  for (taken = 1; spanMs !== null && !host.stopSignal.aborted; taken++) {
    await host.stdout.write(call.isJson ? `${JSON.stringify(last)}\n` : `${last.file}\n`)
    if (!(await sleep(spanMs, host.stopSignal))) break
    last = await database.snapshot(folder, keepOf(keep))
  }
  const text =
    spanMs === null
      ? `Backed up the database to ${last.file}.`
      : `Stopped after ${formatCount(taken, 'backup')}.`
  return { json: { ...last, taken }, text }
}

/** The maximum delay of a timer. */
const SPAN_MS_MAX = 24 * DAY_MS

function keepOf(text: string | undefined): number {
  const keep = Number(text ?? KEEP)
  if (Number.isInteger(keep) && keep >= 1 && keep <= KEEP_MAX) return keep
  throw new UsageError('--keep must be an integer of at least 1.')
}

export const recoverCommand = defineCommand({
  name: 'recover',
  group: 'Administration',
  summary: 'Restore a backup.',
  details:
    'Verifies the backup first and leaves it in place. An existing database is only ' +
    'replaced with `--force`, and is kept beside the new one. No other process may have ' +
    'it open. From a folder, restores the latest backup up to the time of `--at`; later ' +
    'writes are not included.',
  arguments: [{ name: 'backup', help: 'A backup file, or a folder of backups.', isRequired: true }],
  options: {
    at: {
      kind: 'value',
      value: 'time',
      help: 'Restore the state at this time: 2h (ago), or 2026-12-01T18:00.',
    },
    force: { kind: 'flag', help: 'Replace an existing database.' },
  },
  examples: [
    'recollect recover ~/backups/recollect-monday.db',
    'recollect recover ~/backups --at 2h --force',
  ],
  isLocalOnly: true,
  async run(call) {
    const { at, force } = call.options
    const { database } = call.getEnvironment()
    const time = at === undefined ? null : parseTime('at', at, call.host.now(), 'back')
    if (time !== null && time > call.host.now()) {
      throw new AppError('invalid_input', '--at must be in the past.')
    }
    const recovered = await database.restoreBackup(requirePositional(call), { at: time, force })
    const kept =
      recovered.previousFile === null
        ? ''
        : `\nThe previous database was kept as ${recovered.previousFile}`
    return {
      json: recovered,
      text: `Restored ${recovered.file}.${kept}`,
    }
  },
})
