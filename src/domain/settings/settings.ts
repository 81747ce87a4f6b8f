/** Settings: what an operator or an owner may tune, declared in `settings-table.ts`. */
import { AppError } from '../../lib/errors.ts'
import { isModelOfProviders } from '../model-name.ts'
import type { SettingDeclaration } from './setting-declaration.ts'
import { SETTINGS } from './settings-table.ts'

export { STRATEGIES } from './setting-choices.ts'
export type { SettingDeclaration } from './setting-declaration.ts'
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

type SettingValue = number | string | boolean

export type Settings = { readonly [Name in SettingName]: ValueOf<Name> }

export type SettingValues = { readonly [Name in SettingName]?: ValueOf<Name> }

/** Describes the values that a setting accepts. */
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
      if (declaration.format === 'timeZone') return 'a time zone such as Europe/Berlin'
      if (declaration.format === 'address') return 'a URL such as http://127.0.0.1:6333, or empty'
      if (declaration.providers !== undefined) {
        return `provider/model with one of ${declaration.providers.join(', ')}; or empty`
      }
      return `text of up to ${TEXT_CHARACTERS_MAX} characters`
  }
}

/** Settings that `resolveSettings` returned. They are valid, so passing them in again costs no validation. */
const resolved = new WeakSet<SettingValues>()
const DEFAULTS = Object.fromEntries(
  listSettingNames().map((name) => [name, SETTINGS[name].default]),
) as Settings // one value per name

/** The effective values: defaults, overridden by each level in turn (system, then owner). */
export function resolveSettings(...levels: readonly SettingValues[]): Settings {
  let settings = DEFAULTS
  for (const level of levels) {
    if (resolved.has(level)) {
      settings = level as Settings // resolved settings have every name
    } else if (!isEmpty(level)) {
      settings = { ...settings, ...parseSettings(level) }
    }
  }
  resolved.add(settings)
  return Object.freeze(settings)
}

function isEmpty(level: SettingValues): boolean {
  for (const _ in level) return false
  return true
}

/** Checks names and ranges. An unknown name is an error, because a typo must not look like success. */
export function parseSettings(input: { readonly [name: string]: unknown }): SettingValues {
  const values: Partial<Record<SettingName, SettingValue>> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    if (!isSettingName(name)) {
      throw new AppError(
        'invalid_input',
        `There is no setting "${name}". Settings: ${listSettingNames().join(', ')}.`,
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
  const createError = (expectation: string, suffix = `; got ${quote(value)}`) =>
    new AppError('invalid_input', `\`${name}\` must be ${expectation}${suffix}.`, {
      setting: name,
      field: name,
    })
  switch (declaration.kind) {
    case 'choice': {
      const match = declaration.choices.find((each) => each === value)
      if (match === undefined) throw createError(`one of ${declaration.choices.join(', ')}`)
      return match
    }
    case 'switch':
      if (typeof value !== 'boolean') throw createError('true or false')
      return value
    case 'text':
      if (typeof value !== 'string' || value.length > TEXT_CHARACTERS_MAX) {
        throw createError(describeSettingRange(name))
      }
      if (declaration.format === 'timeZone' && !isTimeZone(value)) {
        throw createError(describeSettingRange(name))
      }
      // The value may contain a password, so the message must not repeat it.
      if (declaration.format === 'address' && !isAddress(value)) {
        throw createError(describeSettingRange(name), '')
      }
      if (declaration.providers !== undefined && value !== '') {
        if (!isModelOfProviders(value, declaration.providers)) {
          throw createError(describeSettingRange(name))
        }
      }
      return value
    case 'number': {
      const { min, max, step } = declaration
      const isValid =
        typeof value === 'number' &&
        value >= min &&
        value <= max &&
        (step === 'any' || Number.isInteger(value))
      const kind = step === 'integer' ? 'an integer' : 'a number'
      if (!isValid) throw createError(`${kind} from ${min} to ${max}`)
      return value
    }
  }
}

function quote(value: unknown): string {
  const text = String(value).slice(0, TEXT_CHARACTERS_MAX)
  return typeof value === 'string' ? `"${text}"` : text
}

/** A lookup takes as long as parsing all other settings, and every recall resolves them. */
const timeZones = new Set<string>()

/** Whether the platform knows this time zone. Offsets and the empty text are no names. */
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

/** Whether a text is empty or the URL of a server, without credentials. */
function isAddress(text: string): boolean {
  if (text === '') return true
  if (!URL.canParse(text)) return false
  const { protocol, username, password, search, hash } = new URL(text)
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === ''
}
