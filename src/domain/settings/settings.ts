/**
 * Settings: what an operator or an owner may tune. Declared once, in `settings-table.ts`; documents and checks are made
 * from that table.
 */
import { AppError } from '../../lib/errors.ts'
import { isModelOfProviders } from '../model-name.ts'
import type { SettingDeclaration } from './setting-declaration.ts'
import { SETTINGS } from './settings-table.ts'

export { STRATEGIES } from './recall-modes.ts'

export type { SettingDeclaration, SettingScope } from './setting-declaration.ts'
export { SETTINGS } from './settings-table.ts'

const TEXT_CHARACTERS_MAX = 200

export type SettingName = keyof typeof SETTINGS

type ValueOf<Name extends SettingName> = (typeof SETTINGS)[Name] extends {
  readonly choices: readonly (infer Choice)[]
}
  ? Choice
  : (typeof SETTINGS)[Name] extends { readonly kind: 'switch' }
    ? boolean
    : (typeof SETTINGS)[Name] extends { readonly kind: 'text' }
      ? string
      : number

export type SettingValue = number | string | boolean

export type Settings = { readonly [Name in SettingName]: ValueOf<Name> }

export type SettingValues = { readonly [Name in SettingName]?: ValueOf<Name> }

/** What a setting takes, in words. */
export function describeSettingRange(name: SettingName): string {
  const declaration: SettingDeclaration = SETTINGS[name]
  switch (declaration.kind) {
    case 'choice':
      return declaration.choices.join(', ')
    case 'number':
      return `${declaration.min} to ${declaration.max}`
    case 'switch':
      return 'true, false'
    case 'text':
      if (declaration.format === 'timeZone') return 'a time zone, as Europe/Berlin'
      if (declaration.format === 'address')
        return 'an address, as http://127.0.0.1:6333, or nothing'
      if (declaration.providers !== undefined) {
        return `provider/model, with one of ${declaration.providers.join(', ')}; or nothing`
      }
      return `text of up to ${TEXT_CHARACTERS_MAX} characters`
  }
}

/** Settings that were resolved here: nothing of them needs to be checked again, as every call would. */
const resolved = new WeakSet<SettingValues>()
const DEFAULTS = Object.fromEntries(
  listSettingNames().map((name) => [name, SETTINGS[name].default]),
) as Settings // one for each name

/** The values in force: defaults, overridden by the system's, overridden by the owner's. */
export function resolveSettings(...levels: readonly SettingValues[]): Settings {
  let settings = DEFAULTS
  for (const level of levels) {
    if (resolved.has(level))
      settings = level as Settings // see above
    else if (!isEmpty(level)) settings = { ...settings, ...parseSettings(level) }
  }
  resolved.add(settings)
  return Object.freeze(settings)
}

function isEmpty(level: SettingValues): boolean {
  for (const _ in level) return false
  return true
}

/** Checks names and ranges. An unknown name is refused rather than ignored: a typo must not look like success. */
export function parseSettings(input: { readonly [name: string]: unknown }): SettingValues {
  const values: Partial<Record<SettingName, SettingValue>> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    if (!isSettingName(name)) {
      throw new AppError(
        'invalid_input',
        `There is no setting "${name}". There are: ${listSettingNames().join(', ')}.`,
        { setting: name },
      )
    }
    values[name] = parseValue(name, value)
  }
  return values as SettingValues // each value was checked against its declaration
}

export function listSettingNames(): readonly SettingName[] {
  return Object.keys(SETTINGS) as SettingName[] // the table's own keys
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

function parseValue(name: SettingName, value: unknown): SettingValue {
  const declaration: SettingDeclaration = SETTINGS[name]
  const refused = (takes: string) =>
    new AppError('invalid_input', `Setting "${name}" takes ${takes}.`, {
      setting: name,
      field: name,
    })
  switch (declaration.kind) {
    case 'choice': {
      const found = declaration.choices.find((choice) => choice === value)
      if (found === undefined) {
        const given = String(value).slice(0, TEXT_CHARACTERS_MAX)
        throw refused(`one of ${declaration.choices.join(', ')}; not "${given}"`)
      }
      return found
    }
    case 'switch':
      if (typeof value !== 'boolean') throw refused('true or false')
      return value
    case 'text':
      if (typeof value !== 'string' || value.length > TEXT_CHARACTERS_MAX) {
        throw refused(describeSettingRange(name))
      }
      if (declaration.format === 'timeZone' && !isTimeZone(value)) {
        throw refused(`${describeSettingRange(name)}; not "${value}"`)
      }
      // What was given may hold a password, and is not repeated.
      if (declaration.format === 'address' && !isAddress(value))
        throw refused(describeSettingRange(name))
      if (declaration.providers !== undefined && value !== '') {
        if (!isModelOfProviders(value, declaration.providers)) {
          throw refused(`${describeSettingRange(name)}. "${value}" is none`)
        }
      }
      return value
    case 'number': {
      const { min, max, step } = declaration
      const fits =
        typeof value === 'number' &&
        value >= min &&
        value <= max &&
        (step === 'any' || Number.isInteger(value))
      const kind = step === 'integer' ? 'a whole number' : 'a number'
      if (!fits) throw refused(`${kind} from ${min} to ${max}`)
      return value
    }
  }
}

/** Looking one up takes as long as reading all other settings together, and every question reads them. */
const timeZones = new Set<string>()

/** A name that is known here; the empty text and offsets are none. */
function isTimeZone(name: string): boolean {
  if (timeZones.has(name)) return true
  if (!/^[A-Za-z]/.test(name)) return false
  try {
    const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions()
    if (timeZone !== '') timeZones.add(name)
    return timeZone !== ''
  } catch {
    return false
  }
}

/** Of a server, without anything secret in it. */
function isAddress(text: string): boolean {
  if (text === '') return true
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}
