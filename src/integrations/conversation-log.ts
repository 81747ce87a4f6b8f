/** A conversation that a framework hands over piece by piece: kept exactly, and recorded as a whole. */
import { groupExchanges, type SpokenMessage } from './exchanges.ts'
import { createItemLog } from './item-log.ts'
import { type MemoryScope, openMemory } from './memory-access.ts'

/** Adds what was said to the conversation of the session, learns from it, and lets other sessions recall it. */
export async function recordMessages(
  scope: MemoryScope & { readonly session: string },
  source: string,
  messages: readonly SpokenMessage[],
): Promise<void> {
  const said = messages.filter(({ text }) => text !== '')
  if (said.length === 0) return
  const access = openMemory(scope)
  const log = createItemLog<SpokenMessage>(access, source)
  await log.append(said)
  const exchanges = groupExchanges(await log.read())
  if (exchanges.length > 0) await access.ingest(scope.session, exchanges)
}
