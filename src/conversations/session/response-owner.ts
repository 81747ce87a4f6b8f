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
  const entry = await getSystemEntry(ports, buildResponseId(response))
  if (entry === null || (entry.expiresAt ?? 0) <= ports.clock.now()) return 'unknown'
  return entry.body.owner === hashParts(owner) ? 'own' : 'foreign'
}

/** Changes nothing if the response has an owner: the first one counts. */
export async function claimResponse(
  ports: MemoryDependencies,
  { owner, at }: Conversation,
  response: string,
): Promise<readonly Change[]> {
  const id = buildResponseId(response)
  if ((await getSystemEntry(ports, id)) !== null) return []
  const expiresAt = addMs(at, LINK_TTL_MS)
  const body = { owner: hashParts(owner) }
  return [buildEntryChange({ id, kind: 'thread', at, expiresAt, body }, null).change]
}

function buildResponseId(response: string): string {
  return `thr_${hashParts('response', response)}`
}
