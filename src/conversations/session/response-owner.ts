/**
 * Whose the answers are that providers keep. Under one account of ours their ids would open them to everybody, so it is
 * noted for whom each was made: in a place of its own, as it is asked by those whom it doesn't belong to.
 */
import type { OwnerId } from '../../domain/ids.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import { hashOf } from '../../lib/parts-hash.ts'
import type { Instant } from '../../lib/time.ts'
import { getEntry, putEntry } from '../../storage/access/system-entries.ts'
import type { Change } from '../../storage/store.ts'
import type { ResponseOwner } from '../conversations.ts'
import { type Conversation, KEPT_MS } from './session-resolver.ts'

export async function responseOwner(
  ports: EnginePorts,
  owner: OwnerId,
  response: string,
): Promise<ResponseOwner> {
  const entry = await getEntry(ports, idOf(response))
  if (entry === null || (entry.expiresAt ?? 0) <= ports.clock.now()) return 'unknown'
  return entry.body.owner === hashOf(owner) ? 'own' : 'foreign'
}

/** Nothing to change where it is somebody's already: the first one it was made for is the one it belongs to. */
export async function claimResponse(
  ports: EnginePorts,
  { owner, at }: Conversation,
  response: string,
): Promise<readonly Change[]> {
  const id = idOf(response)
  if ((await getEntry(ports, id)) !== null) return []
  const expiresAt = (at + KEPT_MS) as Instant
  const body = { owner: hashOf(owner) }
  return [putEntry({ id, kind: 'thread', at, expiresAt, body }, null).change]
}

function idOf(response: string): string {
  return `thr_${hashOf('response', response)}`
}
