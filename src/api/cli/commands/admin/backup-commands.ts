/** Commands that copy the database and go back to a copy. */
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
    help: 'Again after each span, as 15m or 6h, until it is stopped.',
  },
  keep: {
    kind: 'value',
    value: 'n',
    help: `Into a folder, of which the newest n are kept. Default with --every: ${KEEP}.`,
  },
} as const

export const backupCommand = defineCommand({
  name: 'backup',
  group: 'Upkeep',
  summary: 'Copy the whole database to a new file while it is in use.',
  details:
    'The copy is a database like the original, encrypted with the same key if that is; `recover` goes back to it. With ' +
    '`--every` or `--keep` copies go into a folder, named by their time; each is looked through before it counts.',
  arguments: [
    {
      name: 'file',
      help: 'Where to; nothing may be there yet. With --every or --keep, a folder.',
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
    return { json: { file }, text: `Copied the database to ${file}.${key}` }
  },
})

async function repeated(call: Invocation<typeof BACKUP_OPTIONS>): Promise<CommandResult> {
  const { every, keep } = call.options
  const folder = requirePositional(call)
  const spanMs = every === undefined ? null : parseTime('every', every, 0, 'ahead')
  if (spanMs !== null && (spanMs <= 0 || spanMs > SPAN_MS_MAX)) {
    throw new UsageError('--every takes a span of up to 24 days, as 15m or 6h.')
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
      ? `Copied the database to ${last.file}.`
      : `Stopped after ${formatCount(taken, 'copy', 'copies')}.`
  return { json: { ...last, taken }, text }
}

/** What a timer can wait for. */
const SPAN_MS_MAX = 24 * DAY_MS

function keepOf(text: string | undefined): number {
  const keep = Number(text ?? KEEP)
  if (Number.isInteger(keep) && keep >= 1 && keep <= KEEP_MAX) return keep
  throw new UsageError('--keep takes a whole number of at least 1.')
}

export const recoverCommand = defineCommand({
  name: 'recover',
  group: 'Upkeep',
  summary: 'Go back to a copy that `backup` has made.',
  details:
    'The copy is looked through first, and stays where it is. A database that is there is only replaced with ' +
    '`--force`, and kept beside the new one. Nothing may have it open. Of a folder, the last copy is taken that was made ' +
    'by the time given with `--at`: what was written after it is not in it.',
  arguments: [{ name: 'backup', help: 'A copy, or a folder of copies.', isRequired: true }],
  options: {
    at: { kind: 'value', value: 'time', help: 'As it was then: 2h (ago), or 2026-12-01T18:00.' },
    force: { kind: 'flag', help: 'Also where there is a database.' },
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
      throw new AppError('invalid_input', '--at takes a time that has passed.')
    }
    const recovered = await database.restoreBackup(requirePositional(call), { at: time, force })
    const kept =
      recovered.previousFile === null ? '' : `\nWhat was there is kept in ${recovered.previousFile}`
    return {
      json: recovered,
      text: `The database is now that of ${recovered.file}.${kept}`,
    }
  },
})
