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
import { parseSettings, type SettingName } from '../domain/settings/settings.ts'
import { SETTINGS } from '../domain/settings/settings-table.ts'
import { sha256 } from '../lib/hash.ts'
import type { JsonObject } from '../lib/json.ts'

/** Where the settings of an owner are kept; of the whole system, for null. */
export function settingEntryId(owner: OwnerId | null): EntryId {
  return (owner === null ? 'set_system' : `set_${sha256(owner)}`) as EntryId // made, not drawn
}

/**
 * Stored settings, the only entries that leave a store. Their id and place are made from whom they are about, so that no
 * file can put an entry where keys are.
 */
export function parseSettingEntry(value: unknown): EntryOf<'setting'> {
  const fields = parseObject('entry', value)
  if (fields.kind !== 'setting')
    throw createInvalidInputError('kind', 'Of entries, only settings are imported.')
  const about = parseNullable(
    fields.about,
    (name) => parseScope({ owner: parseText('about', name) }).owner,
  )
  const values = parseSettings(renameSettings(parseObject('body', fields.body) as JsonObject)) // read from JSON
  const system = Object.keys(values).find(
    (name) => about !== null && SETTINGS[name as SettingName].scope === 'system',
  )
  if (system !== undefined) {
    throw createInvalidInputError(
      system,
      `"${system}" is set for the whole system, not for an owner.`,
    )
  }
  return {
    id: settingEntryId(about),
    place: { owner: SYSTEM_OWNER, user: null, session: null },
    kind: 'setting',
    about,
    at: parseInstant('at', fields.at),
    expiresAt: null,
    version: parseInteger('version', fields.version, 1),
    body: values as JsonObject, // numbers, switches and words
  }
}
