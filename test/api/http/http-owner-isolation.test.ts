/** A key never reaches beyond its owners, whatever it sends. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fieldTypesOf } from '../../../src/api/http/messages/request-input.ts'
import { hasAccess } from '../../../src/api/operations/authorization.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import type { Operation } from '../../../src/api/operations/operation.ts'
import { ROLES, type Role } from '../../../src/domain/access.ts'
import { parseScope } from '../../../src/domain/scope.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { folderWith } from '../../files/file-support.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { type Answer, type Client, keyFor, start } from './http-support.ts'

/** Stands in everything that the victim has, and nowhere else. */
const MARK = 'xylophone'
const VICTIM = 'victim'
const ATTACKER = 'attacker'
const SESSION = 's-2'

async function scene() {
  const { engine, client } = await start({}, { files: { path: temporaryFile('files.db') } })
  const scope = { owner: VICTIM, user: 'vera', session: 's-1' }
  const { memory } = await engine.remember(scope, {
    content: `My ${MARK} is red`,
    key: 'instrument',
  })
  for (let number = 0; number < 5; number++) {
    await engine.remember({ owner: VICTIM }, { content: `${MARK} lesson number ${number}` })
  }
  const turns = [{ user: `When is the ${MARK} lesson?` }]
  await engine.learning.ingest({
    owner: VICTIM,
    conversation: SESSION,
    turns,
    skipExtraction: true,
  })
  const said = await engine.conversations.turns.list({ owner: VICTIM, session: SESSION })
  const digest = { content: `${MARK} lessons began.`, category: 'episode' } as const
  const { memory: episode } = await engine.remember({ owner: VICTIM, session: SESSION }, digest)
  const identity = await engine.learning.identity.add(
    { owner: VICTIM },
    { content: `I play the ${MARK}.` },
  )
  const workspace = folderWith({ 'MEMORY.md': `The ${MARK} is red.\n` })
  const named = parseScope({ owner: VICTIM }).owner
  const root = await engine.files?.roots.add(named, { kind: 'workspace', path: workspace })
  await engine.files?.sync(named)
  await engine.remember({ owner: ATTACKER }, { content: 'Nothing to see here' })
  const cursor = (await engine.list({ owner: VICTIM }, { limit: 2 })).next ?? ''
  const { key } = await engine.admin.keys.create({ name: MARK, defaultOwner: VICTIM })
  const secrets = Object.fromEntries(
    await Promise.all(ROLES.map(async (role) => [role, await keyFor(engine, role, ATTACKER)])),
  ) as Record<Role, string> // one for each
  const stolen = {
    ...{ id: memory.id, change: memory.change, cursor, key: key.id, session: SESSION },
    ...{ turn: said.rows[0]?.id ?? '', episode: episode.id, identity: identity.memory.id },
    files: root?.id ?? '',
  }
  return { engine, client, secrets, stolen, before: await everything(engine, VICTIM) }
}

async function everything(engine: Engine, owner: string): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of engine.admin.export({ owner })) lines.push(line)
  return lines.slice(1)
}

type Stolen = Awaited<ReturnType<typeof scene>>['stolen']

/** Words of the victim's. One that tells its question back is asked without the mark, which would be no wonder there. */
function askedBy({ name }: Operation, words: string): string {
  return name === 'memory.previewContext' ? 'is the lesson number red?' : words
}

/** What makes each operation do something, said about things of one's own. */
function harmless(operation: Operation): { [field: string]: unknown } {
  const fields: { [field: string]: unknown } = {
    content: 'mine',
    query: askedBy(operation, MARK),
    text: 'My name is Eve',
    instanceId: ATTACKER,
    name: 'mine',
    home: ATTACKER,
    change: 'chg_none',
    id: 'mem_none',
    keep: 'mem_none',
    drop: 'mem_other',
    all: true,
    importance: 5,
    conversation_id: 'mine',
    turns: [],
    prompt: MARK,
    messages: [],
    scope: 'transcript',
    path: '/memories/mine.md',
    root: 'root_none',
    command: 'view',
  }
  const known = fieldTypesOf(operation)
  const required = new Set(requiredFields(operation))
  const wanted = Object.entries(fields).filter(
    ([name]) => required.has(name) || (name === 'all' && known.has('all')),
  )
  if (operation.name.startsWith('turn.')) wanted.push(['id', 'turn_none'])
  if (operation.name === 'memory.bulk') wanted.push(['action', 'restore'])
  if (operation.name === 'memory.merge') wanted.push(['ids', ['mem_none', 'mem_other']])
  if (operation.name === 'episode.edit') wanted.push(['salience', 0.5])
  if (operation.name === 'memory.update') wanted.push(['importance', 5])
  if (operation.name === 'memory.forgetMatching') wanted.push(['query', MARK])
  if (operation.name === 'settings.change') wanted.push(['recall.limit', 3])
  return Object.fromEntries(wanted)
}

function requiredFields(operation: Operation): readonly string[] {
  return Object.entries(operation.input.shape)
    .filter(([, schema]) => !schema.safeParse(undefined).success)
    .map(([name]) => name)
}

/** Fields of somebody else, each under the names that operations take it by. */
function theft(operation: Operation, stolen: Stolen): { readonly [field: string]: unknown } {
  const about = operation.name.split('.')[0] ?? ''
  const all = {
    owner: VICTIM,
    apiKeyId: VICTIM,
    instanceId: VICTIM,
    agent_id: VICTIM,
    user: 'vera',
    sessionId: 's-1',
    id: Object.entries(stolen).find(([kind]) => kind === about)?.[1] ?? stolen.id,
    ids: [stolen.id],
    keep: stolen.id,
    drop: stolen.episode,
    change: stolen.change,
    after: stolen.cursor,
    query: askedBy(operation, `${MARK} is red`),
    q: MARK,
    key: 'instrument',
    // Where a layer is named instead, there is no wider one.
    ...(operation.name === 'memory.searchLayer' ? {} : { scope: 'global' }),
    allOwners: true,
    level: 'system',
    ...(about === 'files' ? { path: 'MEMORY.md', root: stolen.files } : {}),
  }
  const known = fieldTypesOf(operation)
  return Object.fromEntries(Object.entries(all).filter(([name]) => known.has(name)))
}

async function send(
  client: Client,
  operation: Operation,
  key: string,
  fields: { readonly [field: string]: unknown },
): Promise<Answer> {
  const { method, path, stream } = operation.http
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(fields[name] ?? 'mem_none'),
  )
  const rest = Object.entries(fields).filter(([name]) => !path.includes(`{${name}}`))
  const query = rest
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join('&')
  if (stream === 'in') {
    const headers = { 'content-type': 'application/x-ndjson' }
    return client.call(method, `${address}?${query}`, { key, raw: '{}\n', headers })
  }
  if (stream === 'upload') return client.call(method, `${address}?${query}`, { key, raw: '[]' })
  if (method === 'GET') return client.call(method, `${address}?${query}`, { key })
  return client.call(method, address, { key, body: Object.fromEntries(rest) })
}

/** Refusals that depend on the role alone: asking for everybody's data, or for the system's settings. */
const asksForAll = (fields: { readonly [field: string]: unknown }) =>
  fields.allOwners === true || fields.level === 'system'

const OTHERS = ROLES.filter((role) => role !== 'superadmin')

/** Names of owners, and ids: what is somebody else's must look as if it were not there. */
const NAMING = ['owner', 'apiKeyId', 'instanceId', 'agent_id']

it('[HT40] a role that does not cover an operation is forbidden it, and no other is', async () => {
  const { client, secrets } = await scene()
  for (const operation of OPERATIONS) {
    for (const role of OTHERS) {
      const { status } = await send(client, operation, secrets[role], harmless(operation))
      expect([operation.name, role, status === 403]).toEqual([
        operation.name,
        role,
        !hasAccess({ key: null, role, home: '', actsFor: [] }, operation.access),
      ])
    }
  }
})

it('[HT41] the owner, the ids, cursors and names of others get one nothing, and not-found at most', async () => {
  const { client, secrets, stolen, engine, before } = await scene()
  for (const operation of OPERATIONS) {
    for (const role of OTHERS) {
      for (const [name, value] of Object.entries(theft(operation, stolen))) {
        const fields: { [field: string]: unknown } = { ...harmless(operation), [name]: value }
        if (operation.name === 'memory.forgetMatching' && name === 'id') delete fields.query
        const { status, body } = await send(client, operation, secrets[role], fields)
        const what = `${operation.name} by ${role} with ${name}: ${status} ${JSON.stringify(body)}`
        expect(JSON.stringify(body), what).not.toContain(MARK)
        const mayAtAll = hasAccess({ key: null, role, home: '', actsFor: [] }, operation.access)
        if (!mayAtAll) expect(status, what).toBe(403)
        else if (NAMING.includes(name)) expect(status, what).toBe(404)
        else if (name === 'id' || name === 'change') expect(status, what).toBe(404)
        else if (!asksForAll(fields)) expect(status, what).not.toBe(403)
      }
    }
  }
  expect(await everything(engine, VICTIM)).toEqual(before)
})

it('[HT41] no combination of them does better', async () => {
  const { client, secrets, stolen, engine, before } = await scene()
  const attack = fc.constantFrom(...OPERATIONS).chain((operation) =>
    fc.record({
      operation: fc.constant(operation),
      role: fc.constantFrom(...OTHERS),
      names: fc.subarray(Object.keys(theft(operation, stolen))),
    }),
  )
  await fc.assert(
    fc.asyncProperty(attack, async ({ operation, role, names }) => {
      const stolenFields = theft(operation, stolen)
      const fields = {
        ...harmless(operation),
        ...Object.fromEntries(names.map((name) => [name, stolenFields[name]])),
      }
      const { status, body } = await send(client, operation, secrets[role], fields)
      expect(status).toBeLessThan(500)
      expect(JSON.stringify(body)).not.toContain(MARK)
      if (
        hasAccess({ key: null, role, home: '', actsFor: [] }, operation.access) &&
        !asksForAll(fields)
      ) {
        expect(status).not.toBe(403)
      }
    }),
    { numRuns: 100 },
  )
  expect(await everything(engine, VICTIM)).toEqual(before)
})

it('[HT42] a key reaches the owners it acts for, and a superadmin all', async () => {
  const { client, engine, secrets, stolen } = await scene()
  const acting = await keyFor(engine, 'reader', 'somebody', [VICTIM])
  const path = `/api/memory/${stolen.id}?owner=${VICTIM}`
  expect((await client.get(path, { key: acting })).body.memory.content).toContain(MARK)
  expect((await client.get(path, { key: secrets.superadmin })).status).toBe(200)
  expect((await client.get(path, { key: secrets.user })).status).toBe(404)
  const reserved = await client.get('/api/memory?owner=%40system', { key: secrets.superadmin })
  expect(reserved.status).toBe(400)
})
