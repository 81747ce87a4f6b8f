/**
 * Stored settings: what an operator sets for everybody, and what is set for one owner. In force is, from weak to strong:
 * the default, what the process was started with, the system's value, the owner's.
 */
import { AppError } from '../../core/errors.ts'
import type { OwnerId } from '../../core/ids.ts'
import type { JsonObject } from '../../core/memory.ts'
import { settingEntryId } from '../../core/records.ts'
import {
  parseSettings,
  resolveSettings,
  SETTINGS,
  type SettingName,
  type Settings,
  type SettingValues,
  settingNames,
} from '../../core/settings.ts'
import { decideAndCommit } from '../changes.ts'
import type { EnginePorts } from '../ports.ts'
import { getEntry, putEntry } from './entries.ts'

/** Null takes a stored value away, so that the next weaker one is in force. */
export type SettingChanges = { readonly [name: string]: unknown }

export interface StoredSettings {
  /** What is in force for an owner; for null, for whoever has no settings of their own. */
  effective(owner: OwnerId | null): Promise<Settings>
  /** Only what is stored at this level. */
  stored(owner: OwnerId | null): Promise<SettingValues>
  change(owner: OwnerId | null, changes: SettingChanges): Promise<Settings>
}

/** How long values are used without a look at the store, where another process may have changed them. */
const FRESH_MS = 1_000

export function createStoredSettings(ports: EnginePorts): StoredSettings {
  const fresh = new Map<string, { readonly values: SettingValues; readonly until: number }>()
  let changed = 0
  const stored = async (owner: OwnerId | null): Promise<SettingValues> => {
    const id = settingEntryId(owner)
    const now = ports.clock.now()
    const known = fresh.get(id)
    if (known !== undefined && now < known.until) return known.values
    const before = changed
    const values = readable((await getEntry(ports, id))?.body ?? {})
    if (before !== changed) return values // read while it was being changed: not to be kept
    if (fresh.size >= FRESH_OWNERS_MAX) fresh.clear()
    fresh.set(id, { values, until: now + FRESH_MS })
    return values
  }
  const effective = async (owner: OwnerId | null): Promise<Settings> =>
    resolveSettings(
      ports.settings,
      await stored(null),
      ...(owner === null ? [] : [await stored(owner)]),
    )
  return {
    effective,
    stored,
    change: async (owner, changes) => {
      refuseForeign(owner, changes)
      await decideAndCommit(ports, async () => {
        const before = await getEntry(ports, settingEntryId(owner))
        // What a newer version stored stays as it is.
        const body = { ...before?.body, ...changes } as JsonObject // the changes were checked
        const values = Object.fromEntries(
          Object.entries(body).filter(([, value]) => value !== null),
        )
        const entry = { id: settingEntryId(owner), kind: 'setting' as const, at: ports.clock.now() }
        return {
          changes: [putEntry({ ...entry, about: owner, body: values }, before).change],
          result: null,
        }
      })
      changed++
      fresh.delete(settingEntryId(owner))
      return effective(owner)
    },
  }
}

const FRESH_OWNERS_MAX = 10_000

/** What a newer version stored, or an older one under other limits, must not keep this one from working. */
function readable(body: { readonly [name: string]: unknown }): SettingValues {
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

function refuseForeign(owner: OwnerId | null, changes: SettingChanges): void {
  parseSettings(Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)))
  const unknown = Object.keys(changes).find((name) => !settingNames().includes(name as SettingName))
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
