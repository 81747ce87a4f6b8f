/**
 * The owner of each response that a provider stores. Under the server's shared account, anybody who knows an id could
 * read the response, so its owner is recorded: as a system entry, because other owners look it up.
 */
import type { OwnerId } from '../../domain/ids.ts'
import { hashParts } from '../../lib/hash.ts'
import { addMs } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { buildEntryChange, getSystemEntry } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import type { ResponseOwner } from '../conversations.ts'
import { type Conversation, LINK_TTL_MS } from './session-resolver.ts'

export async function getResponseOwner(
  ports: MemoryDependencies,
  owner: OwnerId,
  response: string,
): Promise<ResponseOwner> {
  const entry = await getSystemEntry(ports, 'response-owner', buildResponseId(response))
  if (entry === null || (entry.expiresAt ?? 0) <= ports.clock.now()) return 'unknown'
  return entry.body.ownerHash === hashParts(owner) ? 'own' : 'foreign'
}

/** Changes nothing if the response has an owner: the first one counts. */
export async function claimResponse(
  ports: MemoryDependencies,
  { owner, at }: Pick<Conversation, 'owner' | 'at'>,
  response: string,
): Promise<readonly Change[]> {
  const id = buildResponseId(response)
  if ((await getSystemEntry(ports, 'response-owner', id)) !== null) return []
  const expiresAt = addMs(at, LINK_TTL_MS)
  const body = { ownerHash: hashParts(owner) }
  return [buildEntryChange({ id, kind: 'response-owner', at, expiresAt, body }, null).change]
}

/** Binds ids to an owner, as far as they have none. */
export async function claimProviderIds(
  ports: MemoryDependencies,
  owner: OwnerId,
  ids: readonly string[],
): Promise<void> {
  const at = ports.clock.now()
  for (let start = 0; start < ids.length; start += IDS_PER_COMMIT) {
    const some = ids.slice(start, start + IDS_PER_COMMIT)
    const claims = await Promise.all(some.map((id) => claimResponse(ports, { owner, at }, id)))
    // A concurrent claim is the first one, and the whole batch of its rows is written by its server.
    if (claims.flat().length > 0) await ports.store.commit(claims.flat())
  }
}

const IDS_PER_COMMIT = 100

function buildResponseId(response: string): string {
  return `thr_${hashParts('response', response)}`
}
