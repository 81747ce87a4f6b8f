/** Commands for the database as a whole. */
import type { z } from 'zod'
import { createAbortedError, sleep } from '../../../../lib/abort.ts'
import { AppError, ERRORS } from '../../../../lib/errors.ts'
import { listOwners } from '../../../operations/admin/key-operations.ts'
import { getSettings } from '../../../operations/admin/settings-operations.ts'
import {
  checkIntegrity as examine,
  getReindexStatus,
  getSystemStatus,
  repairIntegrity as repairing,
  reindex as startReindexing,
} from '../../../operations/admin/system-operations.ts'
import {
  assertLocal,
  type CommandResult,
  defineCommand,
  type Invocation,
  UsageError,
} from '../../command.ts'
import type { SalvageResult } from '../../database.ts'
import type { CliEnvironment } from '../../host.ts'
import { formatTime } from '../../input/time-format.ts'
import { toOptionNames } from '../../output/error-hints.ts'
import { createProgressLine, formatPercent } from '../../output/progress-line.ts'
import {
  formatBytes,
  formatCount,
  formatMemoryCount,
  formatNumber,
  renderFields,
  toTerminalLine,
} from '../../output/text-rendering.ts'
import { renderPendingSignals } from '../learning/ingest-commands.ts'
import { replicaFields } from './vector-store-command.ts'

type Status = z.output<(typeof getSystemStatus)['output']>
type SettingsWithSources = {
  readonly [name: string]: unknown
  readonly sources?: { readonly [name: string]: string }
}

type Fields = readonly (readonly [string, string])[]

export const statusCommand = defineCommand({
  name: 'status',
  group: 'Administration',
  summary: 'Show the database, its contents and its problems.',
  details: 'The exit code is 7 when the database is encrypted and its key is missing or wrong.',
  arguments: [],
  options: {},
  examples: ['recollect status', 'recollect status --data ./memories'],
  async run(call) {
    const setup = call.getEnvironment()
    if (setup.remote !== null) return serverStatus(call, setup.remote.url)
    try {
      const known = await knownStatus(call)
      const json = { ...known.output, database: aboutDatabase(setup) }
      return {
        json,
        text: renderFields(call.style, [...databaseFields(setup, known.output), ...known.fields]),
      }
    } catch (error) {
      const isLocked = setup.database.state() === 'encrypted' && error instanceof AppError
      if (!isLocked) throw error
      return lockedStatus(call, setup, error)
    }
  },
})

async function serverStatus(call: Invocation, url: string): Promise<CommandResult> {
  const { output, fields: rest } = await knownStatus(call)
  const { role, home } = output.caller
  const text = renderFields(call.style, [
    ['server', url],
    ['version', output.version],
    ['as', `${role} of ${toTerminalLine(home)}`],
    ...storeFields(output),
    ...rest,
  ])
  return { json: output, text }
}

async function knownStatus(call: Invocation) {
  const output = await call.perform(getSystemStatus, {})
  const { owners } = await call.perform(listOwners, {})
  const { sources = {}, ...values }: SettingsWithSources = await call.perform(getSettings, {
    sources: true,
  })
  const changed = Object.entries(sources).flatMap(([name, source]) =>
    source === 'default' ? [] : [`${name} ${String(values[name])} (${source})`],
  )
  const waiting = await renderPendingSignals(call)
  const state = output.state === 'ok' ? [] : [output.state, ...output.reasons]
  return {
    output,
    fields: [
      ['owners', ownersText(owners)],
      ...indexFields(output.index),
      ...(output.vectors.state === 'off' ? [] : replicaFields(output.vectors)),
      ['learning', learningText(output.learning)],
      ...(waiting === '' ? [] : [['to learn', waiting] as const]),
      ['settings', changed.length === 0 ? 'all defaults' : changed.join('\n')],
      ...(state.length === 0 ? [] : [['state', toOptionNames(state.join('\n'))] as const]),
    ] satisfies Fields,
  }
}

function learningText({ model, pausedUntil, usageToday, reason }: Status['learning']): string {
  const lines = [
    model === null
      ? 'by patterns; distillation needs a model (`learning.extractionModel`)'
      : `by patterns, and with ${toTerminalLine(model)}`,
    ...(pausedUntil === null
      ? []
      : [`the model failed; paused until ${formatTime(Date.parse(pausedUntil))}`]),
    ...(usageToday === null || (model === null && usageToday.calls === 0)
      ? []
      : [usageText(usageToday)]),
    ...(reason === null ? [] : [`The job queue is unreadable: ${reason}`]),
  ]
  return lines.join('\n')
}

function usageText({
  calls,
  input,
  output,
  budget,
}: NonNullable<Status['learning']['usageToday']>) {
  const limit = budget === 0 ? '' : ` of ${formatNumber(budget)}`
  return `models used ${formatNumber(input + output)}${limit} tokens today, in ${formatCount(calls, 'call')}`
}

function aboutDatabase({ database, keyOrigin }: CliEnvironment) {
  const { folder, file } = database
  return { folder, file, state: database.state(), key: keyOrigin }
}

function databaseFields({ database, keyOrigin }: CliEnvironment, output: Status): Fields {
  const key: Fields = keyOrigin === null ? [] : [['key', keyOrigin]]
  const state = database.state()
  if (state === 'missing') {
    return [['database', `${database.file} (not there yet; \`recollect add\` makes it)`], ...key]
  }
  return [
    ['database', database.file],
    ['encrypted', state === 'encrypted' ? 'yes' : 'no'],
    ...key,
    ...storeFields(output),
  ]
}

function storeFields({ store }: Status): Fields {
  return [
    ...(store.sizeBytes === null ? [] : [['size', formatBytes(store.sizeBytes)] as const]),
    ['schema', `version ${store.schemaVersion} (${store.kind})`],
    ...(store.memories === null
      ? []
      : [
          [
            'holds',
            `${formatMemoryCount(store.memories)}, ${formatCount(store.turns ?? 0, 'turn')}`,
          ] as const,
        ]),
  ]
}

/** Status of a database that cannot be opened without a key or the cipher package. */
function lockedStatus(call: Invocation, setup: CliEnvironment, error: AppError): CommandResult {
  const { keyOrigin } = setup
  const text = renderFields(call.style, [
    ['database', setup.database.file],
    ['encrypted', 'yes'],
    ...(keyOrigin === null ? [] : [['key', keyOrigin] as const]),
    ['state', `locked\n${error.message}`],
  ])
  const { exit } = ERRORS[error.code]
  const json = {
    version: call.host.version,
    state: 'unavailable',
    reasons: [error.message],
    database: aboutDatabase(setup),
  }
  return { json, text, exitCode: exit }
}

/** The embedder and the number of pending embeddings. */
function indexFields(index: Status['index']): Fields {
  if (index === null) return [['recall', 'keyword search only']]
  const { embedder, withoutVector, buildingSpace, reason } = index
  const lack =
    withoutVector === null || withoutVector === 0
      ? []
      : [`${formatNumber(withoutVector)} not embedded yet; \`recollect reindex\` embeds them`]
  const why = reason === null ? [] : [toOptionNames(reason)]
  const of = index.space === null ? '' : ` (${index.space})`
  const vectors = index.vectors === null ? index.space : `${formatNumber(index.vectors)}${of}`
  const other = buildingSpace === null ? [] : [`building ${buildingSpace}`]
  const state = embedder.state === 'failing' ? ' (failing)' : ''
  const model = `${embedder.source}, ${embedder.model}${state}`
  return [
    ['model', [model, ...runningText(embedder.facts)].join('\n')],
    ['vectors', [vectors, ...memoryText(index.facts), ...lack, ...other, ...why].join('\n')],
  ]
}

type Facts = NonNullable<Status['index']>['facts']

/** The runtime of the loaded model, and why a preferred one is unavailable. */
function runningText(facts: Facts): readonly string[] {
  const { runtime, warmUpMs, nativeRuntimeError, fallbackFor, fallbackReason } = facts
  const ready = warmUpMs === undefined ? '' : `, ready after ${formatNumber(Number(warmUpMs))} ms`
  return [
    ...(runtime === undefined ? [] : [`runs ${runtime}${ready}`]),
    ...(nativeRuntimeError === undefined ? [] : [`not the native runtime: ${nativeRuntimeError}`]),
    ...(fallbackFor === undefined ? [] : [`not ${fallbackFor}: ${fallbackReason}`]),
  ]
}

function memoryText({ cacheBytes }: Facts): readonly string[] {
  if (cacheBytes === undefined || cacheBytes === 0) return []
  return [`${formatBytes(Number(cacheBytes))} of memory`]
}

const OWNERS_SHOWN_MAX = 20

function ownersText(owners: z.output<(typeof listOwners)['output']>['owners']): string {
  if (owners.length === 0) return 'none yet'
  const lines = owners
    .slice(0, OWNERS_SHOWN_MAX)
    .map(({ owner, user, memories: number, turns }) => {
      const who =
        user === null ? toTerminalLine(owner) : `${toTerminalLine(owner)} / ${toTerminalLine(user)}`
      return `${who}: ${formatMemoryCount(number)}${turns === 0 ? '' : `, ${formatCount(turns, 'turn')}`}`
    })
  if (owners.length > lines.length) {
    lines.push(`and ${formatNumber(owners.length - lines.length)} more (\`recollect owners\`)`)
  }
  return lines.join('\n')
}

const LOOK_AGAIN_MS = 100

export const reindexCommand = defineCommand({
  name: 'reindex',
  group: 'Administration',
  summary: 'Embed all memories and turns without a vector.',
  details:
    'Memories and turns are embedded in the background; this command does it now. It can ' +
    'be interrupted and resumes where it stopped; a server resumes automatically.',
  arguments: [],
  options: {
    force: { kind: 'flag', help: 'Re-embed everything.' },
  },
  examples: ['recollect reindex', 'recollect reindex --force'],
  async run(call) {
    await call.perform(startReindexing, { force: call.options.force })
    const done = await reindexed(call)
    if (done.error !== null) throw new AppError('unavailable', done.error)
    const { index } = await call.perform(getSystemStatus, {})
    const of = index?.space == null ? '' : ` (${index.space})`
    const vectors = formatNumber(index?.vectors ?? 0)
    const text = `${vectors} memories and turns are embedded${of}.`
    return { json: done, text }
  },
})

async function reindexed(call: Invocation): Promise<z.output<(typeof getReindexStatus)['output']>> {
  const progress = createProgressLine(call.host)
  try {
    for (;;) {
      const state = await call.perform(getReindexStatus, {})
      if (!state.running) return state
      const { done, total } = state
      progress.show(
        `${formatNumber(done)} of ${formatNumber(total)} embedded${formatPercent(done, total)}`,
      )
      if (!(await sleep(LOOK_AGAIN_MS, call.host.stopSignal))) {
        throw createAbortedError('Canceled; run `reindex` again to continue.')
      }
    }
  } finally {
    progress.clear()
  }
}

const DOCTOR_OPTIONS = {
  repair: { kind: 'flag', help: 'Rebuild derived data.' },
  salvage: { kind: 'flag', help: 'Recover readable rows of a damaged file; the file is kept.' },
} as const

export const doctorCommand = defineCommand({
  name: 'doctor',
  group: 'Administration',
  summary: 'Check the integrity of the database, and repair it.',
  details:
    'The exit code is 0 without faults and 8 when faults remain. `--repair` rebuilds ' +
    'derived data and never changes a memory. `--salvage` works only on the machine with ' +
    'the database.',
  arguments: [],
  options: DOCTOR_OPTIONS,
  examples: ['recollect doctor', 'recollect doctor --repair', 'recollect doctor --salvage'],
  async run(call) {
    const { repair, salvage } = call.options
    if (repair && salvage) throw new UsageError('--repair and --salvage cannot be combined.')
    if (salvage) assertLocal(call, '`doctor --salvage`')
    const { database, remote } = call.getEnvironment()
    const isMissing = remote === null && database.state() === 'missing'
    if (isMissing && salvage) {
      throw new UsageError(`No database found at ${database.file}.`)
    }
    const saved = salvage ? await salvaged(call) : null
    const found = await call.perform(repair ? repairing : examine, {})
    const isMended = repair && found.problems.length > 0
    const remaining = isMended ? (await call.perform(examine, {})).problems : found.problems
    const { index } = await call.perform(getSystemStatus, {})
    const healthy = isMissing ? `No database exists at ${database.file} yet.` : 'No problems found.'
    const text = [
      ...(saved === null ? [] : [salvagedText(saved)]),
      ...faultLines(found.problems, remaining, healthy),
      ...lackingLines(index?.withoutVector ?? 0),
    ].join('\n')
    return {
      json: {
        ...found,
        ...(repair ? { remaining } : {}),
        ...(saved === null ? {} : { salvaged: saved }),
        withoutVector: index?.withoutVector ?? 0,
      },
      text,
      ...(remaining.length > 0 ? { exitCode: ERRORS.damaged.exit } : {}),
    }
  },
})

type Fault = z.output<(typeof examine)['output']>['problems'][number]

function faultLines(
  found: readonly Fault[],
  remaining: readonly Fault[],
  healthy: string,
): readonly string[] {
  const renderFault = (fault: Fault) => `  ${formatNumber(fault.count)} × ${fault.description}`
  const isAmong = ({ description }: Fault) =>
    remaining.some((fault) => fault.description === description)
  const mended = found.filter((fault) => !isAmong(fault))
  return [
    ...(found.length === 0 ? [healthy] : []),
    ...(mended.length > 0 ? ['Repaired:', ...mended.map(renderFault)] : []),
    ...(remaining.length > 0 ? ['Faults:', ...remaining.map(renderFault)] : []),
    ...(remaining.some((fault) => fault.repairable) ? ['Run `recollect doctor --repair`.'] : []),
    ...(remaining.some((fault) => !fault.repairable)
      ? ['Make a copy of the data folder first, then run `recollect doctor --salvage`.']
      : []),
  ]
}

/** Pending embeddings are no fault, but explain missing results. */
function lackingLines(missing: number): readonly string[] {
  if (missing === 0) return []
  const lacking = formatCount(missing, 'memory or turn is', 'memories and turns are')
  return [
    `${lacking} not embedded yet and found by keyword search only. Run \`recollect reindex\`.`,
  ]
}

async function salvaged(call: Invocation): Promise<SalvageResult> {
  const progress = createProgressLine(call.host)
  try {
    return await call
      .getEnvironment()
      .database.salvage((done, total) =>
        progress.show(`Salvaging: ${formatNumber(done)} rows${formatPercent(done, total)}`),
      )
  } finally {
    progress.clear()
  }
}

function salvagedText({ recovered, losses, quarantineFile: damagedAt }: SalvageResult): string {
  const rows = Object.entries(recovered).map(
    ([name, number]) => `  ${formatNumber(number)} ${name}`,
  )
  const lost =
    losses.length === 0 ? ['No data was lost.'] : ['Lost:', ...losses.map((each) => `  ${each}`)]
  return ['Recovered:', ...rows, ...lost, `The damaged database is kept in ${damagedAt}`].join('\n')
}
