/** The options that describe a memory, shared by all commands that write or filter memories. */
import type { z } from 'zod'
import {
  MEMORY_CATEGORIES,
  MEMORY_STATUSES,
  MEMORY_TYPES,
  type MemoryCategory,
  type MemoryStatus,
  type MemoryType,
  TRUST_LEVELS,
  type Trust,
} from '../../../domain/memory.ts'
import { parseJsonObject } from '../../../lib/json.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { type Invocation, type Options, type OptionValues, UsageError } from '../command.ts'
import { parseChoice, parseInteger } from './option-values.ts'
import { parseTime } from './time-format.ts'

export const MEMORY_OPTIONS = {
  key: {
    kind: 'value',
    value: 'name',
    help: 'A unique key; storing with an existing key updates that memory.',
  },
  type: { kind: 'value', value: 'type', help: `One of ${MEMORY_TYPES.join(', ')}.` },
  category: { kind: 'value', value: 'category', help: `One of ${MEMORY_CATEGORIES.join(', ')}.` },
  importance: { kind: 'value', value: 'n', help: 'From 1 to 10.' },
  pin: { kind: 'flag', help: 'Pin it: it does not decay and contradictions do not supersede it.' },
  trust: { kind: 'value', value: 'level', help: `Trust level: ${TRUST_LEVELS.join(', ')}.` },
  expires: { kind: 'value', value: 'when', help: 'Expiry: 30d, 2026-12-01, 2026-12-01T18:00.' },
  'valid-from': { kind: 'value', value: 'when', help: 'Valid from this time.' },
  'valid-until': { kind: 'value', value: 'when', help: 'Valid until this time.' },
  entity: { kind: 'values', value: 'name', help: 'An entity it is about; repeatable.' },
  language: { kind: 'value', value: 'tag', help: 'Language tag, such as en or pt-BR.' },
  metadata: { kind: 'value', value: 'json', help: 'Metadata as a JSON object.' },
} as const satisfies Options

/** The attributes that were passed explicitly. */
export function parseMemoryOptions(call: Invocation<typeof MEMORY_OPTIONS>) {
  const { options: given } = call
  const now = call.host.now()
  const time = (option: 'expires' | 'valid-from' | 'valid-until', direction: 'ahead' | 'back') => {
    const text = given[option]
    return text === undefined ? undefined : parseTime(option, text, now, direction)
  }
  return omitUndefined({
    key: given.key,
    type: typeOf(given.type),
    category: categoryOf(given.category),
    importance:
      given.importance === undefined
        ? undefined
        : parseInteger('importance', given.importance, 1, 10),
    pinned: given.pin ? true : undefined,
    trust: trustOf(given.trust),
    expiresAt: time('expires', 'ahead'),
    validFrom: time('valid-from', 'back'),
    validUntil: time('valid-until', 'ahead'),
    entities: given.entity.length > 0 ? [...given.entity] : undefined,
    language: given.language,
    metadata: given.metadata === undefined ? undefined : parseMetadata(given.metadata),
  })
}

export const FILTER_OPTIONS = {
  type: {
    kind: 'values',
    value: 'type',
    help: `Only this type: ${MEMORY_TYPES.join(', ')}. Repeatable.`,
  },
  category: {
    kind: 'values',
    value: 'category',
    help: `Only this category: ${MEMORY_CATEGORIES.join(', ')}. Repeatable.`,
  },
  status: {
    kind: 'values',
    value: 'status',
    help: `Only this status: ${MEMORY_STATUSES.join(', ')}. Repeatable.`,
  },
  'all-statuses': { kind: 'flag', help: 'All statuses, not only active.' },
  'include-expired': {
    kind: 'flag',
    help: 'Include memories that have expired or are no longer valid.',
  },
  pinned: { kind: 'flag', help: 'Only pinned ones.' },
} as const satisfies Options

export type MemoryFilterInput = {
  readonly status?: MemoryStatus[]
  readonly type?: MemoryType[]
  readonly category?: MemoryCategory[]
  readonly pinned?: true
  readonly includeExpired?: true
}

export function parseFilterOptions(given: OptionValues<typeof FILTER_OPTIONS>): MemoryFilterInput {
  if (given['all-statuses'] && given.status.length > 0) {
    throw new UsageError('--status and --all-statuses cannot be combined.')
  }
  const status = given['all-statuses'] ? [...MEMORY_STATUSES] : given.status.flatMap(statusOf)
  const type = given.type.flatMap((word) => typeOf(word) ?? [])
  const category = given.category.flatMap((word) => categoryOf(word) ?? [])
  return {
    ...(status.length > 0 ? { status } : {}),
    ...(type.length > 0 ? { type } : {}),
    ...(category.length > 0 ? { category } : {}),
    ...(given.pinned ? { pinned: true } : {}),
    ...(given['include-expired'] ? { includeExpired: true } : {}),
  }
}

function typeOf(word: string | undefined): MemoryType | undefined {
  return word === undefined ? undefined : parseChoice('type', word, MEMORY_TYPES)
}

function categoryOf(word: string | undefined): MemoryCategory | undefined {
  return word === undefined ? undefined : parseChoice('category', word, MEMORY_CATEGORIES)
}

function trustOf(word: string | undefined): Trust | undefined {
  return word === undefined ? undefined : parseChoice('trust', word, TRUST_LEVELS)
}

function statusOf(word: string): readonly MemoryStatus[] {
  return [parseChoice('status', word, MEMORY_STATUSES)]
}

function parseMetadata(text: string): { [name: string]: z.core.util.JSONType } {
  const value = parseJsonObject(text)
  if (value !== null) return value as { [name: string]: z.core.util.JSONType } // the same, mutable
  throw new UsageError(
    '--metadata must be a JSON object.',
    `For example: --metadata '{"source": "chat"}'`,
  )
}
