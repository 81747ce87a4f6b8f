/** The `settings` command. */

import {
  describeSettingRange,
  listSettingNames,
  SETTINGS,
  type SettingDeclaration,
  type SettingName,
} from '../../../../domain/settings/settings.ts'
import { findClosestMatch } from '../../../../lib/closest-match.ts'
import { AppError } from '../../../../lib/errors.ts'
import {
  changeSettings,
  clampingRange,
  getSettings,
  hasOwnValues,
  resolveSettingName,
} from '../../../operations/admin/settings-operations.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import { parseAction } from '../../input/option-values.ts'
import { renderFields, renderTable, toTerminalLine } from '../../output/text-rendering.ts'

const ACTIONS = ['list', 'get', 'set', 'unset'] as const
const OPTIONS = {
  system: { kind: 'flag', help: 'Set the system level instead of one owner.' },
} as const

type SettingsCall = Invocation<typeof OPTIONS>

export const settingsCommand = defineCommand({
  name: 'settings',
  group: 'Administration',
  summary: 'Show and change settings.',
  details:
    '`settings` lists all; `get <name>` shows one; `set <name>=<value>…` changes them ' +
    'for the owner, or for all owners with `--system`; `unset <name>…` removes stored ' +
    'values. Precedence: owner, system, command line and environment, default.',
  arguments: [
    { name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: list.` },
    { name: 'name', help: 'Setting names; with `set` as name=value.', isRepeated: true },
  ],
  options: OPTIONS,
  examples: [
    'recollect settings',
    'recollect settings get recall.limit',
    'recollect settings set recall.limit=5 recall.strategy=keyword --owner ada',
    'recollect settings set retention.auditDays=30 --system',
    'recollect settings unset recall.limit',
  ],
  async run(call) {
    const [action, ...words] = call.positionals
    switch (parseAction('settings', action, ACTIONS)) {
      case 'list':
        if (words.length > 0) throw new UsageError('`settings list` takes no names; use `get`.')
        return listed(call)
      case 'get':
        return one(call, words)
      case 'set':
        return change(call, Object.fromEntries(joined(requireSome(words, 'set')).map(assignment)))
      case 'unset':
        return change(
          call,
          Object.fromEntries(requireSome(words, 'unset').map((word) => [nameOf(word), null])),
        )
    }
  },
})

type Values = {
  readonly [name: string]: unknown
  readonly sources?: Record<string, string>
  readonly clamped?: readonly { readonly name: string; readonly given: number }[]
}

function levelOf({ options: given }: SettingsCall) {
  return given.system ? { level: 'system' as const } : {}
}

async function listed(call: SettingsCall): Promise<CommandResult> {
  const values: Values = await call.perform(getSettings, { ...levelOf(call), sources: true })
  const rows = listSettingNames().map((name) => [
    { text: name },
    { text: shown(values[name]) },
    { text: values.sources?.[name] ?? '', paint: call.style.dim },
    { text: describeSettingRange(name) },
  ])
  const help = listSettingNames().map((name) => [name, SETTINGS[name].help] as const)
  const list = renderTable(call.style, ['SETTING', 'VALUE', 'SET BY', 'TAKES'], rows)
  return { json: values, text: `${list}\n\n${renderFields(call.style, help)}` }
}

async function one(call: SettingsCall, words: readonly string[]): Promise<CommandResult> {
  const [word, surplus] = requireSome(words, 'get')
  if (surplus !== undefined) throw new UsageError('`settings get` requires exactly one name.')
  const given = nameOf(word ?? '')
  const name = settingOf(given)
  const values: Values = await call.perform(getSettings, { ...levelOf(call), sources: true })
  const setBy = values.sources?.[name] ?? 'default'
  const text = [
    shown(values[name]),
    '',
    renderFields(call.style, [
      ['set by', setBy],
      ['default', shown(SETTINGS[name].default)],
      ['takes', describeSettingRange(name)],
      ['about', SETTINGS[name].help],
    ]),
  ].join('\n')
  return { json: { [given]: values[given], source: setBy }, text }
}

async function change(call: SettingsCall, changes: Values): Promise<CommandResult> {
  refuseWrongLevel(call, Object.keys(changes))
  const values: Values = await call.perform(changeSettings, { ...levelOf(call), ...changes })
  const moved = new Map(values.clamped?.map(({ name, given }) => [name, given]))
  const lines = Object.keys(changes).map((name) => {
    const given = moved.has(name) ? ` (${moved.get(name)} is out of range)` : ''
    return `${name} is ${shown(values[name])}${given}${later(name)}`
  })
  return { json: values, text: lines.join('\n') }
}

function later(name: string): string {
  const declaration: SettingDeclaration = SETTINGS[settingOf(name)]
  return declaration.appliesAt === 'start' ? ', takes effect at the next start' : ''
}

function refuseWrongLevel({ options: given }: SettingsCall, names: readonly string[]): void {
  const wide = names.find((name) => SETTINGS[settingOf(name)].scope === 'system')
  if (wide === undefined || given.system) return
  throw new UsageError(`${wide} is a system setting. Use --system.`)
}

function shown(value: unknown): string {
  return value === null || value === '' ? '(none)' : toTerminalLine(String(value))
}

function requireSome(words: readonly string[], action: string): readonly string[] {
  if (words.length > 0) return words
  const form = action === 'set' ? '<name>=<value>' : '<name>'
  throw new UsageError(`\`settings ${action}\` needs ${form}.`, 'Run `recollect help settings`.')
}

/** `set enabled true` equals `set enabled=true`. */
function joined(words: readonly string[]): readonly string[] {
  const isPair = words.length === 2 && !words.some((word) => word.includes('='))
  return isPair ? [words.join('=')] : words
}

function assignment(word: string): readonly [string, unknown] {
  const at = word.indexOf('=')
  if (at < 0) throw new UsageError(`Use ${toTerminalLine(word).slice(0, 40)}=<value> to set it.`)
  const name = nameOf(word.slice(0, at))
  return [name, parsedValue(name, word.slice(at + 1))]
}

/** Resolves a setting name, including the names other systems use. */
function nameOf(word: string): string {
  if (resolveSettingName(word) !== null) return word
  const names = listSettingNames()
  const meant = findClosestMatch(word, names)
  throw new UsageError(
    `Unknown setting "${word.slice(0, 40)}".${meant === null ? '' : ` Did you mean ${meant}?`}`,
    'Run `recollect settings` for a list.',
  )
}

function settingOf(name: string): SettingName {
  const own = resolveSettingName(name)
  if (own === null) throw new AppError('internal', `${name} was taken for a setting.`)
  return own
}

/** Parses a value for the setting's type. Values of no valid form are refused here, because they could not be sent. */
function parsedValue(name: string, text: string): unknown {
  if (hasOwnValues(name)) return text
  const own = settingOf(name)
  const declaration: SettingDeclaration = SETTINGS[own]
  const refused = () =>
    new AppError(
      'invalid_input',
      `${name} takes ${describeSettingRange(own)}; not "${text.slice(0, 40)}".`,
    )
  switch (declaration.kind) {
    case 'number': {
      const number = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN
      const isWhole = declaration.step === 'any' || Number.isInteger(number)
      const isInRange = number >= declaration.min && number <= declaration.max
      const fits = isInRange || (clampingRange(name) !== null && !Number.isNaN(number))
      if (!(fits && isWhole)) throw refused()
      return number
    }
    case 'switch':
      if (['true', 'on', 'yes'].includes(text)) return true
      if (['false', 'off', 'no'].includes(text)) return false
      throw refused()
    case 'choice':
      if (!declaration.choices.includes(text)) throw refused()
      return text
    case 'text':
      return text
  }
}
