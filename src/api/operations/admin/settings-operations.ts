/**
 * Settings by their own names and by the aliases that clients of other systems send. An alias and
 * its setting must not be set to different values.
 */
import { z } from 'zod'
import type { OwnerId } from '../../../domain/ids.ts'
import { parseScope } from '../../../domain/scope.ts'
import {
  listSettingNames,
  SETTINGS,
  type SettingDeclaration,
  type SettingName,
  type Settings,
} from '../../../domain/settings/settings.ts'
import { AppError } from '../../../lib/errors.ts'
import { assertAccess, hasAccess } from '../authorization.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveOwner, scopeFields } from '../scope-fields.ts'

/** Aliases and their value codecs. */
const ALIASES: {
  readonly [alias: string]: {
    readonly name: SettingName
    /** Whether alias and setting share the value format. */
    readonly isPlain: boolean
    readonly schema: z.ZodType
    readonly read: (value: never) => unknown
    readonly write: (value: never) => unknown
    /** A setting that the alias changes as well, unless the request names it. */
    readonly also?: SettingName
  }
} = {
  maxTokens: same('gateway.contextTokensMax'),
  memoryBudgetTokens: same('gateway.contextTokensMax'),
  enabled: same('gateway.enabled'),
  skillsEnabled: same('gateway.memoryToolsEnabled'),
  relevanceGateMode: same('gateway.gateMode'),
  strategy: same('recall.strategy'),
  rerankEnabled: same('recall.rerankEnabled'),
  rerankProviderModel: nullable('recall.rerankModel'),
  extractionMode: same('learning.extractionMode'),
  summaryDebounceSeconds: same('learning.debounceSeconds'),
  consolidationIntervalHours: same('learning.consolidationIntervalHours'),
  // There, retention also hides older memories from recall.
  retentionDays: { ...same('retention.unusedDays'), also: 'recall.maxAgeDays' },
  episodeRetentionDays: same('retention.episodeDays'),
  salienceFloor: same('retention.minSalience'),
  autoRecall: same('hooks.recallEnabled'),
  autoCapture: same('hooks.captureEnabled'),
  captureMaxChars: same('hooks.captureCharactersMax'),
  embeddingSource: same('embedding.source'),
  embeddingProviderModel: nullable('embedding.model'),
  transformersEnabled: same('embedding.localEnabled'),
  staticEnabled: same('embedding.staticEnabled'),
  vectorStore: same('vectorStore.backend'),
  embeddingModel: nullable('embedding.model'),
  embeddingBackend: {
    name: 'embedding.source',
    isPlain: false,
    schema: z.enum(['mlx', 'none']),
    read: (value: string) => (value === 'none' ? 'none' : 'auto'),
    write: (value: string) => (value === 'none' ? 'none' : 'mlx'),
  },
}

function same(name: SettingName) {
  const keep = (value: unknown) => value
  return { name, isPlain: true, schema: schemaOf(SETTINGS[name]), read: keep, write: keep }
}

/** Text that other systems write as null when empty. */
function nullable(name: SettingName) {
  return {
    name,
    isPlain: false,
    schema: z.string().max(200).nullable(),
    read: (value: string | null) => value ?? '',
    write: (value: string) => (value === '' ? null : value),
  }
}

/** Numbers that other systems clamp, under the names that come from there. */
const CLAMPED: { readonly [name: string]: Range } = {
  memoryBudgetTokens: { min: 100, max: 4_000 },
  summaryDebounceSeconds: SETTINGS['learning.debounceSeconds'],
  'learning.debounceSeconds': SETTINGS['learning.debounceSeconds'],
  consolidationIntervalHours: SETTINGS['learning.consolidationIntervalHours'],
  'learning.consolidationIntervalHours': SETTINGS['learning.consolidationIntervalHours'],
  salienceFloor: SETTINGS['retention.minSalience'],
  'retention.minSalience': SETTINGS['retention.minSalience'],
  episodeRetentionDays: SETTINGS['retention.episodeDays'],
  'retention.episodeDays': SETTINGS['retention.episodeDays'],
}

type Range = { readonly min: number; readonly max: number }

/**
 * The range that a number under this name is clamped to; null for one that is refused when out of
 * range.
 */
export function clampingRange(name: string): Range | null {
  return Object.hasOwn(CLAMPED, name) ? (CLAMPED[name] ?? null) : null
}

/** The setting behind a name, which may be an alias; null when there is none. */
export function resolveSettingName(name: string): SettingName | null {
  const own = listSettingNames().find((each) => each === name)
  return own ?? (Object.hasOwn(ALIASES, name) ? (ALIASES[name]?.name ?? null) : null)
}

/** Whether the values of an alias are not those of its setting; they are then checked by its schema. */
export function hasOwnValues(name: string): boolean {
  return Object.hasOwn(ALIASES, name) && ALIASES[name]?.isPlain === false
}

function schemaOf(declaration: SettingDeclaration): z.ZodType {
  switch (declaration.kind) {
    case 'number': {
      const number = declaration.step === 'integer' ? z.int() : z.number()
      return number.min(declaration.min).max(declaration.max)
    }
    case 'choice':
      return z.enum(declaration.choices as readonly [string, ...string[]])
    case 'switch':
      return z.boolean()
    case 'text':
      return z.string().max(200).nullable()
  }
}

const fields = Object.fromEntries([
  ...listSettingNames().map((name) => [
    name,
    schemaOf(SETTINGS[name]).describe(SETTINGS[name].help),
  ]),
  ...Object.entries(ALIASES).map(([alias, { name, schema }]) => [
    alias,
    schema.describe(`Alias of \`${name}\`.`),
  ]),
]) as { [name: string]: z.ZodType }

/** Clamped settings accept any number. */
function inputField(name: string, schema: z.ZodType): z.ZodType {
  const range = clampingRange(name)
  const own = resolveSettingName(name)
  if (range === null || own === null) return schema
  const declaration: SettingDeclaration = SETTINGS[own]
  const isWhole = declaration.kind === 'number' && declaration.step === 'integer'
  return (isWhole ? z.int() : z.number()).describe(
    `${schema.description ?? ''} ${range.min} to ${range.max}; values outside are clamped and reported.`,
  )
}

const clampedOutput = z
  .array(z.object({ name: z.string(), given: z.number(), used: z.number() }))
  .describe('Numbers that were clamped into their range, with the value that was set.')

type Clamped = z.output<typeof clampedOutput>[number]

const level = z
  .enum(['system', 'owner'])
  .optional()
  .describe('The level to read or write: the whole system, or one owner. Default: owner.')

const applied: { [name: string]: z.ZodType } = {
  level: z.enum(['system', 'owner']).describe('The level that was read or changed.'),
  owner: z.string().nullable().describe('Whose settings these are; null for the whole system.'),
}

const output = z.object({ ...applied, ...fields })

/** The origin of a value. `start`: command-line flags or environment variables. */
export const SETTING_SOURCES = ['default', 'start', 'system', 'owner'] as const
const sources = z.record(z.string(), z.enum(SETTING_SOURCES))

function toWire(settings: Settings, owner: OwnerId | null): { [name: string]: unknown } {
  const wire: { [name: string]: unknown } = { level: owner === null ? 'system' : 'owner', owner }
  for (const name of listSettingNames()) {
    const value: unknown = settings[name]
    wire[name] = SETTINGS[name].kind === 'text' && value === '' ? null : value
  }
  for (const [alias, { name, write }] of Object.entries(ALIASES)) {
    wire[alias] = write(settings[name] as never) // each alias fits its setting
  }
  return wire
}

function requestedOwner(
  context: OperationContext,
  input: { level?: string | undefined; owner?: string | undefined; apiKeyId?: string | undefined },
) {
  if (input.level === 'system') return null
  return parseScope({ owner: resolveOwner(context, input, 'read') }).owner
}

export const getSettings = defineOperation({
  name: 'settings.get',
  summary:
    'Lists the effective settings of an owner: defaults, overridden by system settings, overridden by owner settings.',
  access: 'read',
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    level,
    sources: z.boolean().optional().describe('Includes the level that each value comes from.'),
  }),
  output: output.extend({ sources: sources.optional() }),
  http: { method: 'GET', path: '/api/settings/memory' },
  cli: 'settings',
  run: async (context, { sources: includesSources, ...input }) => {
    const owner = requestedOwner(context, input)
    const settings = await context.engine.admin.settings.resolve(owner)
    const wire = toWire(settings, owner)
    return includesSources === true
      ? { ...wire, sources: await sourcesOf(context, owner, settings) }
      : wire
  },
})

async function sourcesOf({ engine }: OperationContext, owner: OwnerId | null, settings: Settings) {
  const own = owner === null ? {} : await engine.admin.settings.getStored(owner)
  const system = await engine.admin.settings.getStored(null)
  const sourceOf = (name: SettingName) => {
    if (own[name] !== undefined) return 'owner' as const
    if (system[name] !== undefined) return 'system' as const
    return settings[name] === SETTINGS[name].default ? ('default' as const) : ('start' as const)
  }
  return Object.fromEntries(listSettingNames().map((name) => [name, sourceOf(name)]))
}

export const changeSettings = defineOperation({
  name: 'settings.change',
  summary:
    'Changes the given settings. Null resets a setting to the next lower level. Reports clamped numbers.',
  access: 'curate',
  isIdempotent: true,
  input: z.strictObject({
    // Null as it was read, for clients that send everything back.
    owner: scopeFields.owner.nullable(),
    apiKeyId: scopeFields.apiKeyId,
    level,
    ...Object.fromEntries(
      Object.entries(fields).map(([name, schema]) => [
        name,
        inputField(name, schema).nullable().optional(),
      ]),
    ),
  }),
  output: output.extend({ clamped: clampedOutput.optional() }),
  http: { method: 'PUT', path: '/api/settings/memory' },
  cli: 'settings',
  targets: (_, { owner: _o, apiKeyId: _a, level: _l, ...given }) => Object.keys(given),
  run: async (context, { owner: named, apiKeyId, level: at, ...given }) => {
    const { engine, caller } = context
    const owner = named ?? undefined
    if (at === 'system') assertAccess(caller, 'manage')
    else resolveOwner(context, { owner, apiKeyId }, 'curate')
    const meant = requestedOwner(context, { owner, apiKeyId, level: at })
    const current = await engine.admin.settings.resolve(meant)
    const { values, clamped } = clampToRange(given, current)
    const own = resolveAliases(values, current)
    const toOutput = (settings: Settings) =>
      clamped.length === 0 ? toWire(settings, meant) : { ...toWire(settings, meant), clamped }
    if (meant === null) return toOutput(await engine.admin.settings.change(null, own))
    // Clients send back everything they received. System settings are written at the system level if the caller may do so.
    const system = hasAccess(caller, 'manage') ? systemOnlySettings(own) : {}
    const rest = Object.entries(own).filter(([name]) => !Object.hasOwn(system, name))
    if (Object.keys(system).length > 0) await engine.admin.settings.change(null, system)
    return toOutput(await engine.admin.settings.change(meant, Object.fromEntries(rest)))
  },
})

type Values = { readonly [name: string]: unknown }

/** Clamps numbers; unchanged values are not written. */
function clampToRange(
  given: Values,
  current: Settings,
): { readonly values: Values; readonly clamped: Clamped[] } {
  const clamped: Clamped[] = []
  const values = Object.entries(given).map(([name, value]) => {
    const range = clampingRange(name)
    const own = resolveSettingName(name)
    const isUnchanged = range === null || own === null || value === current[own]
    if (isUnchanged || typeof value !== 'number') return [name, value]
    const used = Math.min(range.max, Math.max(range.min, value))
    if (used !== value) clamped.push({ name, given: value, used })
    return [name, used]
  })
  return { values: Object.fromEntries(values), clamped }
}

function systemOnlySettings(values: Values): Values {
  return Object.fromEntries(Object.entries(values).filter(([name]) => isSystem(name)))
}

function isSystem(name: string): boolean {
  return SETTINGS[name as SettingName].scope === 'system' // the input's names are those of settings
}

/**
 * Values by setting name. A value that is already in force counts as unchanged where the setting is
 * a system setting or occurs under several names: a client that sends everything back changed only
 * the other one.
 */
function resolveAliases(given: Values, current: Settings): Values {
  const own: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    const alias = ALIASES[name]
    const target = (alias?.name ?? name) as SettingName // the input's names are those of settings
    const meant = value === null || alias === undefined ? value : alias.read(value as never) // as its schema says
    const isCurrent = (meant ?? '') === current[target]
    const isAliased = Object.values(ALIASES).some((each) => each.name === target)
    if (isCurrent && (isSystem(target) || isAliased)) continue
    if (Object.hasOwn(own, target) && own[target] !== meant) {
      throw new AppError(
        'invalid_input',
        `\`${name}\` is an alias of \`${target}\`; set only one of them.`,
        {
          field: name,
        },
      )
    }
    own[target] = meant
  }
  for (const [name, { also }] of Object.entries(ALIASES)) {
    const target = ALIASES[name]?.name ?? ''
    const isChanged = given[name] !== undefined && Object.hasOwn(own, target)
    if (also !== undefined && isChanged && !Object.hasOwn(own, also)) own[also] = own[target]
  }
  return own
}

const settingValue = z.union([z.string(), z.number(), z.boolean()])

const settingSchema = z
  .object({
    name: z.string(),
    kind: z.enum(['number', 'choice', 'switch', 'text']),
    default: settingValue.nullable().describe('Null for an empty text.'),
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
  run: async () => ({ settings: listSettingNames().map(describeSetting) }),
})

function describeSetting(name: SettingName): z.output<typeof settingSchema> {
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
