/** API keys, stored settings, the audit log, idempotency keys, and operations on all memories of an owner. */
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../src/domain/ids.ts'
import { create } from '../conformance/store/store.suite.ts'
import { interruptedBeforeCommit } from '../fakes/faulty-store.ts'
import { memory, memoryId } from '../fakes/memories.ts'
import { type OpenStore, openEngine } from '../memory/memories.suite.ts'

const ADA = { owner: 'ada' }
const owner = (name: string) => name as OwnerId
const DAY = 86_400_000

export function describeSystem(name: string, open: OpenStore): void {
  describe(`${name}: keys`, () => describeKeys(open))
  describe(`${name}: stored settings`, () => describeSettings(open))
  describe(`${name}: audit and idempotency`, () => describeAuditAndIdempotency(open))
  describe(`${name}: many memories at once`, () => describeMany(open))
}

function describeKeys(open: OpenStore): void {
  it('[SY1] verifies the secret and stores only its hash', async () => {
    const { engine, store } = await openEngine(open)
    const { key, secret } = await engine.admin.keys.create({
      name: 'app',
      defaultOwner: 'ada',
      role: 'agent',
    })
    expect(secret).toMatch(/^rc_[0-9a-z]+_[\w-]{43}$/)
    expect(await engine.admin.keys.verify(secret)).toMatchObject({
      id: key.id,
      home: 'ada',
      role: 'agent',
    })
    const { rows } = await store.find(
      'entry',
      { owner: '@system' as OwnerId },
      { where: {}, limit: 9 },
    )
    expect(JSON.stringify(rows)).not.toContain(secret.slice(-43))
    for (const wrong of [
      '',
      'rc_',
      `${secret}x`,
      secret.slice(0, -1),
      secret.replace('rc_', 'sk_'),
      `${secret}\n`,
    ]) {
      expect(await engine.admin.keys.verify(wrong)).toBeNull()
    }
  })

  it('[SY1] does not mistake another entry for a key', async () => {
    const { engine } = await openEngine(open)
    await engine.admin.settings.change(null, { 'recall.limit': 3 })
    expect(await engine.admin.keys.verify('rc_system_abc')).toBeNull()
    await expect(engine.admin.keys.revoke('key_nothing')).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('[SY2] rejects expired and revoked keys', async () => {
    const { engine, clock } = await openEngine(open)
    const expiresAt = clock.now() + DAY
    const brief = await engine.admin.keys.create({ name: 'brief', defaultOwner: 'ada', expiresAt })
    const ended = await engine.admin.keys.create({ name: 'ended', defaultOwner: 'ada' })
    await engine.admin.keys.revoke(ended.key.id)
    expect(await engine.admin.keys.verify(ended.secret)).toBeNull()
    expect(await engine.admin.keys.verify(brief.secret)).not.toBeNull()
    clock.advance(DAY)
    expect(await engine.admin.keys.verify(brief.secret)).toBeNull()
    expect((await engine.admin.keys.list()).map(({ name }) => name)).toEqual(['brief'])
  })

  it('[SY3] creates the management key once and replaces it on request', async () => {
    const { engine } = await openEngine(open)
    const first = await engine.admin.keys.ensureManagement()
    expect(await engine.admin.keys.ensureManagement()).toBeNull()
    expect(await engine.admin.keys.verify(first ?? '')).toMatchObject({ role: 'superadmin' })
    const second = await engine.admin.keys.resetManagement()
    expect(await engine.admin.keys.verify(first ?? '')).toBeNull()
    expect(await engine.admin.keys.verify(second)).toMatchObject({ isManagement: true })
  })

  it('[SY2] records the last use at most once a minute', async () => {
    const { engine, clock } = await openEngine(open)
    const { secret } = await engine.admin.keys.create({ name: 'app', defaultOwner: 'ada' })
    clock.advance(1_000)
    await engine.admin.keys.verify(secret)
    const usedAt = clock.now()
    await expect.poll(async () => (await engine.admin.keys.list())[0]?.lastUsedAt).toBe(usedAt)
    clock.advance(1_000)
    await engine.admin.keys.verify(secret)
    expect((await engine.admin.keys.list())[0]?.lastUsedAt).toBe(usedAt)
  })

  it('[SY1] refuses invalid keys', async () => {
    const { engine, clock } = await openEngine(open)
    for (const input of [
      { name: '', defaultOwner: 'ada' },
      { name: 'x'.repeat(101), defaultOwner: 'ada' },
      { name: 'app', defaultOwner: '' },
      { name: 'app', defaultOwner: '@system' },
      { name: 'app', defaultOwner: 'ada', role: 'king' as never },
      { name: 'app', defaultOwner: 'ada', expiresAt: clock.now() },
      { name: 'app', defaultOwner: 'ada', actsFor: Array.from({ length: 101 }, (_, n) => `o${n}`) },
    ]) {
      await expect(engine.admin.keys.create(input)).rejects.toMatchObject({ code: 'invalid_input' })
    }
    expect(await engine.admin.keys.list()).toEqual([])
  })
}

function describeSettings(open: OpenStore): void {
  it('[SY4] lets the owner override the system, and the system the default', async () => {
    const { engine } = await openEngine(open)
    expect((await engine.admin.settings.resolve(owner('ada')))['recall.limit']).toBe(10)
    await engine.admin.settings.change(null, { 'recall.limit': 3, 'recall.strategy': 'keyword' })
    expect(await engine.admin.settings.resolve(owner('ada'))).toMatchObject({ 'recall.limit': 3 })
    await engine.admin.settings.change(owner('ada'), { 'recall.limit': 7 })
    expect(await engine.admin.settings.resolve(owner('ada'))).toMatchObject({
      'recall.limit': 7,
      'recall.strategy': 'keyword',
    })
    expect((await engine.admin.settings.resolve(owner('bob')))['recall.limit']).toBe(3)
    await engine.admin.settings.change(owner('ada'), { 'recall.limit': null })
    expect((await engine.admin.settings.resolve(owner('ada')))['recall.limit']).toBe(3)
    expect(await engine.admin.settings.getStored(owner('ada'))).toEqual({})
  })

  it('[SY4] recalls with the settings of the requesting owner', async () => {
    const { engine } = await openEngine(open)
    for (let n = 0; n < 5; n++) await engine.remember(ADA, { content: `tea number ${n} is good` })
    await engine.admin.settings.change(owner('ada'), { 'recall.limit': 2 })
    expect((await engine.recall(ADA, { text: 'tea' })).memories).toHaveLength(2)
  })

  it('[SY5] refuses unknown settings, values out of range, and system settings for an owner', async () => {
    const { engine } = await openEngine(open)
    for (const [about, changes] of [
      [null, { 'recall.limit': 0 }],
      [null, { nonsense: 1 }],
      [null, { nonsense: null }],
      [null, { 'recall.strategy': 'best' }],
      [null, { 'gateway.enabled': 1 }],
      [owner('ada'), { 'recall.sharedMemoryEnabled': true }],
      [owner('ada'), { 'retention.auditDays': null }],
    ] as const) {
      await expect(engine.admin.settings.change(about, changes)).rejects.toMatchObject({
        code: 'invalid_input',
      })
    }
    expect(await engine.admin.settings.getStored(null)).toEqual({})
  })

  it('[SY4] sees changes of another process within seconds', async () => {
    const { engine, clock, store, on } = await openEngine(open)
    await engine.admin.settings.resolve(owner('ada'))
    await on(store).admin.settings.change(owner('ada'), { 'recall.limit': 4 })
    clock.advance(2_000)
    expect((await engine.admin.settings.resolve(owner('ada')))['recall.limit']).toBe(4)
  })

  it('[SY14] recalls memories whether or not the gateway is enabled', async () => {
    const { engine } = await openEngine(open)
    await engine.remember(ADA, { content: 'I prefer tea' })
    expect((await engine.admin.settings.resolve(owner('ada')))['gateway.enabled']).toBe(false)
    for (const enabled of [false, true]) {
      await engine.admin.settings.change(owner('ada'), { 'gateway.enabled': enabled })
      const { memories } = await engine.recall(ADA, { text: 'tea', purpose: 'prompt' })
      expect(memories).toHaveLength(1)
      expect((await engine.learn(ADA, 'I live in Rome.')).remembered).toHaveLength(1)
    }
  })

  it('[SY6] reads shared memory only where it is enabled', async () => {
    const { engine } = await openEngine(open)
    await engine.remember({ owner: '@shared' }, { content: 'The office opens at eight' })
    await engine.remember(ADA, { content: 'My desk in the office is by the window' })
    await expect(engine.recall(ADA, { text: 'office', reach: 'global' })).rejects.toMatchObject({
      code: 'invalid_input',
    })
    await engine.admin.settings.change(null, { 'recall.sharedMemoryEnabled': true })
    const own = await engine.recall(ADA, { text: 'office' })
    expect(own.memories.map(({ memory }) => memory.place.owner)).toEqual(['ada'])
    const all = await engine.recall(ADA, { text: 'office', reach: 'global' })
    expect(all.memories.map(({ memory }) => memory.place.owner).sort()).toEqual(['@shared', 'ada'])
    const one = await engine.recall(ADA, { text: 'office', reach: 'global', limit: 1 })
    expect(one.memories).toHaveLength(1)
    expect(one.memories[0]?.memory.id).toBe(all.memories[0]?.memory.id)
    await engine.admin.settings.change(owner('ada'), { 'recall.scope': 'global' })
    expect((await engine.recall(ADA, { text: 'office' })).memories).toHaveLength(2)
  })

  it('[SY6] searches the session or everything of the owner', async () => {
    const { engine } = await openEngine(open)
    await engine.remember({ ...ADA, session: 's1' }, { content: 'The trip goes to Rome' })
    await engine.remember({ ...ADA, session: 's2' }, { content: 'The trip takes a week' })
    const inSession = { ...ADA, session: 's1' }
    expect((await engine.recall(inSession, { text: 'trip' })).memories).toHaveLength(1)
    expect(
      (await engine.recall(inSession, { text: 'trip', reach: 'owner' })).memories,
    ).toHaveLength(2)
    await expect(engine.recall(ADA, { text: 'trip', reach: 'session' })).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })
}

function describeAuditAndIdempotency(open: OpenStore): void {
  it('[SY7] lists the audit log newest first and expires entries', async () => {
    const { engine, clock } = await openEngine(open)
    const note = (operation: string, about: string) =>
      engine.admin.audit.append({ actor: null, operation, owner: about, targets: ['mem_1'] })
    await note('memory.add', 'ada')
    clock.advance(1_000)
    await note('memory.forget', 'bob')
    const { rows } = await engine.admin.audit.list()
    expect(rows.map(({ operation }) => operation)).toEqual(['memory.forget', 'memory.add'])
    expect((await engine.admin.audit.list({ owner: 'ada' })).rows).toMatchObject([
      { operation: 'memory.add', owner: 'ada', targets: ['mem_1'], targetCount: 1 },
    ])
    clock.advance(91 * DAY)
    for (let n = 0; n < 200; n++) await note('memory.add', 'eve')
    expect((await engine.admin.audit.list({ owner: 'ada' })).rows).toEqual([])
    await engine.admin.settings.change(null, { 'retention.auditDays': 0 })
    await note('memory.add', 'zoe')
    expect((await engine.admin.audit.list({ owner: 'zoe' })).rows).toEqual([])
  })

  it('[SY8] runs the work once and replays the response', async () => {
    const { engine, clock } = await openEngine(open)
    let done = 0
    const work = async () => ({ n: ++done })
    expect(await engine.admin.idempotency.runOnce('k', 'body', work)).toEqual({
      answer: { n: 1 },
      isRepeated: false,
    })
    expect(await engine.admin.idempotency.runOnce('k', 'body', work)).toEqual({
      answer: { n: 1 },
      isRepeated: true,
    })
    await expect(engine.admin.idempotency.runOnce('k', 'other', work)).rejects.toMatchObject({
      code: 'conflict',
    })
    clock.advance(2 * DAY)
    expect(await engine.admin.idempotency.runOnce('k', 'other', work)).toMatchObject({
      answer: { n: 2 },
    })
  })

  it('[SY8] stores no response that could quote erased memories', async () => {
    const { engine, store } = await openEngine(open)
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea' })
    await engine.admin.idempotency.runOnce('k', 'body', async () => ({ content: memory.content }))
    await engine.memories.erase(ADA, memory.id)
    const { rows } = await store.find(
      'entry',
      { owner: owner('@system') },
      { where: { kinds: ['idempotency'] }, limit: 9 },
    )
    expect(rows).toEqual([])
  })

  it('[SY8] runs once for two concurrent requests and again after a failure', async () => {
    const { engine } = await openEngine(open)
    let done = 0
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    // The first request must not finish before the second one is refused.
    const work = async () => {
      await held
      return { n: ++done }
    }
    const requests = [
      engine.admin.idempotency.runOnce('k', 'body', work),
      engine.admin.idempotency.runOnce('k', 'body', work),
    ]
    await Promise.race(requests).catch(release)
    const both = await Promise.allSettled(requests)
    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(done).toBe(1)
    const failing = () =>
      engine.admin.idempotency.runOnce('f', 'body', () => Promise.reject(new Error('no')))
    await expect(failing()).rejects.toThrow('no')
    expect(await engine.admin.idempotency.runOnce('f', 'body', work)).toMatchObject({
      isRepeated: false,
    })
  })
}

function describeMany(open: OpenStore): void {
  it('[SY9] clears what matches, counts exactly and undoes everything in one step', async () => {
    const { engine, clock, store } = await openEngine(open)
    const notes = Array.from({ length: 650 }, (_, n) => {
      const content = `Note ${n} about topic ${n % 7}`
      return memory({ id: memoryId(`note${n}`), content, key: content, type: 'episodic' })
    })
    await store.commit(notes.map(create))
    await engine.remember(ADA, { content: 'I prefer tea', type: 'factual' })
    clock.advance(1_000)
    const dry = await engine.memories.clear(ADA, { types: ['episodic'] }, { dryRun: true })
    expect(dry).toMatchObject({ matched: 650, forgotten: 0, change: null })
    const cleared = await engine.memories.clear(ADA, { types: ['episodic'] })
    expect(cleared).toMatchObject({ matched: 650, forgotten: 650, erased: 0 })
    expect((await engine.memories.count(ADA)).total).toBe(1)
    const undone = await engine.undo(ADA, cleared.change ?? '')
    expect(undone.memories).toHaveLength(650)
    expect((await engine.memories.count(ADA)).total).toBe(651)
    expect(await engine.memories.clear(ADA, {}, { erase: true })).toMatchObject({
      erased: 651,
      change: null,
    })
    expect((await engine.list(ADA, { statuses: ['active', 'forgotten'] })).rows).toEqual([])
  })

  it('[SY9] yields to other requests while it clears and undoes', async () => {
    const { engine } = await openEngine(open)
    for (let n = 0; n < 300; n++) await engine.remember(ADA, { content: `Note ${n}`, key: `${n}` })
    let turns = 0
    let isDone = false
    const others = () => {
      turns++
      if (!isDone) setImmediate(others)
    }
    setImmediate(others)
    const { change } = await engine.memories.clear(ADA, {})
    const whileClearing = turns
    await engine.undo(ADA, change ?? '')
    isDone = true
    expect(whileClearing).toBeGreaterThanOrEqual(6)
    expect(turns - whileClearing).toBeGreaterThanOrEqual(6)
  })

  it('[SY9] clears memories that change concurrently', async () => {
    const { on, store, engine } = await openEngine(open)
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea' })
    const hasty = on(
      interruptedBeforeCommit(store, async () => {
        await engine.edit(ADA, memory.id, { importance: 9 })
      }),
    )
    expect(await hasty.memories.clear(ADA, {})).toMatchObject({ matched: 1, forgotten: 1 })
    expect(await engine.get(ADA, memory.id)).toMatchObject({ status: 'forgotten', importance: 9 })
  })

  it('[SY10] puts one memory of each user in the place of old ones, and can be undone', async () => {
    const { engine, clock } = await openEngine(open)
    const long = `We met in Rome. It rained. We had soup. Then we left. ${'We walked by the river until it was dark. '.repeat(6)}`
    for (const user of ['u1', 'u2']) {
      await engine.remember({ ...ADA, user }, { content: `${long} (${user})` })
      await engine.remember(
        { ...ADA, user },
        { content: `${user} bought a bicycle. ${'It rides well. '.repeat(12)}` },
      )
    }
    await engine.remember(
      { ...ADA, user: 'u1' },
      { content: 'u1 is allergic to nuts', pinned: true },
    )
    clock.advance(40 * DAY)
    await engine.remember({ ...ADA, user: 'u1' }, { content: 'u1 started to swim' })
    const dry = await engine.memories.summarize(ADA, { dryRun: true })
    expect(dry.candidates).toHaveLength(4)
    expect(dry.summaries).toEqual([])
    const done = await engine.memories.summarize(ADA)
    expect(done.superseded).toBe(4)
    expect(done.summaries.map(({ place }) => place.user).sort()).toEqual(['u1', 'u2'])
    expect(done.summaries[0]?.content).toContain('We met in Rome. It rained. We had soup.')
    expect(done.summaries[0]?.content).not.toContain('Then we left')
    const left = (await engine.list({ ...ADA, user: 'u1' })).rows.map(({ content }) => content)
    expect(left).toHaveLength(3)
    expect(await engine.memories.summarize(ADA)).toMatchObject({ superseded: 0, summaries: [] })
    await engine.undo(ADA, done.summaries[0]?.change ?? '')
    expect((await engine.list(ADA)).rows).toHaveLength(6)
  })

  it('[SY11] erases everything of one owner and nothing of others', async () => {
    const { engine, store } = await openEngine(open)
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea' })
    await engine.edit(ADA, memory.id, { content: 'I prefer green tea' })
    await engine.remember({ owner: 'bob' }, { content: 'I prefer coffee' })
    await engine.admin.settings.change(owner('ada'), { 'recall.limit': 4 })
    const { secret } = await engine.admin.keys.create({ name: 'app', defaultOwner: 'ada' })
    const dry = await engine.admin.eraseOwner('ada', { dryRun: true })
    expect(dry.rows).toMatchObject({ memory: 1, revision: 1, entry: 2 })
    expect(await engine.admin.eraseOwner('ada')).toEqual(dry)
    expect(await engine.admin.keys.verify(secret)).toBeNull()
    expect((await engine.admin.listPlaces()).map((place) => place.owner)).toEqual(['bob'])
    const left = await store.find('revision', { owner: owner('ada') }, { where: {}, limit: 9 })
    expect(left.rows).toEqual([])
    const management = await engine.admin.keys.ensureManagement()
    await engine.admin.eraseOwner('default')
    expect(await engine.admin.keys.verify(management ?? '')).not.toBeNull()
    await expect(engine.admin.eraseOwner('@system')).rejects.toMatchObject({
      code: 'invalid_input',
    })
  })

  it('[SY12] tests a write and leaves no rows behind', async () => {
    const { engine, store } = await openEngine(open)
    expect(await engine.admin.testWrite()).toEqual({ works: true, reason: null })
    expect((await store.getReport()).rows).toMatchObject({ memory: 0, revision: 0, tombstone: 0 })
  })

  it('[SY13] refreshes counts after each change', async () => {
    const { engine, clock, store, on } = await openEngine(open)
    expect((await engine.memories.count(ADA)).total).toBe(0)
    const { memory } = await engine.remember(ADA, { content: 'I prefer tea' })
    expect(await engine.memories.count(ADA)).toMatchObject({ total: 1, characters: 12 })
    await engine.forget(ADA, memory.id)
    expect((await engine.memories.count(ADA)).total).toBe(0)
    await on(store).remember(ADA, { content: 'I have a cat' })
    clock.advance(3_000)
    expect((await engine.memories.count(ADA)).total).toBe(1)
  })
}
