/** The settings table for clients that render it. */
import { z } from 'zod'
import {
  listSettingNames,
  SETTINGS,
  type SettingDeclaration,
  type SettingName,
} from '../../../domain/settings/settings.ts'
import { defineOperation } from '../operation.ts'
import { clampingRange } from './settings-operations.ts'

const value = z.union([z.string(), z.number(), z.boolean()])

const settingSchema = z
  .object({
    name: z.string(),
    kind: z.enum(['number', 'choice', 'switch', 'text']),
    default: value.nullable().describe('Null for an empty text.'),
    min: z.number().nullable(),
    max: z.number().nullable(),
    isWhole: z.boolean().describe('Whether a number must be an integer.'),
    choices: z.array(z.string()),
    scope: z
      .enum(['system', 'owner'])
      .describe('`system`: one value for the whole system. `owner`: owners may override it.'),
    appliesAt: z
      .enum(['once', 'start'])
      .describe('`start`: a change takes effect at the next start.'),
    isClamped: z.boolean().describe('Whether numbers out of range are clamped instead of refused.'),
    help: z.string(),
  })
  .meta({ id: 'Setting' })

export const describeSettings = defineOperation({
  name: 'settings.describe',
  summary: 'Describes all settings: default, range, help.',
  access: 'read',
  input: z.strictObject({}),
  output: z.object({ settings: z.array(settingSchema) }),
  http: { method: 'GET', path: '/api/settings' },
  run: async () => ({ settings: listSettingNames().map(describe) }),
})

function describe(name: SettingName): z.output<typeof settingSchema> {
  const declaration: SettingDeclaration = SETTINGS[name]
  const { kind, scope, help, appliesAt = 'once' } = declaration
  const range = declaration.kind === 'number' ? declaration : null
  return {
    ...{ name, kind, scope, appliesAt, help },
    default: declaration.default === '' ? null : declaration.default,
    min: range?.min ?? null,
    max: range?.max ?? null,
    isWhole: range?.step === 'integer',
    choices: declaration.kind === 'choice' ? [...declaration.choices] : [],
    isClamped: clampingRange(name) !== null,
  }
}
