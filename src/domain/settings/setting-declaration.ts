export type SettingScope = 'system' | 'owner'

type NumberSetting = {
  readonly kind: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step: 'integer' | 'any'
}

type ChoiceSetting = {
  readonly kind: 'choice'
  readonly default: string
  readonly choices: readonly string[]
}

type SwitchSetting = { readonly kind: 'switch'; readonly default: boolean }

type TextSetting = {
  readonly kind: 'text'
  readonly default: string
  /** Default: any text. */
  readonly format?: 'timeZone' | 'address'
  /** The text must be empty or a `provider/model` of one of these providers. */
  readonly providers?: readonly string[]
}

export type SettingDeclaration = (NumberSetting | ChoiceSetting | SwitchSetting | TextSetting) & {
  /** The narrowest level that may set it. An owner's value overrides the system's. */
  readonly scope: SettingScope
  /** The value is read once, when the engine starts. */
  readonly appliesAt?: 'start'
  readonly help: string
}

export function integer(value: number, [min, max]: readonly [number, number]) {
  return { kind: 'number', default: value, min, max, step: 'integer' } as const
}

export function decimal(value: number, [min, max]: readonly [number, number]) {
  return { kind: 'number', default: value, min, max, step: 'any' } as const
}

export function choice<const Choices extends readonly string[]>(
  value: Choices[number],
  choices: Choices,
) {
  return { kind: 'choice', default: value, choices } as const
}

export function toggle(value: boolean) {
  return { kind: 'switch', default: value } as const
}

export function text(value = '') {
  return { kind: 'text', default: value } as const
}
