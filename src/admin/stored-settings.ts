/**
 * Settings in the store, for the whole system and per owner. Precedence: owner > system > command line and environment >
 * default.
 */

import type { EntryOf } from '../domain/entries/entry.ts'
import {
  createInvalidInputError,
  parseInstant,
  parseInteger,
  parseNullable,
  parseObject,
  parseText,
} from '../domain/field-parsers.ts'
import type { EntryId, OwnerId } from '../domain/ids.ts'
import { parseScope, SYSTEM_OWNER } from '../domain/scope.ts'
import { renameSettings } from '../domain/settings/renamed-settings.ts'
import {
  listSettingNames,
  parseSettings,
  resolveSettings,
  SETTINGS,
  type SettingName,
  type Settings,
  type SettingValues,
} from '../domain/settings/settings.ts'
import { AppError } from '../lib/errors.ts'
import { sha256 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'
import { LruCache } from '../lib/lru-cache.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { buildEntryChange, getSystemEntry } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'

/** Null removes a stored value, so that the next lower level applies. */
export type SettingChanges = { readonly [name: string]: unknown }

export interface StoredSettings {
  /** The effective settings of an owner; null stands for an owner without settings. */
  resolve(owner: OwnerId | null): Promise<Settings>
  /** The effective settings if they are cached, else null. */
  peek(owner: OwnerId | null): Settings | null
  /** The values stored at this level only. */
  getStored(owner: OwnerId | null): Promise<SettingValues>
  /** Commits the changes that `buildMore` returns with the settings; each retry of the commit calls it again. */
  change(
    owner: OwnerId | null,
    changes: SettingChanges,
    buildMore?: () => Promise<readonly Change[]>,
  ): Promise<Settings>
  /** Drops the cached values, so that the next call reads the store. */
  invalidate(): void
}

/** How long cached values are used when another process may change them unnoticed. */
const CACHE_TTL_MS = 1_000

/** The same when the store reports remote changes; the limit only covers a lost connection. */
const CACHE_TTL_WITH_FEED_MS = 5_000

export function createStoredSettings(
  ports: StoreDependencies & { readonly settings: SettingValues },
): StoredSettings {
  const ttlMs = ports.store.onRemoteChange === undefined ? CACHE_TTL_MS : CACHE_TTL_WITH_FEED_MS
  const cache = new LruCache<
    OwnerId | null,
    { readonly values: SettingValues; readonly until: number }
  >({ entriesMax: CACHED_OWNERS_MAX })
  const resolved = new LruCache<OwnerId | null, ResolvedSettings>({
    entriesMax: CACHED_OWNERS_MAX,
  })
  let generation = 0
  const getCached = (owner: OwnerId | null): SettingValues | null => {
    const cached = cache.get(owner)
    return cached !== undefined && ports.clock.now() < cached.until ? cached.values : null
  }
  const getStored = async (owner: OwnerId | null): Promise<SettingValues> => {
    const cached = getCached(owner)
    if (cached !== null) return cached
    const now = ports.clock.now()
    const before = generation
    const values = parseStored(
      (await getSystemEntry(ports, 'setting', settingEntryId(owner)))?.body ?? {},
    )
    if (before !== generation) return values // changed during the read, so possibly outdated
    cache.set(owner, { values, until: now + ttlMs })
    return values
  }
  /** Memoized by the identity of its inputs, because every call needs the result. */
  const merge = (owner: OwnerId | null, system: SettingValues, own: SettingValues): Settings => {
    const known = resolved.get(owner)
    if (known?.system === system && known.own === own) return known.settings
    const settings = resolveSettings(ports.settings, system, own)
    resolved.set(owner, { system, own, settings })
    return settings
  }
  const resolve = async (owner: OwnerId | null): Promise<Settings> => {
    // In parallel, because each read may be a round trip to a server.
    const [system, own] = await Promise.all([
      getStored(null),
      owner === null ? NONE : getStored(owner),
    ])
    return merge(owner, system, own)
  }
  return {
    resolve,
    getStored,
    peek: (owner) => {
      const system = getCached(null)
      const own = owner === null ? NONE : getCached(owner)
      return system === null || own === null ? null : merge(owner, system, own)
    },
    invalidate: () => {
      generation++
      cache.clear()
    },
    change: async (owner, changes, buildMore) => {
      assertOwnSettings(owner, changes)
      await commitWithRetry(ports, async () => {
        const before = await getSystemEntry(ports, 'setting', settingEntryId(owner))
        // Unknown values of a newer version are preserved.
        const body = { ...before?.body, ...changes } as JsonObject // the changes were checked
        const values = Object.fromEntries(
          Object.entries(body).filter(([, value]) => value !== null),
        )
        const system = owner === null ? NONE : await getStored(null)
        assertOverlap(resolveSettings(ports.settings, system, parseStored(values)), changes)
        const entry = { id: settingEntryId(owner), kind: 'setting' as const, at: ports.clock.now() }
        const { change } = buildEntryChange({ ...entry, about: owner, body: values }, before)
        return { changes: [change, ...((await buildMore?.()) ?? [])], result: null }
      })
      generation++
      cache.delete(owner)
      return resolve(owner)
    },
  }
}

const CACHED_OWNERS_MAX = 10_000
const NONE: SettingValues = {}

type ResolvedSettings = {
  readonly system: SettingValues
  readonly own: SettingValues
  readonly settings: Settings
}

/** Values that this version cannot read, written by another version, must not stop it from working. */
function parseStored(body: { readonly [name: string]: unknown }): SettingValues {
  const values: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(body)) {
    try {
      Object.assign(values, parseSettings({ [name]: value }))
    } catch {
      /* the next lower level applies */
    }
  }
  return values
}

function assertOwnSettings(owner: OwnerId | null, changes: SettingChanges): void {
  parseSettings(Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)))
  const unknown = Object.keys(changes).find(
    (name) => !listSettingNames().includes(name as SettingName),
  )
  if (unknown !== undefined) parseSettings({ [unknown]: 0 }) // throws with the list of settings
  const system = owner === null ? undefined : findSystemSetting(changes)
  if (system === undefined) return
  const details = { field: system, setting: system }
  throw new AppError('invalid_input', explainSystemSetting(system), details)
}

/** A chunk size that falls below the default overlap lowers the overlap instead. */
function assertOverlap(
  { 'files.chunkOverlapTokens': overlap, 'files.chunkTokens': chunk }: Settings,
  changes: SettingChanges,
): void {
  if (changes['files.chunkOverlapTokens'] == null || overlap < chunk) return
  throw createInvalidInputError(
    'files.chunkOverlapTokens',
    `\`files.chunkOverlapTokens\` must be smaller than \`files.chunkTokens\` (${chunk}); got ${overlap}.`,
  )
}

function findSystemSetting(values: SettingChanges): string | undefined {
  return Object.keys(values).find(
    (name) => SETTINGS[name as SettingName].scope === 'system', // the callers checked the names
  )
}

function explainSystemSetting(name: string): string {
  return `"${name}" can only be set for the whole system, not for an owner.`
}

/** The id of the settings of an owner; of the whole system for null. */
export function settingEntryId(owner: OwnerId | null): EntryId {
  return (owner === null ? 'set_system' : `set_${sha256(owner)}`) as EntryId // derived, not random
}

/**
 * Parses stored settings, the only entries that an export holds. Their id and place are derived from the owner, so that
 * a crafted file cannot write an entry where API keys are stored.
 */
export function parseSettingEntry(value: unknown): EntryOf<'setting'> {
  const fields = parseObject('entry', value)
  if (fields.kind !== 'setting') {
    throw createInvalidInputError('kind', 'An imported entry must be of kind "setting".')
  }
  const about = parseNullable(
    fields.about,
    (name) => parseScope({ owner: parseText('about', name) }).owner,
  )
  const values = parseSettings(renameSettings(parseObject('body', fields.body) as JsonObject)) // read from JSON
  const system = about === null ? undefined : findSystemSetting(values)
  if (system !== undefined) throw createInvalidInputError(system, explainSystemSetting(system))
  return {
    id: settingEntryId(about),
    place: { owner: SYSTEM_OWNER, user: null, session: null },
    kind: 'setting',
    about,
    at: parseInstant('at', fields.at),
    expiresAt: null,
    version: parseInteger('version', fields.version, 1),
    body: values as JsonObject, // numbers, booleans and text
  }
}
