/** Commands about the database as a whole. */
import { ERRORS } from '../../../core/errors.ts'
import {
  resolveSettings,
  SETTINGS,
  type SettingValues,
  settingNames,
  settingRange,
} from '../../../core/settings.ts'
import type { EngineStatus } from '../../../engine/engine.ts'
import type { StoreFault } from '../../../ports/store.ts'
import {
  type Answer,
  type Call,
  defineCommand,
  onlyWord,
  UsageError,
  withEngine,
} from '../command.ts'
import type { Salvaged } from '../host.ts'
import { createProgress, percent } from '../progress.ts'
import { count, fields, formatBytes, formatNumber, memories, oneLine, table } from '../render.ts'

export const status = defineCommand({
  name: 'status',
  group: 'Upkeep',
  summary: 'Say where the database is and what is in it.',
  arguments: [],
  options: {},
  examples: ['recollect status', 'recollect status --data ./memories'],
  async run(call) {
    const { database, keyOrigin, settings } = call.setup()
    const state = database.state()
    const values = resolveSettings(settings)
    const about = { folder: database.folder, file: database.file, state, key: keyOrigin }
    const settingsText = changedSettings(settings)
    const key: readonly (readonly [string, string])[] =
      keyOrigin === null ? [] : [['key', keyOrigin]]
    if (state === 'missing') {
      const json = { ...about, store: null, places: [], settings: values }
      const text = fields(call.style, [
        ['database', `${database.file} (not there yet; \`recollect add\` makes it)`],
        ...key,
        ['settings', settingsText],
      ])
      return { json, text }
    }
    return withEngine(call, { create: false }, async (engine) => {
      const [store, places] = [await engine.status(), await engine.places()]
      const { memory, revision, tombstone } = store.rows
      const text = fields(call.style, [
        ['database', database.file],
        ['encrypted', state === 'encrypted' ? 'yes' : 'no'],
        ...key,
        ['size', store.sizeBytes === null ? 'unknown' : formatBytes(store.sizeBytes)],
        ['schema', `version ${store.schemaVersion} (${store.kind})`],
        [
          'holds',
          `${memories(memory)}, ${count(revision, 'earlier version')}, ${count(tombstone, 'trace')} of forgotten ones`,
        ],
        ['owners', ownersText(places)],
        ...indexFields(store.index),
        ['settings', settingsText],
      ])
      return { json: { ...about, store, places, settings: values }, text }
    })
  },
})

function changedSettings(settings: SettingValues): string {
  const changed = Object.entries(settings).map(([name, value]) => `${name} ${value}`)
  return changed.length === 0 ? 'all at their defaults' : changed.join('\n')
}

/** How memories are found by meaning, and how many are not yet. */
function indexFields(index: EngineStatus['index']): readonly (readonly [string, string])[] {
  if (index === null) return [['recall', 'by words alone']]
  const { embedder, missing, filling, because } = index
  const state = embedder.state.kind === 'failing' ? ` (${embedder.state.because})` : ''
  const lack =
    missing === 0
      ? []
      : [
          `${count(missing, 'memory', 'memories')} without one yet; \`recollect reindex\` makes them`,
        ]
  const why = because === null ? [] : [because]
  const of = index.space === null ? '' : ` (${index.space})`
  const vectors = `${formatNumber(index.vectors)}${of}`
  const other = filling === null ? [] : [`filling ${filling}`]
  return [
    ['model', `${embedder.source}, ${embedder.model}${state}`],
    ['vectors', [vectors, ...lack, ...other, ...why].join('\n')],
  ]
}

export const reindex = defineCommand({
  name: 'reindex',
  group: 'Upkeep',
  summary: 'Give every memory its vector, to the end.',
  details:
    'Memories get their vectors by themselves; this does it now. It can be stopped, and goes on where it was.',
  arguments: [],
  options: {
    force: { kind: 'flag', help: 'Make all of them anew.' },
  },
  examples: ['recollect reindex', 'recollect reindex --force'],
  async run(call) {
    return withEngine(call, { create: false }, async (engine) => {
      const progress = createProgress(call.host)
      try {
        const status = await engine.reindex({
          force: call.given.force === true,
          signal: call.host.stop,
          onProgress: ({ done, total }) =>
            progress.show(
              `${formatNumber(done)} of ${formatNumber(total)} memories${percent(done, total)}`,
            ),
        })
        const text = `${count(status.vectors, 'memory', 'memories')} of ${formatNumber(status.memories)} can be found by meaning (${status.space}).`
        return { json: status, text }
      } finally {
        progress.clear()
      }
    })
  },
})

const PLACES_SHOWN_MAX = 20

function ownersText(
  places: readonly {
    readonly owner: string
    readonly user: string | null
    readonly memories: number
  }[],
): string {
  if (places.length === 0) return 'none yet'
  const lines = places.slice(0, PLACES_SHOWN_MAX).map(({ owner, user, memories: number }) => {
    const who = user === null ? oneLine(owner) : `${oneLine(owner)} / ${oneLine(user)}`
    return `${who}: ${memories(number)}`
  })
  if (places.length > lines.length) {
    lines.push(`and ${formatNumber(places.length - lines.length)} more (--json lists all)`)
  }
  return lines.join('\n')
}

export const settings = defineCommand({
  name: 'settings',
  group: 'Upkeep',
  summary: 'List the settings with their values, defaults and ranges.',
  arguments: [],
  options: {},
  examples: ['recollect settings', 'recollect settings --json'],
  async run(call) {
    const values = resolveSettings(call.setup().settings)
    const json = {
      settings: settingNames().map((name) => {
        const { default: standard, help } = SETTINGS[name]
        return { name, value: values[name], default: standard, range: settingRange(name), help }
      }),
    }
    const rows = json.settings.map(({ name, value, default: standard, range }) => [
      { text: name },
      { text: String(value) },
      { text: String(standard) },
      { text: range },
    ])
    const help = json.settings.map(({ name, help: words }) => [name, words] as const)
    const text = `${table(call.style, ['SETTING', 'VALUE', 'DEFAULT', 'RANGE'], rows)}\n\n${fields(call.style, help)}`
    return { json, text }
  },
})

const DOCTOR_OPTIONS = {
  repair: { kind: 'flag', help: 'Mend what can be rebuilt from the memories.' },
  salvage: { kind: 'flag', help: 'Save what is readable of a damaged file; the file is kept.' },
} as const

export const doctor = defineCommand({
  name: 'doctor',
  group: 'Upkeep',
  summary: 'Check the database, and mend it when asked to.',
  details:
    'The exit code is 0 when all is well and 8 when faults remain. Repairing rebuilds what is derived and never ' +
    'changes a memory.',
  arguments: [],
  options: DOCTOR_OPTIONS,
  examples: ['recollect doctor', 'recollect doctor --repair', 'recollect doctor --salvage'],
  async run(call) {
    const { repair, salvage } = call.given
    if (repair && salvage) throw new UsageError('Give --repair or --salvage, not both.')
    const { database } = call.setup()
    if (database.state() === 'missing') {
      if (salvage) throw new UsageError(`There is no database at ${database.file} to salvage.`)
      return examined([], [], `There is no database at ${database.file} yet.`)
    }
    const saved = salvage ? await salvaged(call) : null
    return withEngine(call, { create: false }, async (engine) => {
      const found = await engine.doctor({ repair })
      const remaining = repair && found.length > 0 ? await engine.doctor() : found
      const answer = examined(found, remaining, 'All is well.')
      if (saved === null) return answer
      return {
        ...answer,
        json: { ...answer.json, salvaged: saved },
        text: `${salvagedText(saved)}\n${answer.text}`,
      }
    })
  },
})

type Examined = Omit<Answer, 'json'> & { readonly json: object }

function examined(
  found: readonly StoreFault[],
  remaining: readonly StoreFault[],
  healthy: string,
): Examined {
  const told = (fault: StoreFault) => `  ${formatNumber(fault.count)} × ${fault.what}`
  const isRepaired = remaining.length < found.length
  const lines = [
    ...(found.length === 0 ? [healthy] : []),
    ...(isRepaired
      ? ['Mended:', ...found.filter((fault) => !isAmong(fault, remaining)).map(told)]
      : []),
    ...(remaining.length > 0 ? ['Faults:', ...remaining.map(told)] : []),
    ...(remaining.some((fault) => fault.repairable) ? ['Run `recollect doctor --repair`.'] : []),
    ...(remaining.some((fault) => !fault.repairable)
      ? ['Make a copy of the data folder first, then run `recollect doctor --salvage`.']
      : []),
  ]
  return {
    json: { healthy: remaining.length === 0, found, remaining },
    text: lines.join('\n'),
    ...(remaining.length > 0 ? { exit: ERRORS.damaged.exit } : {}),
  }
}

function isAmong(fault: StoreFault, faults: readonly StoreFault[]): boolean {
  return faults.some(({ what }) => what === fault.what)
}

async function salvaged(call: Call): Promise<Salvaged> {
  const progress = createProgress(call.host)
  try {
    return await call
      .setup()
      .database.salvage((done, total) =>
        progress.show(`Salvaging: ${formatNumber(done)} rows${percent(done, total)}`),
      )
  } finally {
    progress.clear()
  }
}

function salvagedText({ recovered, losses, damagedAt }: Salvaged): string {
  const rows = Object.entries(recovered).map(
    ([name, number]) => `  ${formatNumber(number)} ${name}`,
  )
  const lost =
    losses.length === 0 ? ['Nothing was lost.'] : ['Lost:', ...losses.map((each) => `  ${each}`)]
  return ['Saved:', ...rows, ...lost, `The damaged database is kept in ${damagedAt}`].join('\n')
}

export const backup = defineCommand({
  name: 'backup',
  group: 'Upkeep',
  summary: 'Copy the whole database to a new file while it is in use.',
  details:
    'The copy is a database like the original, encrypted with the same key if that is. To go back to it, put it ' +
    'in the place of the database while nothing uses it.',
  arguments: [{ name: 'file', help: 'Where to; nothing may be there yet.', isRequired: true }],
  options: {},
  examples: ['recollect backup ~/backups/recollect-monday.db'],
  async run(call) {
    const file = onlyWord(call)
    const { database } = call.setup()
    await database.backup(file)
    const key = database.state() === 'encrypted' ? ' It is encrypted with the same key.' : ''
    return { json: { file }, text: `Copied the database to ${file}.${key}` }
  },
})
