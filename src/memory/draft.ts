/**
 * Drafts: what a caller asks to be remembered or changed, checked against every limit. Nothing unchecked gets
 * past this file.
 */

import {
  createInvalidInputError,
  parseBoolean,
  parseBoundedText,
  parseChoice,
  parseInstant,
  parseInteger,
  parseNullable,
  parseNumber,
  parseObject,
  parseTextList,
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

/** What may be said about a memory. Everything but the content has a default. */
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
  /** When it was said, if not just now. What was forgotten since then is not brought back. */
  readonly observedAt?: number
}

/** What may be changed by hand. */
export type EditInput = Omit<DraftInput, 'content' | 'provenance' | 'observedAt'> & {
  readonly content?: string
}

export type Draft = {
  readonly content: string
  readonly key: string | null
  readonly observedAt: Instant
  /** Whether the caller said when it was observed; otherwise it was just now. */
  readonly hasObservedAt: boolean
  readonly trust: Trust
  readonly provenance: Provenance
  /** Only what the caller said, so that an update leaves the rest as it was. */
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
  const given = parseEdit(rest)
  if (given.content === undefined)
    throw createInvalidInputError('content', '`content` is required.')
  return {
    content: given.content,
    key: given.key ?? null,
    observedAt: observedAt === undefined ? now : parseInstant('observedAt', observedAt),
    hasObservedAt: observedAt !== undefined,
    trust: given.trust ?? 'user',
    provenance: parseProvenance(provenance ?? {}),
    fields: given,
  }
}

export function parseEdit(input: EditInput): Edit {
  for (const field of Object.keys(input)) {
    if (!Object.hasOwn(EDIT_PARSERS, field)) {
      throw createInvalidInputError(field, `A memory has no field "${field}" that can be set.`)
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
  return edit as Edit // as above
}

const EDIT_PARSERS: { readonly [Field in keyof Required<Edit>]: (value: unknown) => unknown } = {
  content: parseContent,
  key: (value) =>
    parseNullable(value, (each) => parseBoundedText('key', each, limits.KEY_CHARACTERS_MAX)),
  type: (value) => parseChoice('type', value, MEMORY_TYPES),
  category: (value) => parseChoice('category', value, MEMORY_CATEGORIES),
  importance: (value) => parseInteger('importance', value, 1, 10),
  salience: (value) => parseNumber('salience', value, 0, 1),
  pinned: (value) => parseBoolean('pinned', value),
  trust: (value) => parseChoice('trust', value, TRUST_LEVELS),
  validFrom: (value) => parseNullable(value, (each) => parseInstant('validFrom', each)),
  validUntil: (value) => parseNullable(value, (each) => parseInstant('validUntil', each)),
  expiresAt: (value) => parseNullable(value, (each) => parseInstant('expiresAt', each)),
  entities: (value) =>
    parseTextList('entities', value, limits.ENTITIES_MAX, limits.ENTITY_CHARACTERS_MAX),
  language: (value) =>
    parseNullable(value, (each) =>
      parseBoundedText('language', each, limits.LANGUAGE_CHARACTERS_MAX),
    ),
  metadata: parseMetadata,
}

export function parseProvenance(input: Partial<Provenance>): Provenance {
  const word = (field: string, value: unknown) =>
    parseBoundedText(field, value, limits.PROVENANCE_WORD_CHARACTERS_MAX)
  const turns = parseTextList('turns', input.turns ?? [], limits.PROVENANCE_TURNS_MAX, 100)
  return {
    source: word('source', input.source ?? 'library'),
    speaker: input.speaker == null ? null : word('speaker', input.speaker),
    turns: turns as readonly string[] as readonly TurnId[], // ids of turns are opaque here
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
  const json = toJson(parseObject('metadata', value), limits.METADATA_DEPTH_MAX)
  const length = JSON.stringify(json).length
  if (length > limits.METADATA_CHARACTERS_MAX) {
    throw createInvalidInputError(
      'metadata',
      `\`metadata\` must have at most ${limits.METADATA_CHARACTERS_MAX} characters as JSON; got ${length}.`,
    )
  }
  return json as JsonObject // an object stays an object
}

/** Copies plain JSON and refuses everything else: what is stored must come back equal. */
function toJson(value: unknown, depth: number): Json {
  if (depth < 0) {
    throw createInvalidInputError(
      'metadata',
      `\`metadata\` must be nested at most ${limits.METADATA_DEPTH_MAX} levels deep.`,
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
  throw createInvalidInputError(
    'metadata',
    `\`metadata\` must be plain JSON; got a ${typeof value}.`,
  )
}
