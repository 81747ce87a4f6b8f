/**
 * Whole rows as they come out of an export, checked before they go back in. An export may have been edited by
 * hand or made by someone else, so every field is looked at.
 */

import {
  createInvalidInputError,
  parseChoice,
  parseInstant,
  parseInteger,
  parseNullable,
  parseObject,
  parseText,
} from '../domain/field-parsers.ts'
import { parseId } from '../domain/ids.ts'
import { TURN_CHARACTERS_MAX } from '../domain/limits.ts'
import { MEMORY_STATUSES, type Memory, type Revision, type Tombstone } from '../domain/memory.ts'
import { type Place, parseScope } from '../domain/scope.ts'
import { TURN_ROLES, type Turn } from '../domain/turn.ts'
import type { Fields } from '../lib/json.ts'
import { parseEdit, parseProvenance } from './draft.ts'

export function parseMemory(value: unknown): Memory {
  const fields = parseObject('memory', value)
  const known = new Set<string>(MEMORY_FIELDS)
  for (const field of Object.keys(fields)) {
    if (!known.has(field)) throw createInvalidInputError(field, `A memory has no field "${field}".`)
  }
  const editable = Object.fromEntries(
    EDITABLE.map((field) => [field, requireField(fields, field)]),
  ) as Parameters<typeof parseEdit>[0] // parsed on the next line
  const edit = parseEdit(editable)
  return {
    ...(edit as Required<typeof edit>), // every editable field was given
    id: parseId('mem', fields.id),
    place: parsePlace(fields.place),
    status: parseChoice('status', fields.status, MEMORY_STATUSES),
    supersededBy: parseNullable(fields.supersededBy, (value) => parseId('mem', value)),
    conflictsWith: parseNullable(fields.conflictsWith, (value) => parseId('mem', value)),
    provenance: parseProvenance(parseObject('provenance', fields.provenance)),
    sourceCount: parseInteger('sourceCount', fields.sourceCount, 1),
    useCount: parseInteger('useCount', fields.useCount, 0),
    lastUsedAt: parseNullable(fields.lastUsedAt, (value) => parseInstant('lastUsedAt', value)),
    version: parseInteger('version', fields.version, 1),
    change: parseId('chg', fields.change),
    createdAt: parseInstant('createdAt', fields.createdAt),
    updatedAt: parseInstant('updatedAt', fields.updatedAt),
  }
}

export function parseRevision(value: unknown): Revision {
  const fields = parseObject('revision', value)
  return {
    id: parseId('rev', fields.id),
    memory: parseMemory(fields.memory),
    replacedAt: parseInstant('replacedAt', fields.replacedAt),
    replacedBy: parseId('chg', fields.replacedBy),
  }
}

export function parseTombstone(value: unknown): Tombstone {
  const fields = parseObject('tombstone', value)
  return {
    id: parseId('tmb', fields.id),
    place: parsePlace(fields.place),
    version: parseInteger('version', fields.version, 1),
    forgottenAt: parseInstant('forgottenAt', fields.forgottenAt),
  }
}

const SPEAKER_CHARACTERS_MAX = 200

export function parseTurn(value: unknown): Turn {
  const fields = parseObject('turn', value)
  return {
    id: parseId('turn', fields.id),
    place: parsePlace(fields.place),
    version: parseInteger('version', fields.version, 1),
    role: parseChoice('role', fields.role, TURN_ROLES),
    speaker: parseNullable(fields.speaker, (value) =>
      parseText('speaker', value, SPEAKER_CHARACTERS_MAX),
    ),
    content: parseText('content', fields.content, TURN_CHARACTERS_MAX),
    position: parseInteger('position', fields.position, 0),
    saidAt: parseInstant('saidAt', fields.saidAt),
    disabled: fields.disabled === true,
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
  const { owner, user, session } = parseObject('place', value)
  const scope = parseScope({
    owner: parseText('owner', owner),
    user: parseNullable(user, (name) => parseText('user', name)),
    session: parseNullable(session, (name) => parseText('session', name)),
  })
  return { owner: scope.owner, user: scope.user ?? null, session: scope.session ?? null }
}

function requireField(fields: Fields, field: string): unknown {
  if (fields[field] === undefined) throw createInvalidInputError(field, `\`${field}\` is required.`)
  return fields[field]
}
