/** Parses drafts: input that a caller wants to store or change, checked against every limit. */

import {
  createInvalidInputError,
  instant,
  object,
  parseBoundedText,
} from '../domain/field-parsers.ts'
import type { TurnId } from '../domain/ids.ts'
import * as limits from '../domain/limits.ts'
import {
  MEMORY_CATEGORIES,
  MEMORY_TYPES,
  type MemoryCategory,
  type MemoryType,
  type Provenance,
  TRUST_LEVELS,
  type Trust,
} from '../domain/memory.ts'
import type { Json, JsonObject } from '../lib/json.ts'
import type { Instant } from '../lib/time.ts'

export const IMPORTANCE_DEFAULT = 5

export const SALIENCE_DEFAULT = 0.5

/** Input for a memory. All fields except the content have defaults. */
export type DraftInput = {
  readonly content: string
  readonly key?: string | null
  readonly type?: MemoryType
  readonly category?: MemoryCategory
  readonly importance?: number
  readonly salience?: number
  readonly pinned?: boolean
  readonly trust?: Trust
  readonly validFrom?: number | null
  readonly validUntil?: number | null
  readonly expiresAt?: number | null
  readonly provenance?: Partial<Provenance>
  readonly entities?: readonly string[]
  readonly language?: string | null
  readonly metadata?: JsonObject
  /** When the statement was made; default: now. A memory forgotten since then is not stored again. */
  readonly observedAt?: number
}

/** Fields that an edit may change. */
export type EditInput = Omit<DraftInput, 'content' | 'provenance' | 'observedAt'> & {
  readonly content?: string
}

export type Draft = {
  readonly content: string
  readonly key: string | null
  readonly observedAt: Instant
  /** Whether the caller gave `observedAt`. */
  readonly hasObservedAt: boolean
  readonly trust: Trust
  readonly provenance: Provenance
  /** The given fields only, so that an update keeps the others. */
  readonly fields: Edit
}

export type Edit = {
  readonly content?: string
  readonly key?: string | null
  readonly type?: MemoryType
  readonly category?: MemoryCategory
  readonly importance?: number
  readonly salience?: number
  readonly pinned?: boolean
  readonly trust?: Trust
  readonly validFrom?: Instant | null
  readonly validUntil?: Instant | null
  readonly expiresAt?: Instant | null
  readonly entities?: readonly string[]
  readonly language?: string | null
  readonly metadata?: JsonObject
}

export function parseDraft(input: DraftInput, now: Instant): Draft {
  const { provenance, observedAt, ...rest } = input
  const fields = parseEdit(rest)
  if (fields.content === undefined) {
    throw createInvalidInputError('content', '`content` is required.')
  }
  return {
    content: fields.content,
    key: fields.key ?? null,
    observedAt: observedAt === undefined ? now : instant('observedAt', observedAt),
    hasObservedAt: observedAt !== undefined,
    trust: fields.trust ?? 'user',
    provenance: parseProvenance(provenance ?? {}),
    fields,
  }
}

export function parseEdit(input: EditInput): Edit {
  for (const field of Object.keys(input)) {
    if (!Object.hasOwn(EDIT_PARSERS, field)) {
      throw createInvalidInputError(field, `A memory has no editable field "${field}".`)
    }
  }
  const edit: { [field: string]: unknown } = {}
  for (const [field, parse] of Object.entries(EDIT_PARSERS)) {
    const value: unknown = input[field as keyof EditInput] // the table's keys are the type's
    if (value !== undefined) edit[field] = parse(value)
  }
  const { validFrom, validUntil } = edit as Edit // each field was parsed by its own parser
  if (validFrom != null && validUntil != null && validUntil < validFrom) {
    throw createInvalidInputError(
      'validUntil',
      '`validUntil` must not be earlier than `validFrom`.',
    )
  }
  return edit as Edit // see above
}

const EDIT_PARSERS: { readonly [Field in keyof Required<Edit>]: (value: unknown) => unknown } = {
  content: parseContent,
  key: parseNullable((value) => parseBoundedText('key', value, limits.KEY_CHARACTERS_MAX)),
  type: (value) => parseChoice('type', value, MEMORY_TYPES),
  category: (value) => parseChoice('category', value, MEMORY_CATEGORIES),
  importance: (value) => parseNumberInRange('importance', value, 1, 10, 'integer'),
  salience: (value) => parseNumberInRange('salience', value, 0, 1),
  pinned: (value) => {
    if (typeof value !== 'boolean')
      throw createInvalidInputError('pinned', '`pinned` must be true or false.')
    return value
  },
  trust: (value) => parseChoice('trust', value, TRUST_LEVELS),
  validFrom: parseNullable((value) => instant('validFrom', value)),
  validUntil: parseNullable((value) => instant('validUntil', value)),
  expiresAt: parseNullable((value) => instant('expiresAt', value)),
  entities: (value) =>
    parseWordList('entities', value, limits.ENTITIES_MAX, limits.ENTITY_CHARACTERS_MAX),
  language: parseNullable((value) =>
    parseBoundedText('language', value, limits.LANGUAGE_CHARACTERS_MAX),
  ),
  metadata: parseMetadata,
}

export function parseProvenance(input: Partial<Provenance>): Provenance {
  const word = (field: string, value: unknown) =>
    parseBoundedText(field, value, limits.PROVENANCE_WORD_CHARACTERS_MAX)
  const turns = parseWordList('turns', input.turns ?? [], limits.PROVENANCE_TURNS_MAX, 100)
  return {
    source: word('source', input.source ?? 'library'),
    speaker: input.speaker == null ? null : word('speaker', input.speaker),
    turns: turns as readonly string[] as readonly TurnId[], // turn ids are not checked here
    extractor: input.extractor == null ? null : word('extractor', input.extractor),
    extractorVersion:
      input.extractorVersion == null ? null : word('extractorVersion', input.extractorVersion),
  }
}

function parseContent(value: unknown): string {
  if (typeof value === 'string' && value.trim() === '') {
    throw createInvalidInputError('content', '`content` must not be blank.')
  }
  return parseBoundedText('content', value, limits.CONTENT_CHARACTERS_MAX)
}

function parseMetadata(value: unknown): JsonObject {
  const json = toJson(object('metadata', value), limits.METADATA_DEPTH_MAX)
  const length = JSON.stringify(json).length
  if (length > limits.METADATA_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'metadata',
      `\`metadata\` must have at most ${limits.METADATA_CHARACTERS_MAX} characters as JSON; got ${length}.`,
    )
  }
  return json as JsonObject // an object stays an object
}

/** Copies JSON and rejects everything else, because stored values must be read back equal. */
function toJson(value: unknown, depth: number): Json {
  if (depth < 0) {
    throw createInvalidInputError(
      'metadata',
      `\`metadata\` must have at most ${limits.METADATA_DEPTH_MAX} levels.`,
    )
  }
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value
  if (typeof value === 'number' && Number.isFinite(value)) return Object.is(value, -0) ? 0 : value
  if (Array.isArray(value)) return value.map((item) => toJson(item, depth - 1))
  if (typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, toJson(item, depth - 1)]),
    )
  }
  throw createInvalidInputError('metadata', `\`metadata\` must be JSON; got a ${typeof value}.`)
}

function parseWordList(field: string, value: unknown, countMax: number, charactersMax: number) {
  if (!Array.isArray(value) || value.length > countMax) {
    throw createInvalidInputError(
      field,
      `\`${field}\` must be a list of at most ${countMax} strings.`,
    )
  }
  return value.map((word) => parseBoundedText(field, word, charactersMax))
}

function parseChoice<Value extends string>(
  field: string,
  value: unknown,
  values: readonly Value[],
) {
  const choice = values.find((candidate) => candidate === value)
  if (choice === undefined) {
    throw createInvalidInputError(
      field,
      `\`${field}\` must be one of ${values.join(', ')}; got "${String(value)}".`,
    )
  }
  return choice
}

function parseNumberInRange(
  field: string,
  value: unknown,
  min: number,
  max: number,
  kind: 'integer' | 'number' = 'number',
) {
  const isInRange = typeof value === 'number' && value >= min && value <= max
  if (!isInRange || (kind === 'integer' && !Number.isInteger(value))) {
    throw createInvalidInputError(
      field,
      `\`${field}\` must be ${kind === 'integer' ? 'an integer' : 'a number'} from ${min} to ${max}; got ${String(value)}.`,
    )
  }
  return value
}

function parseNullable(parse: (value: unknown) => unknown) {
  return (value: unknown) => (value === null ? null : parse(value))
}
