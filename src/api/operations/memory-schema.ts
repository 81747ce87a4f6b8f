/**
 * The wire format of memories: every field, ISO times, and the aliases of other systems
 * (`apiKeyId`, `sessionId`, `accessCount`).
 */
import { z } from 'zod'
import {
  MEMORY_CATEGORIES,
  MEMORY_STATUSES,
  MEMORY_TYPES,
  type Memory,
  TRUST_LEVELS,
} from '../../domain/memory.ts'
import { AUTHORS } from '../../learning/statement-trust.ts'
import type { HistoryEntry } from '../../memory/memory-reader.ts'
import { authorOfMemory } from './authorship.ts'

/** Input times: ISO text with or without a time of day, or epoch milliseconds. */
export const timeField = z
  .union([z.string().max(40), z.int()])
  .transform((value, context) => {
    const ms = typeof value === 'number' ? value : isoMs(value)
    if (Number.isInteger(ms) && Math.abs(ms) <= INSTANT_MAX) return ms
    context.addIssue({ code: 'custom', message: 'must be a date such as 2026-05-01T12:00:00Z.' })
    return z.NEVER
  })
  .describe('ISO 8601 text or epoch milliseconds.')
const INSTANT_MAX = 8_640_000_000_000_000

function isoMs(text: string): number {
  return /^[+-]?\d{4,6}-\d{2}(-\d{2})?/.test(text) ? Date.parse(text) : Number.NaN
}

const time = z.string().describe('ISO 8601')
const nullableTime = time.nullable()

/** A query parameter with a single value may hold a comma-separated list. */
export function listField<Item extends z.ZodType>(item: Item) {
  return z.union([z.array(item).max(LIST_MAX), item.transform((only) => [only])])
}
const LIST_MAX = 1_000

export const memoryTypeSchema = z.enum(MEMORY_TYPES)

export const memoryCategorySchema = z.enum(MEMORY_CATEGORIES)

export const memoryStatusSchema = z.enum(MEMORY_STATUSES)

export const metadataSchema = z.record(z.string(), z.json())

/** For operations that make several changes. */
export const changesSchema = z
  .array(z.string())
  .describe('All changes in order; each can be undone.')

export const wireMemory = z
  .object({
    id: z.string(),
    owner: z.string(),
    apiKeyId: z.string().describe('Alias of `owner`.'),
    user: z.string().nullable(),
    sessionId: z.string().describe('Empty without a session.'),
    key: z.string().nullable(),
    content: z.string(),
    type: memoryTypeSchema,
    category: memoryCategorySchema,
    importance: z.int(),
    salience: z.number(),
    pinned: z.boolean(),
    trust: z.enum(TRUST_LEVELS),
    author: z
      .enum(AUTHORS)
      .describe('Whose words they are. A model’s never replace what a person stated.'),
    needsReview: z
      .boolean()
      .describe('Looks like an instruction: not recalled until a person approves it.'),
    status: memoryStatusSchema,
    validFrom: nullableTime,
    validUntil: nullableTime,
    supersededBy: z.string().nullable(),
    conflictsWith: z.string().nullable(),
    expiresAt: nullableTime,
    provenance: z.object({
      source: z.string(),
      speaker: z.string().nullable(),
      turns: z.array(z.string()),
      extractor: z.string().nullable(),
      extractorVersion: z.string().nullable(),
    }),
    entities: z.array(z.string()),
    language: z.string().nullable(),
    metadata: metadataSchema,
    sourceCount: z.int(),
    accessCount: z.int(),
    lastAccessedAt: nullableTime,
    version: z.int(),
    change: z.string(),
    createdAt: time,
    updatedAt: time,
  })
  .meta({ id: 'Memory' })

export type WireMemory = z.output<typeof wireMemory>

/** Field by field: spreading and omitting fields takes several times as long on lists. */
export function toWireMemory(memory: Memory): WireMemory {
  const { place, provenance } = memory
  return {
    id: memory.id,
    owner: place.owner,
    apiKeyId: place.owner,
    user: place.user,
    sessionId: place.session ?? '',
    key: memory.key,
    content: memory.content,
    type: memory.type,
    category: memory.category,
    importance: memory.importance,
    salience: memory.salience,
    pinned: memory.pinned,
    trust: memory.trust,
    author: authorOfMemory(memory),
    needsReview: memory.trust === 'suspect',
    status: memory.status,
    validFrom: isoTime(memory.validFrom),
    validUntil: isoTime(memory.validUntil),
    supersededBy: memory.supersededBy,
    conflictsWith: memory.conflictsWith,
    expiresAt: isoTime(memory.expiresAt),
    provenance: {
      source: provenance.source,
      speaker: provenance.speaker,
      turns: [...provenance.turns],
      extractor: provenance.extractor,
      extractorVersion: provenance.extractorVersion,
    },
    entities: [...memory.entities],
    language: memory.language,
    metadata: memory.metadata as z.output<typeof metadataSchema>, // JSON it is, only read-only here
    sourceCount: memory.sourceCount,
    accessCount: memory.useCount,
    lastAccessedAt: isoTime(memory.lastUsedAt),
    version: memory.version,
    change: memory.change,
    createdAt: isoTime(memory.createdAt),
    updatedAt: isoTime(memory.updatedAt),
  }
}

export const wireVersion = z.object({
  memory: wireMemory,
  replacedAt: nullableTime.describe('Null for the current version.'),
})

export function toWireVersion({ memory, replacedAt }: HistoryEntry) {
  return { memory: toWireMemory(memory), replacedAt: isoTime(replacedAt) }
}

export function isoTime(at: number): string

export function isoTime(at: number | null): string | null

export function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

const SNIPPET_CHARACTERS = 200

export function toSnippet(content: string): string {
  const line = content.replaceAll(/\s+/gu, ' ').trim()
  const characters = [...line]
  return characters.length <= SNIPPET_CHARACTERS
    ? line
    : `${characters.slice(0, SNIPPET_CHARACTERS - 1).join('')}…`
}
