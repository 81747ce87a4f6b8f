/** Memories of all owners, for superadmins. No other operation crosses owners. */
import { z } from 'zod'
import { QUERY_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { Memory } from '../../../domain/memory.ts'
import { compareText } from '../../../lib/compare.ts'
import { AppError } from '../../../lib/errors.ts'
import { parseJson } from '../../../lib/json.ts'
import { MEMORY_ORDERS } from '../../../storage/store.ts'
import { toWireMemory, wireMemory } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { filterFields, toFilter } from './memory-list-operations.ts'

const LIMIT = 50
const LIMIT_MAX = 200

/** Many of them may have no memory that passes a filter. */
const OWNERS_PER_PAGE = 500
const CURSOR_CHARACTERS_MAX = 2_000

/** The cursor: the next owner, and the position within it; empty for the first. */
type Position = { readonly owner: string; readonly after: string }

export const listAllOwners = defineOperation({
  name: 'owner.memories',
  summary: 'Lists memories of all owners, ordered by owner.',
  access: 'manage',
  input: z.strictObject({
    ...filterFields,
    q: z.string().max(QUERY_CHARACTERS_MAX).optional().describe('Substring of content or key.'),
    order: z.enum(MEMORY_ORDERS).optional().describe('Order within each owner. Default: newest.'),
    limit: z.int().min(1).max(LIMIT_MAX).default(LIMIT),
    after: z
      .string()
      .max(CURSOR_CHARACTERS_MAX)
      .optional()
      .describe('The `next` cursor of the previous page.'),
  }),
  output: z.object({
    data: z.array(wireMemory).describe('May be empty although there is a next page.'),
    next: z.string().nullable(),
    owners: z.int().describe('Number of owners with memories, regardless of filters.'),
  }),
  http: { method: 'GET', path: '/api/owners/memories' },
  run: async (context, { q, order, limit, after, ...input }) => {
    const query = {
      ...toFilter(input),
      ...(q === undefined ? {} : { contains: q }),
      ...(order === undefined ? {} : { order }),
    }
    const owners = await ownersWithMemories(context)
    const start = after === undefined ? null : parsePosition(after)
    const left = owners.filter((owner) => start === null || compareText(owner, start.owner) >= 0)
    const found: Memory[] = []
    const pageAt = (position: Position | null) => ({
      data: found.map(toWireMemory),
      next: position === null ? null : JSON.stringify([position.owner, position.after]),
      owners: owners.length,
    })
    for (const [index, owner] of left.entries()) {
      if (found.length === limit || index === OWNERS_PER_PAGE) return pageAt({ owner, after: '' })
      const behind = start?.owner === owner && start.after !== '' ? { after: start.after } : {}
      const room = { limit: limit - found.length, ...behind }
      const page = await context.engine.list({ owner }, { ...query, ...room })
      found.push(...page.rows)
      if (page.next !== null) return pageAt({ owner, after: page.next })
    }
    return pageAt(null)
  },
})

async function ownersWithMemories({ engine }: OperationContext): Promise<readonly string[]> {
  const places = (await engine.admin.listPlaces()).filter(({ memories }) => memories > 0)
  return [...new Set(places.map(({ owner }) => owner))].sort(compareText)
}

function parsePosition(cursor: string): Position {
  const position = z.tuple([z.string(), z.string()]).safeParse(parseJson(cursor))
  if (!position.success) {
    throw new AppError('invalid_input', '`after` must be the `next` cursor of the previous page.', {
      field: 'after',
    })
  }
  const [owner, after] = position.data
  return { owner, after }
}
