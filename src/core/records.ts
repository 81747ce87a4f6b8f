/**
 * Whole rows as they come out of an export, checked before they go back in. An export may have been edited by
 * hand or made by someone else, so every field is looked at.
 */
import { parseEdit, parseProvenance, parseScope } from './draft.ts'
import { AppError } from './errors.ts'
import { type Instant, type Place, parseId } from './ids.ts'
import { MEMORY_STATUSES, type Memory, type Revision, type Tombstone } from './memory.ts'

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

function whole(field: string, value: unknown, min: number): number {
  if (!Number.isSafeInteger(value) || Number(value) < min) {
    throw invalid(field, `${field} is a whole number, at least ${min}.`)
  }
  return Number(value)
}

function instant(field: string, value: unknown): Instant {
  if (!Number.isSafeInteger(value)) {
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
