/** Parses rows of an export. Exports may be edited by hand or made by other programs, so every field is checked. */

import {
  createInvalidInputError,
  type Fields,
  instant,
  nullable,
  object,
  text,
  whole,
} from '../domain/field-parsers.ts'
import { parseId } from '../domain/ids.ts'
import { TURN_CHARACTERS_MAX } from '../domain/limits.ts'
import { MEMORY_STATUSES, type Memory, type Revision, type Tombstone } from '../domain/memory.ts'
import { type Place, parseScope, toPlace } from '../domain/scope.ts'
import { TURN_ROLES, type Turn } from '../domain/turn.ts'
import { parseEdit, parseProvenance } from './draft.ts'

export function parseMemory(value: unknown): Memory {
  const fields = object('memory', value)
  const known = new Set<string>(MEMORY_FIELDS)
  for (const field of Object.keys(fields)) {
    if (!known.has(field)) throw createInvalidInputError(field, `A memory has no field "${field}".`)
  }
  const editable = Object.fromEntries(
    EDITABLE.map((field) => [field, requireField(fields, field)]),
  ) as Parameters<typeof parseEdit>[0] // parsed in the next line
  const edit = parseEdit(editable)
  return {
    ...(edit as Required<typeof edit>), // every editable field is present
    id: parseId('mem', fields.id),
    place: parsePlace(fields.place),
    status: parseStatus(fields.status),
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

const SPEAKER_CHARACTERS_MAX = 200

export function parseTurn(value: unknown): Turn {
  const fields = object('turn', value)
  const content = text('content', fields.content)
  if (content.length > TURN_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'content',
      `\`content\` must have at most ${TURN_CHARACTERS_MAX} characters; got ${content.length}.`,
    )
  }
  const speaker = nullable(fields.speaker, (value) => text('speaker', value))
  if (speaker !== null && speaker.length > SPEAKER_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'speaker',
      `\`speaker\` must have at most ${SPEAKER_CHARACTERS_MAX} characters; got ${speaker.length}.`,
    )
  }
  const role = TURN_ROLES.find((candidate) => candidate === fields.role)
  if (role === undefined)
    throw createInvalidInputError('role', `\`role\` must be one of ${TURN_ROLES.join(', ')}.`)
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
  return toPlace(
    parseScope({
      owner: text('owner', owner),
      user: nullable(user, (name) => text('user', name)),
      session: nullable(session, (name) => text('session', name)),
    }),
  )
}

function requireField(fields: Fields, field: string): unknown {
  if (fields[field] === undefined) throw createInvalidInputError(field, `\`${field}\` is required.`)
  return fields[field]
}

function parseStatus(value: unknown): Memory['status'] {
  const status = MEMORY_STATUSES.find((candidate) => candidate === value)
  if (status === undefined)
    throw createInvalidInputError(
      'status',
      `\`status\` must be one of ${MEMORY_STATUSES.join(', ')}.`,
    )
  return status
}
