import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { added, createCli } from './cli-host.ts'

describe('remembering', () => {
  it('[CL1] add says in one sentence what became of a statement', async () => {
    const cli = createCli()
    const first = await cli(['add', 'I', 'live', 'in', 'Lisbon.'])
    expect(first).toMatchObject({ exit: 0, err: '' })
    expect(first.out).toMatch(/^Remembered mem_\w+\n$/)
    expect((await cli(['add', 'I live in Lisbon'])).out).toMatch(
      /^Already known; reinforced mem_\w+ \(said 2 times\)\n$/,
    )
    expect((await cli(['add', 'I live in Porto now.'])).out).toMatch(
      /^Replaced mem_\w+ with mem_\w+ \(undo: recollect undo chg_\w+\)\n$/,
    )
    await cli(['add', 'I have 2 cats'])
    expect((await cli(['add', 'I have 3 cats'])).out).toMatch(
      /^Remembered mem_\w+\nKept beside mem_\w+, which says otherwise \(number\)\n$/,
    )
    await cli(['add', '--key', 'tea', 'I drink green tea.'])
    expect((await cli(['add', '--key', 'tea', 'I drink black tea.'])).out).toMatch(
      /^Updated mem_\w+ to version 2 \(undo: recollect undo chg_\w+\)\n$/,
    )
  })

  it('[CL1] add accepts every field of a memory', async () => {
    const memory = await added(
      createCli(),
      ...['--owner', 'ada', '--user', 'bob', '--session', 's1', '--key', 'k', '--type', 'episodic'],
      ...[
        '--category',
        'event',
        '--importance',
        '9',
        '--pin',
        '--trust',
        'tool',
        '--expires',
        '30d',
      ],
      ...['--valid-from', '2020-02-03', '--valid-until', '2999-01-01T10:00:00Z', '--entity', 'Ana'],
      ...['--entity', 'Rui', '--language', 'pt-BR', '--metadata', '{"a":[1]}', 'a text'],
    )
    expect(memory).toMatchObject({
      ...{ owner: 'ada', user: 'bob', sessionId: 's1' },
      ...{ key: 'k', type: 'episodic', category: 'event', importance: 9, pinned: true },
      ...{ trust: 'tool', entities: ['Ana', 'Rui'], language: 'pt-BR', metadata: { a: [1] } },
      validFrom: new Date(2020, 1, 3).toISOString(),
      validUntil: '2999-01-01T10:00:00.000Z',
      provenance: { source: 'cli' },
    })
    const days = (Date.parse(memory.expiresAt) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(29.9)
    expect(days).toBeLessThanOrEqual(30)
  })

  it('[CL1] learn keeps what the writer says about themself', async () => {
    const cli = createCli()
    const { out } = await cli(['learn', 'Hi! I live in Lisbon. What is the weather?'])
    expect(out).toMatch(/^Remembered mem_\w+\n {2}I live in Lisbon\n$/)
    expect((await cli(['learn', 'What is the weather?'])).out).toMatch(/^Found nothing/)
    expect((await cli(['learn', '--json'], { stdin: 'I love old maps.' })).json).toMatchObject({
      remembered: [{ outcome: 'create', memory: { content: 'I love old maps' } }],
      rejected: 0,
    })
  })
})

describe('reading', () => {
  it('[CL1] list shows the newest first and how to go on', async () => {
    const cli = createCli()
    for (const text of ['one apple', 'two pears', 'three plums']) await added(cli, text)
    const page = await cli(['list', '--limit', '2', '--pinned', '--include-expired'])
    expect(page.out).toBe('No memories match.\n')
    const { out } = await cli(['list', '--limit', '2', '--category', 'general'])
    expect(out).toMatch(
      /ID +CREATED +MEMORY\nmem_\w+ +just now +three plums\nmem_\w+ .*two pears\n/,
    )
    const next = /There are more \(3 memories in all\): recollect (.*)\n/.exec(out)?.[1] ?? ''
    expect(next).toMatch(/^list --limit 2 --category general --after mem_\w+$/)
    expect((await cli(next.split(' '))).out).toContain('one apple')
    expect((await cli(['list', '--oldest', '--limit', '1'])).out).toContain('one apple')
  })

  it('[CL1] list cuts to the width of a terminal, never an id, and colours only there', async () => {
    const cli = createCli()
    const { id } = await added(cli, `\u001b[31mred\u001b[0m ${'日本語'.repeat(60)}`)
    const { out } = await cli(['list'], { columns: 80, hasColor: true })
    const line = out.split('\n')[1] ?? ''
    expect(line).toContain(id)
    expect(line).toContain('\\x1b[31mred')
    expect(line).toMatch(/…$/)
    expect((await cli(['list'], { columns: 80 })).out).not.toContain('\u001b')
    expect((await cli(['list'], { hasColor: true })).out).not.toMatch(/\u001b|…/)
  })

  it('[CL1] list --as-of shows what was known then', async () => {
    const cli = createCli()
    const { id, createdAt } = await added(cli, 'I live in Lisbon')
    await new Promise((resolve) => setTimeout(resolve, 5))
    await cli(['edit', id, '--content', 'I live in Porto'])
    const then = await cli(['list', '--as-of', createdAt, '--json'])
    expect(then.json.data).toMatchObject([{ id, content: 'I live in Lisbon' }])
    expect((await cli(['list', '--as-of', '3d'])).out).toMatch(/^Nothing was known at /)
    expect(await cli(['list', '--as-of', '3d', '--pinned'])).toMatchObject({ exit: 2 })
  })

  it('[CL1] search shows score and coverage, and says when there is nothing', async () => {
    const cli = createCli()
    await added(cli, 'I prefer tea over coffee.')
    const { out } = await cli(['search', 'tea', 'zebra'])
    expect(out).toMatch(/SCORE +COVERS +ID +MEMORY\n\d+\.\d\d +\d+% +mem_\w+ +I prefer tea/)
    expect(await cli(['search', 'zebra'])).toMatchObject({ exit: 0, out: 'Nothing found.\n' })
    expect((await cli(['search', 'tea', '--type', 'episodic', '--json'])).json).toMatchObject({
      results: [],
    })
  })

  it('[CL1] get shows one memory whole, and history every version of it', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I prefer tea.\nAlways.')
    await cli(['edit', id, '--content', 'I prefer coffee.', '--importance', '7'])
    expect((await cli(['get', id])).out).toMatch(/^I prefer coffee\.\n\n {2}id +mem_/)
    const { out } = await cli(['history', id])
    expect(out).toContain(
      '  - content: I prefer tea.\n  - content: Always.\n  + content: I prefer coffee.',
    )
    expect(out).toContain('  - importance: 5\n  + importance: 7')
    expect(out).toMatch(/Version 2 .* in force\n[\s\S]*Version 1 .* replaced\n/)
    const { versions } = (await cli(['history', id, '--json'])).json
    expect(versions).toMatchObject([{ replacedAt: null }, { memory: { version: 1 } }])
  })
})

describe('correcting', () => {
  it('[CL1] edit changes only the named fields', async () => {
    const cli = createCli()
    const { id } = await added(cli, '--pin', '--expires', '2d', '--key', 'k', 'I like tea')
    const ran = await cli([
      'edit',
      id,
      '--unpin',
      '--no-expiry',
      '--no-key',
      '--json',
      '--if-version',
      '1',
    ])
    expect(ran.json.memory).toMatchObject({
      pinned: false,
      expiresAt: null,
      key: null,
      content: 'I like tea',
    })
    expect((await cli(['edit', id, '--content', '-'], { stdin: 'I love tea\n' })).out).toMatch(
      /^Changed mem_\w+ to version 3 \(undo: /,
    )
    expect((await cli(['get', id, '--json'])).json.memory.content).toBe('I love tea')
    expect(await cli(['edit', id, '--pin', '--if-version', '1'])).toMatchObject({ exit: 5 })
    expect(await cli(['edit', id])).toMatchObject({ exit: 2 })
  })

  it('[CL1] edit takes the new text as arguments, or from standard input for -', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const says = async () => (await cli(['get', id, '--json'])).json.memory.content
    await cli(['edit', id, 'I', 'like', 'coffee'])
    expect(await says()).toBe('I like coffee')
    await cli(['edit', id, '-'], { stdin: 'I like water\n' })
    expect(await says()).toBe('I like water')
    await cli(['edit', id, '--', '-'])
    expect(await says()).toBe('-')
  })

  it('[CL1] forget, restore, disable and undo lead there and back', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const forgotten = await cli(['forget', id])
    expect(forgotten.out).toBe(`Forgot ${id} (bring it back: recollect restore ${id})\n`)
    expect((await cli(['list'])).out).toMatch(/^No memories here yet/)
    expect((await cli(['list', '--status', 'forgotten'])).out).toContain('[forgotten] I like tea')
    expect((await cli(['restore', id])).exit).toBe(0)
    await cli(['edit', id, '--content', 'I like coffee'])
    expect((await cli(['restore', id, '--version', '1', '--json'])).json.memory.content).toBe(
      'I like tea',
    )
    const { change } = (await cli(['disable', id, '--json'])).json.memory
    expect((await cli(['search', 'tea'])).out).toBe('Nothing found.\n')
    expect((await cli(['undo', change])).out).toBe(
      `Reverted ${change}:\n  ${id} is as it was before\n`,
    )
    expect((await cli(['search', 'tea'])).out).toContain(id)
  })

  it('[CL1] erase asks on a terminal and needs --yes elsewhere', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    expect(await cli(['erase', id], { stdin: '' })).toMatchObject({ exit: 2 })
    const refused = await cli(['erase', id], { columns: 80, answers: [false] })
    expect(refused).toMatchObject({ exit: 130, err: 'recollect: Nothing was erased.\n' })
    expect(refused.asked).toEqual(["Erase 1 memory with all history? It can't be undone."])
    expect((await cli(['erase', id], { columns: 80, answers: [true] })).out).toBe(
      'Erased 1 memory for good.\n',
    )
    expect(await cli(['get', id])).toMatchObject({ exit: 4 })
    const other = await added(cli, 'I like coffee')
    await cli(['forget', other.id])
    expect((await cli(['erase', '--trash', '--yes'])).out).toBe(
      'Nothing in the trash is that old.\n',
    )
    expect((await cli(['erase', '--trash', '--days', '0', '--yes', '--json'])).json).toMatchObject({
      memories: 1,
    })
    const third = await added(cli, 'I like water')
    expect((await cli(['forget', third.id, '--erase', '--yes'])).out).toMatch(/^Erased 1 memory/)
    expect(readFileSync(join(cli.folder, 'recollect.db'), 'latin1')).toContain('SQLite format 3')
  })

  it('[CL1] forget changes nothing when one of the ids is not there', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    expect(await cli(['forget', id, 'mem_0none'])).toMatchObject({ exit: 4 })
    expect((await cli(['get', id, '--json'])).json.memory.status).toBe('active')
  })
})
