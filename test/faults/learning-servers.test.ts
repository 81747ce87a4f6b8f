/** Two servers, which are two processes, on one PostgreSQL: every session is distilled by one of them, and once. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import { parseScope } from '../../src/domain/scope.ts'
import { createEngineWith } from '../../src/engine/engine.ts'
import { openUpstream } from '../api/gateway/support/scripted-upstream.ts'
import { speak } from '../api/gateway/support/wire-format.ts'
import { FakeClock } from '../fakes/clock.ts'
import { bundled } from '../support/bundle.ts'
import { expectSound } from '../support/doctor.ts'
import {
  freshSchema,
  openFreshStore,
  type PostgresServer,
  startPglite,
  startServer,
} from '../support/postgres-servers.ts'
import { LEARNING, learnedFrom, say, sessionIn, TEA } from './learning-script.ts'

const OWNERS = ['ada', 'bob', 'cleo', 'dan', 'eve', 'finn']
const SESSIONS_PER_OWNER = 5
const QUIET_MS = 60_000
const SESSIONS = OWNERS.flatMap((owner) =>
  Array.from({ length: SESSIONS_PER_OWNER }, (_, n) => ({ owner, session: `${owner}-${n}` })),
)

const server = await startServer()
const pglite = await startPglite()
afterAll(() => Promise.all([pglite.stop(), server.kind === 'server' ? server.stop() : null]))

// One connection each: PGlite takes turns between connections, but has one session for all of them.
describe('two servers on PGlite', () => learnOnce(pglite))
if (server.kind === 'server') describe('two servers on PostgreSQL', () => learnOnce(server))
else describe.skip(`two servers on PostgreSQL: ${server.reason}`, () => it('was not run', () => {}))

function learnOnce({ url }: PostgresServer): void {
  it('[LP2] distil a session once between them', async () => {
    const schema = freshSchema()
    const store = await openFreshStore(url, { schema, poolSize: 1 })
    onTestFinished(() => store.close())
    onTestFinished(() => expectSound(store))
    await talk(store)
    const requests: string[] = []
    const ports = new Set<string>()
    let bothAsk = () => {}
    const together = new Promise<void>((resolve) => {
      bothAsk = resolve
    })
    const model = await openUpstream(async (received) => {
      const session = sessionIn(received.text)
      if (session !== null) requests.push(session)
      // Nobody gets an answer before both have asked: so both are at work at the same time.
      ports.add(String(received.headers['x-server']))
      if (ports.size === 2) bothAsk()
      await together
      return speak(received, { text: learnedFrom(session) })
    })
    onTestFinished(() => model.close())
    const program = await bundled('test/faults/learning-server.child.ts')
    const servers = await Promise.all(
      ['first', 'second'].map((name) => start(program, { url, schema, modelUrl: model.url, name })),
    )
    for (const { child } of servers) child.stdin?.write('go\n')
    const done = await Promise.all(servers.map(({ result }) => result))
    expect(requests.sort()).toEqual(SESSIONS.map(({ session }) => session).sort())
    // Each of them did some: they waited for one another.
    expect(Math.min(...done)).toBeGreaterThan(0)
    for (const owner of OWNERS) {
      const { rows } = await store.find('memory', parseScope({ owner }), { where: {}, limit: 200 })
      const episodes = rows.filter(({ category }) => category === 'episode')
      expect(episodes.map(({ place }) => place.session).sort()).toEqual(
        SESSIONS.filter((each) => each.owner === owner).map(({ session }) => session),
      )
      const tea = rows.filter(({ content }) => content === TEA)
      expect(tea.map(({ sourceCount }) => sourceCount)).toEqual([SESSIONS_PER_OWNER])
    }
  }, 120_000)
}

/** Everything was said long enough ago. */
async function talk(store: Awaited<ReturnType<typeof openFreshStore>>): Promise<void> {
  const clock = new FakeClock(Date.now() - 2 * QUIET_MS)
  const shared = { ...store, close: async () => {} }
  const engine = createEngineWith({
    store: shared,
    clock,
    ids: createIdGenerator(),
    settings: LEARNING,
  })
  for (const { owner, session } of SESSIONS) await say(engine, session, owner)
  await engine.close()
}

type Started = { readonly child: ChildProcess; readonly result: Promise<number> }

async function start(program: string, input: object): Promise<Started> {
  const child = spawn(process.execPath, [program, JSON.stringify(input)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const lines = createInterface(child.stdout)
  await once(lines, 'line')
  const result = once(lines, 'line').then(([line]) => Number(line))
  return { child, result }
}
