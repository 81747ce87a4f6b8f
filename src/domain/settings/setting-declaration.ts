import type { ChoiceSetting, NumberSetting, SwitchSetting, TextSetting } from './settings-table.ts'

export type SettingScope = 'system' | 'owner'

export type SettingDeclaration = (NumberSetting | ChoiceSetting | SwitchSetting | TextSetting) & {
  /** The narrowest level that may set it: an owner's value overrides the system's. */
  readonly scope: SettingScope
  /** A stored value is read when the engine starts, and not again. */
  readonly appliesAt?: 'start'
  readonly help: string
}
