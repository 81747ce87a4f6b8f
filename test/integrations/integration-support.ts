/** Memory of both kinds for integrations: an engine, and a client of a server. */
import { createClient } from '../../src/client/index.ts'
import { createEngine } from '../../src/index.ts'
import { start } from '../api/http/http-support.ts'

export const KINDS = ['an engine', 'a client of a server'] as const

export async function openMemoryOf(kind: (typeof KINDS)[number]) {
  const engine = await createEngine({
    embedding: false,
    settings: { 'server.requestsPerMinute': 0, 'recall.minTopSimilarity': 0 },
  })
  const { url } = await start({ engine })
  const { secret } = await engine.admin.keys.create({
    ...{ name: 'app', defaultOwner: 'default', role: 'agent' },
  })
  const memory = kind === 'an engine' ? engine : createClient({ url, apiKey: secret })
  return { engine, memory }
}

/** What the engine remembers of a user, as text. */
export async function contentsOf(
  engine: Awaited<ReturnType<typeof openMemoryOf>>['engine'],
  user?: string,
): Promise<readonly string[]> {
  const scope = { owner: 'default', ...(user === undefined ? {} : { user }) }
  return (await engine.list(scope)).rows.map(({ content }) => content)
}
