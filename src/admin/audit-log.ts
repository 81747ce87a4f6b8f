/** The audit log: which key performed which operation on which ids. It never holds text; entries expire. */
import type { AuditEntry } from '../domain/access.ts'
import type { Entry } from '../domain/entry.ts'
import type { ApiKeyId, AuditId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { DAY_MS, type Instant } from '../lib/time.ts'
import { parseCursor, parseLimit } from '../storage/access/page-request.ts'
import {
  buildEntryChange,
  removeExpiredEntries,
  SYSTEM_SCOPE,
} from '../storage/access/system-entries.ts'
import type { StoreDependencies } from '../storage/access/types.ts'
import type { Page } from '../storage/store.ts'

export type NewAuditEntry = {
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly owner: string
  readonly targets: readonly string[]
}

export type AuditQuery = {
  readonly owner?: string
  /** A key, or null for local access without one. */
  readonly actor?: string | null
  /** An operation such as `memory.forget`, or a group such as `memory`. */
  readonly operation?: string
  /** The id of a row that the operation changed. */
  readonly target?: string
  readonly from?: number
  readonly before?: number
  readonly limit?: number
  readonly after?: string
}

export interface AuditLog {
  /**
   * Appends an entry, unless the setting `retention.auditDays` is 0.
   *
   * @example
   * await engine.admin.audit.append({
   *   actor: null,
   *   operation: 'memory.erase',
   *   owner: 'ada',
   *   targets: ['mem_01jf8t3z9k'],
   * })
   */
  append(note: NewAuditEntry): Promise<void>
  /**
   * Newest first.
   *
   * @example
   * const page = await engine.admin.audit.list({ owner: 'ada', limit: 50 })
   */
  list(query?: AuditQuery): Promise<Page<AuditEntry>>
}

const LIST_LIMIT = 50
const TARGETS_MAX = 100

/** The number of appended entries between two removals of expired ones. */
const CLEAN_EVERY = 200

export function createAuditLog(
  ports: StoreDependencies,
  getRetentionDays: () => Promise<number>,
): AuditLog {
  let appended = 0
  return {
    append: async ({ actor, operation, owner, targets }) => {
      const at = ports.clock.now()
      const retentionDays = await getRetentionDays()
      if (retentionDays === 0) return
      const entry = {
        id: ports.ids.next('aud', at),
        kind: 'audit' as const,
        at,
        about: parseScope({ owner }).owner,
        expiresAt: (at + retentionDays * DAY_MS) as Instant,
        body: {
          actor,
          operation,
          targets: targets.slice(0, TARGETS_MAX),
          targetCount: targets.length,
        },
      }
      await ports.store.commit([buildEntryChange(entry, null).change])
      appended++
      if (appended % CLEAN_EVERY === 0) await removeExpiredEntries(ports, ['audit'])
    },
    list: async (query = {}) => {
      const { owner, from, before, limit, after } = query
      const where = {
        kinds: ['audit' as const],
        ...(owner === undefined ? {} : { about: parseScope({ owner }).owner }),
        ...(from === undefined ? {} : { atFrom: from as Instant }),
        ...(before === undefined ? {} : { atBefore: before as Instant }),
      }
      const loadPage = async (cursor: string | null, rows: number) => {
        const page = await ports.store.find('entry', SYSTEM_SCOPE, {
          where,
          order: 'newest',
          limit: rows,
          ...(cursor === null ? {} : { after: cursor }),
        })
        return { rows: page.rows.map(toAuditEntry), next: page.next }
      }
      const rowsMax = parseLimit(limit ?? LIST_LIMIT)
      const cursor = after === undefined ? null : parseCursor('aud', after)
      return needsScan(query)
        ? scanForMatches(query, rowsMax, cursor, (from) => loadPage(from, SCAN_ROWS))
        : loadPage(cursor, rowsMax)
    },
  }
}

const SCAN_ROWS = 500

/** A page ends early after this many scanned rows; `next` continues from there. */
const SCANNED_ROWS_MAX = 10_000

function needsScan({ actor, operation, target }: AuditQuery): boolean {
  return actor !== undefined || operation !== undefined || target !== undefined
}

/** Stores filter by owner and time only; the other fields are compared here, row by row. */
async function scanForMatches(
  query: AuditQuery,
  rowsMax: number,
  after: string | null,
  loadPage: (cursor: string | null) => Promise<Page<AuditEntry>>,
): Promise<Page<AuditEntry>> {
  const matches: AuditEntry[] = []
  let cursor = after
  for (let scanned = 0; scanned < SCANNED_ROWS_MAX; scanned += SCAN_ROWS) {
    const { rows, next } = await loadPage(cursor)
    for (const [index, entry] of rows.entries()) {
      if (!matchesQuery(entry, query)) continue
      matches.push(entry)
      const isLast = next === null && index === rows.length - 1
      if (matches.length === rowsMax) return { rows: matches, next: isLast ? null : entry.id }
    }
    if (next === null) return { rows: matches, next: null }
    cursor = next
  }
  return { rows: matches, next: cursor }
}

function matchesQuery(entry: AuditEntry, { actor, operation, target }: AuditQuery): boolean {
  return (
    (actor === undefined || entry.actor === actor) &&
    (operation === undefined ||
      entry.operation === operation ||
      entry.operation.startsWith(`${operation}.`)) &&
    (target === undefined || entry.targets.includes(target))
  )
}

function toAuditEntry({ id, at, about, body }: Entry): AuditEntry {
  return {
    id: id as string as AuditId, // the id of an `audit` entry
    at,
    actor: body.actor as ApiKeyId | null, // this and `targets` were written by `append`
    operation: String(body.operation),
    owner: parseScope({ owner: about ?? '' }).owner,
    targets: body.targets as readonly string[],
    targetCount: Number(body.targetCount),
  }
}
