/** Keys, owners, the audit log, settings and clearing on the command line. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { added, type Cli, createCli } from './cli-host.ts'

describe('keys', () => {
  it('[CL13] keys are made with a secret that is shown once, listed without it, and revoked', async () => {
    const cli = createCli()
    expect((await cli(['keys'])).out).toMatch(/^No keys yet\./)
    const argv = ['--home', 'ada', '--role', 'agent', '--acts-for', 'bob,carol', '--expires', '90d']
    const made = await cli(['keys', 'create', 'my laptop', ...argv, '--json'])
    expect(made.json).toMatchObject({
      key: { name: 'my laptop', role: 'agent', home: 'ada', actsFor: ['bob', 'carol'] },
      secret: expect.stringMatching(/^rc_/),
    })
    const { key, secret } = made.json
    const days = (Date.parse(key.expiresAt) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
    expect(await verified(cli, secret)).toMatchObject({ id: key.id })
    const { out } = await cli(['keys', 'list'])
    expect(out).toMatch(/ID +ROLE +OWNERS +LAST USED +EXPIRES +NAME/)
    expect(out).toMatch(new RegExp(`${key.id} +agent +ada, bob, carol .* my laptop`))
    expect(out).not.toContain(secret)
    expect((await cli(['keys', 'revoke', key.id])).out).toContain('It opens nothing now.')
    expect(await verified(cli, secret)).toBe(null)
    expect(await cli(['keys', 'revoke', key.id])).toMatchObject({ exit: 4 })
    expect((await cli(['keys', 'create', 'mine'])).out).toMatch(/user of default.*\n\n {2}rc_/)
  })

  it('[CL13] keys reset makes a new management key and ends the former one', async () => {
    const cli = createCli()
    expect(await cli(['keys', 'reset'], { stdin: '' })).toMatchObject({ exit: 2 })
    const first = (await cli(['keys', 'reset', '--yes', '--json'])).json.secret
    expect(await verified(cli, first)).toMatchObject({ role: 'superadmin', isManagement: true })
    const response = await cli(['keys', 'reset'], { columns: 80, answers: [true] })
    expect(response.asked).toEqual([
      'Create a new management key? The previous one is revoked at once.',
    ])
    expect(await verified(cli, first)).toBe(null)
    expect((await cli(['keys', '--json'])).json.keys).toHaveLength(1)
  })

  it.each([
    [['keys', 'creat', 'x'], 'Did you mean `keys create`?'],
    [['keys', 'create'], '`keys create` requires a <name>.'],
    [['keys', 'create', 'x', '--role', 'usr'], 'Did you mean user?'],
    [['keys', 'create', 'x', '--expires', 'soon'], '--expires must be a time; got "soon".'],
    [['keys', 'revoke'], '`keys revoke` requires the <id> of a key.'],
    [['keys', 'create', 'x', '--home', ' a'], '`owner` must not begin or end with a space'],
    [['owners', 'erase'], '`owners erase` requires an <owner>.'],
    [['owners', 'rm'], 'Actions: list, erase.'],
    [['audit', '--limit', '0'], '--limit must be an integer from 1 to 1000.'],
  ])('[CL5] %j is refused with what to do', async (argv, words) => {
    const { exit, err } = await createCli()(argv)
    expect(exit).toBe(2)
    expect(err).toContain(words)
  })
})

describe('owners and the audit log', () => {
  it('[CL13] owners are listed with users and counts, and erased only when that is meant', async () => {
    const cli = createCli()
    expect((await cli(['owners'])).out).toBe('No owners yet.\n')
    await added(cli, '--owner', 'ada', '--user', 'bob', 'I like tea')
    await added(cli, 'I like coffee')
    expect((await cli(['owners'])).out).toMatch(
      /OWNER +USER +MEMORIES +TURNS\nada +bob +1 +0\ndefault +1 +0/,
    )
    expect((await cli(['owners', 'erase', 'ada', '--dry-run'])).out).toBe(
      'Would erase 1 memory. Nothing was changed.\n',
    )
    expect(await cli(['owners', 'erase', 'ada'], { stdin: '' })).toMatchObject({ exit: 2 })
    const refused = await cli(['owners', 'erase', 'ada'], { columns: 80, answers: [false] })
    expect(refused).toMatchObject({
      exit: 130,
      asked: ["Erase everything of ada (1 memory)? It can't be undone."],
    })
    expect((await cli(['owners', 'erase', 'ada', '--yes'])).out).toBe(
      'Erased 1 memory permanently.\n',
    )
    expect((await cli(['owners', '--json'])).json.owners).toHaveLength(1)
    expect((await cli(['owners', 'erase', 'ada', '--yes'])).out).toContain('Owner ada has no data.')
  })

  it('[CL13] audit shows who did what to which memory, never its text', async () => {
    const cli = createCli()
    expect((await cli(['audit'])).out).toBe('The audit log is empty.\n')
    const { id } = await added(cli, 'I like tea')
    await added(cli, '--owner', 'ada', 'I like coffee')
    await cli(['forget', id])
    const { out } = await cli(['audit'])
    expect(out).toMatch(/WHEN +WHO +WHAT +OWNER +TO\n/)
    expect(out).toMatch(new RegExp(`this machine +memory.forget +default +${id}`))
    expect(out).not.toMatch(/\btea\b/)
    const own = (await cli(['audit', '--owner', 'ada', '--json'])).json.entries
    expect(own).toMatchObject([{ operation: 'memory.add', owner: 'ada', actor: null }])
    const page = await cli(['audit', '--limit', '1'])
    const next = /More: recollect (audit --after \w+)/.exec(page.out)?.[1] ?? ''
    expect((await cli(next.split(' '))).out).toContain('memory.add')
    expect((await cli(['audit', '--before', '3d'])).out).toBe('The audit log is empty.\n')
    await cli(['clear', '--all', '--dry-run'])
    expect((await cli(['audit', '--json'])).json.entries).toHaveLength(3)
  })
})

describe('settings', () => {
  it('[CL14] settings show their value and its source, and are changed for one owner or for all', async () => {
    const cli = createCli()
    const of = async (name: string, ...argv: readonly string[]) =>
      (await cli(['settings', 'get', name, '--json', ...argv])).json
    expect(await of('recall.limit')).toEqual({ 'recall.limit': 10, source: 'default' })
    expect((await cli(['settings', 'set', 'recall.limit=5', '--system'])).out).toBe(
      'recall.limit is 5\n',
    )
    expect(await of('recall.limit')).toEqual({ 'recall.limit': 5, source: 'system' })
    await cli(['settings', 'set', 'recall.limit=3', 'strategy=keyword', '--owner', 'ada'])
    expect(await of('recall.limit', '--owner', 'ada')).toEqual({
      'recall.limit': 3,
      source: 'owner',
    })
    expect(await of('recall.limit')).toEqual({ 'recall.limit': 5, source: 'system' })
    expect((await cli(['settings', 'unset', 'recall.limit', '--owner', 'ada'])).out).toBe(
      'recall.limit is 5\n',
    )
    const environment = { MEMORY_RRF_K: '10' }
    const moved = await cli([
      'settings',
      'set',
      'memoryBudgetTokens=50',
      'retention.minSalience=0.3',
    ])
    expect(moved.out).toBe(
      'memoryBudgetTokens is 100 (50 is out of range)\nretention.minSalience is 0.3\n',
    )
    expect(await of('gateway.contextTokensMax')).toMatchObject({ 'gateway.contextTokensMax': 100 })
    expect(await of('memoryBudgetTokens')).toMatchObject({ memoryBudgetTokens: 100 })
    const { out } = await cli(['settings'], { environment })
    expect(out).toMatch(/recall\.rrfK +10 +start +0 to 1000/)
    expect(out).toMatch(/recall\.limit +5 +system +1 to 100/)
    expect((await cli(['settings', 'set', 'recall.sharedMemoryEnabled=on', '--system'])).out).toBe(
      'recall.sharedMemoryEnabled is true\n',
    )
    expect((await cli(['settings', 'set', 'embedding.source=static', '--system'])).out).toBe(
      'embedding.source is static, takes effect at the next start\n',
    )
    expect((await cli(['settings', 'get', 'retention.trashDays'])).out).toMatch(
      /^30\n\n {2}set by +default\n/,
    )
    expect((await cli(['status'])).out).toContain('recall.limit 5 (system)')
  })

  it.each([
    [['settings', 'get', 'recall.limt'], 'Did you mean recall.limit?'],
    [['settings', 'set', 'recall.limit'], 'Use recall.limit=<value> to set it.'],
    [['settings', 'set', 'recall.limit=0'], 'recall.limit takes 1 to 100; not "0".'],
    [['settings', 'set', 'recall.limit=2.5'], 'recall.limit takes 1 to 100; not "2.5".'],
    [['settings', 'set', 'summaryDebounceSeconds=2.5'], 'summaryDebounceSeconds takes 10 to 3600'],
    [['settings', 'set', 'strategy=magic'], 'strategy takes hybrid, semantic'],
    [['settings', 'set', 'enabled=maybe'], 'enabled takes true, false'],
    [
      ['settings', 'set', 'retention.auditDays=3'],
      'retention.auditDays is a system setting. Use --system.',
    ],
    [['settings', 'set'], '`settings set` needs <name>=<value>.'],
    [['settings', 'unset'], '`settings unset` needs <name>.'],
    [['settings', 'sett', 'x=1'], 'Did you mean `settings set`?'],
  ])('[CL14] %j is refused in words', async (argv, words) => {
    const { exit, err } = await createCli()(argv)
    expect(exit).toBe(2)
    expect(err).toContain(words)
  })
})

describe('clearing', () => {
  async function filled(): Promise<Cli> {
    const cli = createCli()
    await added(cli, '--category', 'event', 'went to the sea')
    await added(cli, '--category', 'event', '--session', 's1', 'saw dolphins')
    await added(cli, '--category', 'preference', 'I like tea')
    return cli
  }

  it('[CL16] clear shows the count, asks, and can be undone in one step', async () => {
    const cli = await filled()
    const dry = await cli(['clear', '--category', 'event', '--dry-run'])
    expect(dry.out).toBe('2 memories would be forgotten. Nothing was changed.\n')
    expect(await cli(['clear', '--category', 'event'], { stdin: '' })).toMatchObject({ exit: 2 })
    const refused = await cli(['clear', '--all'], { columns: 80, answers: [false] })
    expect(refused).toMatchObject({ exit: 130, asked: ['Forget 3 memories?'] })
    const done = await cli(['clear', '--category', 'event'], { columns: 80, answers: [true] })
    expect(done.out).toMatch(/^Forgot 2 memories \(undo: recollect undo chg_\w+\)\n$/)
    expect((await cli(['list', '--json'])).json.total).toBe(1)
    const undo = /undo (chg_\w+)/.exec(done.out)?.[1] ?? ''
    await cli(['undo', undo])
    expect((await cli(['list', '--json'])).json.total).toBe(3)
  })

  it('[CL16] clear narrows by session, text, age and ids, and refuses everything without --all', async () => {
    const cli = await filled()
    const matched = async (...argv: readonly string[]) =>
      (await cli(['clear', '--dry-run', '--json', ...argv])).json.matched
    expect(await matched('--session', 's1')).toBe(1)
    expect(await matched('--q', 'SEA')).toBe(1)
    expect(await matched('--older-than', '6m')).toBe(0)
    expect(await matched('--older-than', '2999-01-01')).toBe(3)
    expect(await matched('--all')).toBe(3)
    const { data } = (await cli(['list', '--json'])).json
    expect(await matched('--ids', `${data[0].id},${data[1].id}`)).toBe(2)
    expect((await cli(['clear', '--yes'])).err).toContain('This would clear everything.')
    expect((await cli(['clear', '--older-than', '6h', '--yes'])).err).toContain(
      '--older-than must be at least a day',
    )
    const erased = await cli(['clear', '--all', '--erase', '--yes'])
    expect(erased.out).toBe('Erased 3 memories for good.\n')
    expect((await cli(['list', '--all-statuses', '--json'])).json.total).toBe(0)
    expect((await cli(['clear', '--all', '--yes'])).out).toBe('No memories match.\n')
  })

  it('[CL16] forget by description takes the one clear hit, or lists what may be meant', async () => {
    const cli = createCli()
    await added(cli, 'My phone number is 555 0199')
    await added(cli, 'I keep bees behind the house')
    await added(cli, 'I keep goats behind the house')
    const unclear = await cli(['forget', '--query', 'behind the house'])
    expect(unclear).toMatchObject({ exit: 4, err: '' })
    expect(unclear.out).toMatch(/^It is not clear which one is meant[\s\S]*bees[\s\S]*/)
    const clear = await cli(['forget', '--query', 'my phone number'])
    expect(clear.out).toMatch(
      /^Forgot mem_\w+ \(bring it back: .*\n {2}My phone number is 555 0199\n$/,
    )
    expect((await cli(['forget', '--query', 'zebra'])).out).toContain('No memory matches')
    expect(await cli(['forget'])).toMatchObject({ exit: 2 })
    expect(await cli(['forget', '--query', 'x', '--erase'])).toMatchObject({ exit: 2 })
  })
})

async function verified(cli: Cli, secret: string) {
  const engine = await createEngine({ path: `${cli.folder}/recollect.db`, embedding: false })
  try {
    return await engine.admin.keys.verify(secret)
  } finally {
    await engine.close()
  }
}
