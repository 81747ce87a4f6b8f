/**
 * Whole rows as they come out of an export, checked before they go back in. An export may have been edited by
 * hand or made by someone else, so every field is looked at.
 */

import type { Entry } from '../domain/entry.ts'
import { AppError } from '../domain/errors.ts'
import {
  type EntryId,
  type Instant,
  type OwnerId,
  type Place,
  parseId,
  SYSTEM_OWNER,
} from '../domain/ids.ts'
import {
  type JsonObject,
  MEMORY_STATUSES,
  type Memory,
  type Revision,
  type Tombstone,
} from '../domain/memory.ts'
import { parseSettings, SETTINGS, type SettingName } from '../domain/settings/settings.ts'
import { TURN_ROLES, type Turn } from '../domain/turn.ts'
import { sha256 } from '../lib/hash.ts'
import { parseEdit, parseProvenance, parseScope } from './draft.ts'

/** The range of dates; anything else could not be written as ISO text. */
export const INSTANT_MAX = 8_640_000_000_000_000

type Fields = { readonly [field: string]: unknown }

export function parseMemory(value: unknown): Memory {
  const fields = object('memory', value)
  const known = new Set<string>(MEMORY_FIELDS)
  for (const field of Object.keys(fields)) {
    if (!known.has(field)) throw invalid(field, `A memory has no field "${field}".`)
  }
  const editable = Object.fromEntries(
    EDITABLE.map((field) => [field, required(fields, field)]),
  ) as Parameters<typeof parseEdit>[0] // parsed on the next line
  const edit = parseEdit(editable)
  return {
    ...(edit as Required<typeof edit>), // every editable field was given
    id: parseId('mem', fields.id),
    place: parsePlace(fields.place),
    status: status(fields.status),
    supersededBy: nullable(fields.supersededBy, (value) => parseId('mem', value)),
    conflictsWith: nullable(fields.conflictsWith, (value) => parseId('mem', value)),
    provenance: parseProvenance(object('provenance', fields.provenance)),
    sourceCount: whole('sourceCount', fields.sourceCount, 1),
    useCount: whole('useCount', fields.useCount, 0),
    lastUsedAt: nullable(fields.lastUsedAt, (value) => instant('lastUsedAt', value)),
    version: whole('version', fields.version, 1),
    change: parseId('chg', fields.change),
    createdAt: instant('createdAt', fields.createdAt),
    updatedAt: instant('updatedAt', fields.updatedAt),
  }
}

export function parseRevision(value: unknown): Revision {
  const fields = object('revision', value)
  return {
    id: parseId('rev', fields.id),
    memory: parseMemory(fields.memory),
    replacedAt: instant('replacedAt', fields.replacedAt),
    replacedBy: parseId('chg', fields.replacedBy),
  }
}

export function parseTombstone(value: unknown): Tombstone {
  const fields = object('tombstone', value)
  return {
    id: parseId('tmb', fields.id),
    place: parsePlace(fields.place),
    version: whole('version', fields.version, 1),
    forgottenAt: instant('forgottenAt', fields.forgottenAt),
  }
}

/** What was said is kept whole, so this is far above what one memory may hold. */
export const TURN_CHARACTERS_MAX = 500_000
const SPEAKER_CHARACTERS_MAX = 200

export function parseTurn(value: unknown): Turn {
  const fields = object('turn', value)
  const content = text('content', fields.content)
  if (content.length > TURN_CHARACTERS_MAX) {
    throw invalid(
      'content',
      `content has ${content.length} characters; at most ${TURN_CHARACTERS_MAX} fit.`,
    )
  }
  const speaker = nullable(fields.speaker, (value) => text('speaker', value))
  if (speaker !== null && speaker.length > SPEAKER_CHARACTERS_MAX) {
    throw invalid('speaker', `speaker has at most ${SPEAKER_CHARACTERS_MAX} characters.`)
  }
  const role = TURN_ROLES.find((candidate) => candidate === fields.role)
  if (role === undefined) throw invalid('role', `role is one of ${TURN_ROLES.join(', ')}.`)
  return {
    id: parseId('turn', fields.id),
    place: parsePlace(fields.place),
    version: whole('version', fields.version, 1),
    role,
    speaker,
    content,
    position: whole('position', fields.position, 0),
    saidAt: instant('saidAt', fields.saidAt),
    disabled: fields.disabled === true,
  }
}

/** Where the settings of an owner are kept; of the whole system, for null. */
export function settingEntryId(owner: OwnerId | null): EntryId {
  return (owner === null ? 'set_system' : `set_${sha256(owner)}`) as EntryId // made, not drawn
}

/**
 * Stored settings, the only entries that leave a store. Their id and place are made from whom they are about, so that no
 * file can put an entry where keys are.
 */
export function parseSettingEntry(value: unknown): Entry {
  const fields = object('entry', value)
  if (fields.kind !== 'setting') throw invalid('kind', 'Of entries, only settings are imported.')
  const about = nullable(fields.about, (name) => parseScope({ owner: text('about', name) }).owner)
  const values = parseSettings(object('body', fields.body))
  const system = Object.keys(values).find(
    (name) => about !== null && SETTINGS[name as SettingName].scope === 'system', // just parsed
  )
  if (system !== undefined) {
    throw invalid(system, `"${system}" is set for the whole system, not for an owner.`)
  }
  return {
    id: settingEntryId(about),
    place: { owner: SYSTEM_OWNER, user: null, session: null },
    kind: 'setting',
    about,
    at: instant('at', fields.at),
    expiresAt: null,
    version: whole('version', fields.version, 1),
    body: values as JsonObject, // numbers, switches and words
  }
}

const EDITABLE = [
  'content',
  'key',
  'type',
  'category',
  'importance',
  'salience',
  'pinned',
  'trust',
  'validFrom',
  'validUntil',
  'expiresAt',
  'entities',
  'language',
  'metadata',
] as const

const MEMORY_FIELDS: readonly (keyof Memory)[] = [
  ...EDITABLE,
  'id',
  'place',
  'status',
  'supersededBy',
  'conflictsWith',
  'provenance',
  'sourceCount',
  'useCount',
  'lastUsedAt',
  'version',
  'change',
  'createdAt',
  'updatedAt',
]

function parsePlace(value: unknown): Place {
  const { owner, user, session } = object('place', value)
  const scope = parseScope({
    owner: text('owner', owner),
    user: nullable(user, (name) => text('user', name)),
    session: nullable(session, (name) => text('session', name)),
  })
  return { owner: scope.owner, user: scope.user ?? null, session: scope.session ?? null }
}

function object(field: string, value: unknown): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(field, `${field} is a JSON object.`)
  }
  return value as Fields // an object, whatever its fields
}

function required(fields: Fields, field: string): unknown {
  if (fields[field] === undefined) throw invalid(field, `${field} is missing.`)
  return fields[field]
}

function status(value: unknown): Memory['status'] {
  const found = MEMORY_STATUSES.find((candidate) => candidate === value)
  if (found === undefined)
    throw invalid('status', `status is one of ${MEMORY_STATUSES.join(', ')}.`)
  return found
}

function text(field: string, value: unknown): string {
  if (typeof value !== 'string') throw invalid(field, `${field} is text.`)
  return value
}

/** Far above what is ever counted here, and far enough below what numbers hold that counting goes on from it. */
const COUNT_MAX = 2 ** 31 - 1

function whole(field: string, value: unknown, min: number): number {
  if (!Number.isInteger(value) || Number(value) < min || Number(value) > COUNT_MAX) {
    throw invalid(field, `${field} is a whole number from ${min} to ${COUNT_MAX}.`)
  }
  return Number(value)
}

function instant(field: string, value: unknown): Instant {
  if (!Number.isInteger(value) || Math.abs(Number(value)) > INSTANT_MAX) {
    throw invalid(field, `${field} is a time in whole milliseconds since 1970.`)
  }
  return Number(value) as Instant // checked above
}

function nullable<Value>(value: unknown, parse: (value: unknown) => Value): Value | null {
  return value === null || value === undefined ? null : parse(value)
}

function invalid(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
