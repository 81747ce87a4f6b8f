/**
 * Settings: what an operator or an owner may tune. Declared once, with default, range and help;
 * documents and checks are made from this table.
 */
import { AppError } from './errors.ts'

type NumberSetting = {
  readonly kind: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step: 'integer' | 'any'
}

export type SettingScope = 'system' | 'owner'
export type SettingDeclaration = NumberSetting & {
  /** The narrowest level that may set it: an owner's value overrides the system's. */
  readonly scope: SettingScope
  readonly help: string
}

export const SETTINGS = {
  recallLimit: {
    kind: 'number',
    default: 10,
    min: 1,
    max: 1_000,
    step: 'integer',
    scope: 'owner',
    help: 'How many memories a search returns when the caller does not say.',
  },
  neighboursMax: {
    kind: 'number',
    default: 10,
    min: 0,
    max: 100,
    step: 'integer',
    scope: 'owner',
    help: 'How many stored memories with similar words a new one is compared with. 0 finds exact restatements only.',
  },
  reinforcement: {
    kind: 'number',
    default: 0.1,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'How far a restatement lifts the salience of what it repeats, as a share of what is missing to 1.',
  },
  binDays: {
    kind: 'number',
    default: 30,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'How many days a forgotten memory can be restored before `recollect erase --bin` removes it for good.',
  },
} as const satisfies Record<string, SettingDeclaration>

export type SettingName = keyof typeof SETTINGS
export type Settings = { readonly [Name in SettingName]: number }
export type SettingValues = { readonly [Name in SettingName]?: number }

/** A stored value of one setting. */
export type Setting = {
  readonly id: string
  readonly name: SettingName
  readonly value: number
  readonly version: number
}

/** The values in force: defaults, overridden by the system's, overridden by the owner's. */
export function resolveSettings(...levels: readonly SettingValues[]): Settings {
  const merged: Partial<Record<SettingName, number>> = {}
  for (const name of settingNames()) merged[name] = SETTINGS[name].default
  for (const level of levels) Object.assign(merged, parseSettings(level))
  return merged as Settings // every name got its default above
}

/** Checks names and ranges. An unknown name is refused rather than ignored: a typo must not look like success. */
export function parseSettings(input: { readonly [name: string]: unknown }): SettingValues {
  const values: Partial<Record<SettingName, number>> = {}
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined) continue
    if (!isSettingName(name)) {
      throw new AppError(
        'invalid_input',
        `There is no setting "${name}". There are: ${settingNames().join(', ')}.`,
        { setting: name },
      )
    }
    values[name] = parseValue(name, value)
  }
  return values
}

export function settingNames(): readonly SettingName[] {
  return Object.keys(SETTINGS) as SettingName[] // the table's own keys
}

function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

function parseValue(name: SettingName, value: unknown): number {
  const { min, max, step } = SETTINGS[name]
  const fits =
    typeof value === 'number' &&
    value >= min &&
    value <= max &&
    (step === 'any' || Number.isInteger(value))
  if (!fits) {
    const kind = step === 'integer' ? 'a whole number' : 'a number'
    throw new AppError('invalid_input', `Setting "${name}" takes ${kind} from ${min} to ${max}.`, {
      setting: name,
      min,
      max,
    })
  }
  return value
}
