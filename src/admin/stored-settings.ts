/**
 * Stored settings: what an operator sets for everybody, and what is set for one owner. In force is, from weak to strong:
 * the default, what the process was started with, the system's value, the owner's.
 */

import type { OwnerId } from '../domain/ids.ts'
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
import type { JsonObject } from '../lib/json.ts'
import { commitWithRetry } from '../storage/access/optimistic-commit.ts'
import { buildEntryChange, getSystemEntry } from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Change } from '../storage/store.ts'
import { settingEntryId } from './setting-entry.ts'

/** Null takes a stored value away, so that the next weaker one is in force. */
export type SettingChanges = { readonly [name: string]: unknown }

export interface StoredSettings {
  /** What is in force for an owner; for null, for whoever has no settings of their own. */
  resolve(owner: OwnerId | null): Promise<Settings>
  /** The same, if it is known without asking the store. */
  peek(owner: OwnerId | null): Settings | null
  /** Only what is stored at this level. */
  getStored(owner: OwnerId | null): Promise<SettingValues>
  /** `beside` is committed with them, and asked again when that has to be tried again. */
  change(
    owner: OwnerId | null,
    changes: SettingChanges,
    beside?: () => Promise<readonly Change[]>,
  ): Promise<Settings>
  /** Looks at the store the next time, whatever is known. */
  invalidate(): void
}

/** How long values are used without a look at the store, where another process may have changed them. */
const FRESH_MS = 1_000

/** The same where others tell of it: only for when they can't be heard, and then it is a matter of seconds. */
const HEARD_FRESH_MS = 5_000

export function createStoredSettings(
  ports: StoreDependencies & { readonly settings: SettingValues },
): StoredSettings {
  const freshMs = ports.store.onRemoteChange === undefined ? FRESH_MS : HEARD_FRESH_MS
  const fresh = new Map<
    OwnerId | null,
    { readonly values: SettingValues; readonly until: number }
  >()
  const resolved = new Map<OwnerId | null, ResolvedSettings>()
  let changed = 0
  const freshOf = (owner: OwnerId | null): SettingValues | null => {
    const known = fresh.get(owner)
    return known !== undefined && ports.clock.now() < known.until ? known.values : null
  }
  const stored = async (owner: OwnerId | null): Promise<SettingValues> => {
    const known = freshOf(owner)
    if (known !== null) return known
    const now = ports.clock.now()
    const before = changed
    const values = parseStored(
      (await getSystemEntry(ports, 'setting', settingEntryId(owner)))?.body ?? {},
    )
    if (before !== changed) return values // read while it was being changed: not to be kept
    if (fresh.size >= FRESH_OWNERS_MAX) fresh.clear()
    fresh.set(owner, { values, until: now + freshMs })
    return values
  }
  /** Made anew only when what they are made of is another: it is asked for with every call. */
  const resolve = (owner: OwnerId | null, system: SettingValues, own: SettingValues): Settings => {
    const known = resolved.get(owner)
    if (known?.system === system && known.own === own) return known.settings
    const settings = resolveSettings(ports.settings, system, own)
    if (resolved.size >= FRESH_OWNERS_MAX) resolved.clear()
    resolved.set(owner, { system, own, settings })
    return settings
  }
  const effective = async (owner: OwnerId | null): Promise<Settings> => {
    // At once, because each may be a trip to a server.
    const [system, own] = await Promise.all([stored(null), owner === null ? NONE : stored(owner)])
    return resolve(owner, system, own)
  }
  return {
    resolve: effective,
    peek: (owner) => {
      const system = freshOf(null)
      const own = owner === null ? NONE : freshOf(owner)
      return system === null || own === null ? null : resolve(owner, system, own)
    },
    getStored: stored,
    invalidate: () => {
      changed++
      fresh.clear()
    },
    change: async (owner, changes, beside) => {
      assertOwnSettings(owner, changes)
      await commitWithRetry(ports, async () => {
        const before = await getSystemEntry(ports, 'setting', settingEntryId(owner))
        // What a newer version stored stays as it is.
        const body = { ...before?.body, ...changes } as JsonObject // the changes were checked
        const values = Object.fromEntries(
          Object.entries(body).filter(([, value]) => value !== null),
        )
        const entry = { id: settingEntryId(owner), kind: 'setting' as const, at: ports.clock.now() }
        const { change } = buildEntryChange({ ...entry, about: owner, body: values }, before)
        return { changes: [change, ...((await beside?.()) ?? [])], result: null }
      })
      changed++
      fresh.delete(owner)
      return effective(owner)
    },
  }
}

const FRESH_OWNERS_MAX = 10_000
const NONE: SettingValues = {}

type ResolvedSettings = {
  readonly system: SettingValues
  readonly own: SettingValues
  readonly settings: Settings
}

/** What a newer version stored, or an older one under other limits, must not keep this one from working. */
function parseStored(body: { readonly [name: string]: unknown }): SettingValues {
  const values: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(body)) {
    try {
      Object.assign(values, parseSettings({ [name]: value }))
    } catch {
      /* the next weaker value is in force */
    }
  }
  return values
}

function assertOwnSettings(owner: OwnerId | null, changes: SettingChanges): void {
  parseSettings(Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)))
  const unknown = Object.keys(changes).find(
    (name) => !listSettingNames().includes(name as SettingName),
  )
  if (unknown !== undefined) parseSettings({ [unknown]: 0 }) // says which settings there are
  if (owner === null) return
  const system = Object.keys(changes).find(
    (name) => SETTINGS[name as SettingName].scope === 'system', // each is a name, see above
  )
  if (system === undefined) return
  throw new AppError(
    'invalid_input',
    `"${system}" is set for the whole system, not for an owner.`,
    {
      field: system,
      setting: system,
    },
  )
}
