/** The audit log: who did what to which memory. It holds ids, never text, and is kept for a configured time. */
import type { AuditEntry } from '../../core/access.ts'
import { parseScope } from '../../core/draft.ts'
import type { Entry } from '../../core/entry.ts'
import type { ApiKeyId, AuditId, Instant } from '../../core/ids.ts'
import type { Page } from '../../ports/store.ts'
import type { EnginePorts } from '../ports.ts'
import { parseCursor, parseLimit } from '../read.ts'
import { putEntry, removeExpired, SYSTEM } from './entries.ts'

export type AuditNote = {
  readonly actor: ApiKeyId | null
  readonly operation: string
  readonly owner: string
  readonly targets: readonly string[]
}

export type AuditQuery = {
  readonly owner?: string
  readonly from?: number
  readonly before?: number
  readonly limit?: number
  readonly after?: string
}

export interface Audit {
  note(note: AuditNote): Promise<void>
  /** Newest first. */
  list(query?: AuditQuery): Promise<Page<AuditEntry>>
}

const LIST_LIMIT = 50
const TARGETS_MAX = 100
const DAY_MS = 86_400_000
/** Old entries are removed with every so many new ones. */
const CLEAN_EVERY = 200

export function createAudit(ports: EnginePorts, days: () => Promise<number>): Audit {
  let noted = 0
  return {
    note: async ({ actor, operation, owner, targets }) => {
      const at = ports.clock.now()
      const kept = await days()
      if (kept === 0) return
      const entry = {
        id: ports.ids.next('aud', at),
        kind: 'audit' as const,
        at,
        about: parseScope({ owner }).owner,
        expiresAt: (at + kept * DAY_MS) as Instant,
        body: {
          actor,
          operation,
          targets: targets.slice(0, TARGETS_MAX),
          targetCount: targets.length,
        },
      }
      await ports.store.commit([putEntry(entry, null).change])
      noted++
      if (noted % CLEAN_EVERY === 0) await removeExpired(ports, ['audit'])
    },
    list: async ({ owner, from, before, limit, after } = {}) => {
      const page = await ports.store.find('entry', SYSTEM, {
        where: {
          kinds: ['audit'],
          ...(owner === undefined ? {} : { about: parseScope({ owner }).owner }),
          ...(from === undefined ? {} : { atFrom: from as Instant }),
          ...(before === undefined ? {} : { atBefore: before as Instant }),
        },
        order: 'newest',
        limit: parseLimit(limit ?? LIST_LIMIT),
        ...(after === undefined ? {} : { after: parseCursor('aud', after) }),
      })
      return { rows: page.rows.map(toAuditEntry), next: page.next }
    },
  }
}

function toAuditEntry({ id, at, about, body }: Entry): AuditEntry {
  return {
    id: id as string as AuditId, // entries of this kind have such ids
    at,
    actor: body.actor as ApiKeyId | null, // as written by `note`, like the rest
    operation: String(body.operation),
    owner: parseScope({ owner: about ?? '' }).owner,
    targets: body.targets as readonly string[],
    targetCount: Number(body.targetCount),
  }
}
