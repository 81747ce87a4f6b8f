/** The command line against a running server: the same commands, the same answers, the same errors. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { added, type Cli, createCli, type Ran } from './cli-host.ts'
import { startServer } from './cli-server.ts'

const STATIC = { RECOLLECT_EMBEDDING_SOURCE: 'static' }

/** Command lines in which `$1` is the first memory that was mentioned, and `@1` the first change. */
const SCRIPT: readonly string[] = [
  'add I_live_in_Graz. --key home --importance 8',
  'add I_live_in_Trieste_now. --key home',
  'add My_sister_Ann_keeps_bees. --category relationship --entity Ann --metadata {"a":[1]}',
  'add I_have_2_cats',
  'add I_have_3_cats',
  'learn Hello!_I_love_old_maps.',
  'list',
  'list --limit 2',
  'list --limit 2 --page 2 --q I',
  'list --oldest --limit 1 --offset 3',
  'list --updated --type factual --category general --status active',
  'list --sort importance --limit 2',
  'list --sort leastUsed --limit 1 --page 2',
  'list --as-of 3d',
  'get $1',
  'search who_keeps_bees',
  'search cats --explain --limit 1 --strategy keyword',
  'search zebra --scope session',
  'history $1',
  'edit $2 My_sister_Ann_keeps_goats.',
  'edit $2 --pin --unpin',
  'edit $2 --pin --if-version 1',
  'edit $2 --pin --expires 2999-01-01T00:00:00Z --if-version 2',
  'disable $2',
  'restore $2 --version 1',
  'undo @1',
  'undo chg_none',
  'forget $2',
  'forget $2 $3',
  'forget --query old_maps',
  'forget --query cats',
  'get mem_none',
  'restore $2',
  'clear --category preference --dry-run',
  'clear --type factual --q cats --yes',
  'clear --ids $1,$2 --yes --erase',
  'clear --older-than 30d',
  'clear',
  'erase $3 --yes',
  'erase --trash --days 0 --yes',
  'erase --trash --yes',
  'settings set recallLimit=3 strategy=keyword',
  'settings set auditDays=30 --system',
  'settings set auditDays=30',
  'settings set recallLimit=999',
  'settings get recallLimit',
  'settings unset recallLimit',
  'settings',
  'owners',
  'owners erase nobody --yes',
  'keys create laptop --home ada --role agent --acts-for bob,carol --expires 90d',
  'keys revoke key_none',
  'doctor',
  'doctor --repair',
  'reindex --force',
  'add I_like_tea. --owner ada',
  'owners erase ada --dry-run',
  'owners erase ada --yes',
  'list --owner ada',
]

describe('commands on a server', () => {
  it('[CL10] every command of a script answers as it does here', async () => {
    const server = await startServer()
    const [here, there] = [createCli(), await server.cli()]
    const [ownIds, theirIds] = [new Names(), new Names()]
    for (const line of SCRIPT) {
      for (const form of [[], ['--json']]) {
        if (form.length > 0 && !isRepeatable(line)) continue
        const own = await runLine(here, line, form, ownIds)
        const theirs = await runLine(there, line, form, theirIds)
        expect({ line, ...theirs }).toEqual({ line, ...own })
      }
    }
    expect(existsSync(there.folder)).toBe(false)
  }, 60_000)

  it('[CL10] whose memories are meant goes along, and otherwise the key decides', async () => {
    const server = await startServer()
    const cli = await server.cli('user', 'ada')
    const memory = await added(cli, '--user', 'bob', '--session', 's1', 'I like tea')
    expect(memory).toMatchObject({ owner: 'ada', user: 'bob', sessionId: 's1' })
    expect((await cli(['list', '--user', 'eve'])).out).toMatch(/^No memories/)
    expect((await cli(['list', '--session', 's1'])).out).toContain('I like tea')
    expect(await cli(['list', '--owner', 'eve'])).toMatchObject({ exit: 4 })
    const all = await server.cli()
    expect((await all(['get', memory.id, '--owner', 'ada'])).exit).toBe(0)
    const next = await all(['forget', memory.id, '--owner', 'ada'])
    expect(next.out).toContain(`recollect restore ${memory.id} --owner ada --url ${server.url}`)
    expect(next.out).not.toContain('rc_')
  })

  it('[CL10] exports come and imports go as they would between files', async () => {
    const server = await startServer()
    const [here, there] = [createCli(), await server.cli()]
    for (const text of ['one apple', 'two\npears', '三つ 🍑']) await added(here, text)
    const file = temporaryFile('here.jsonl')
    await here(['export', file])
    expect((await there(['import', file])).out).toMatch(/^Imported 3, updated 0, skipped 0/)
    expect((await there(['import', file, '--json'])).json).toMatchObject({ skipped: 3, failed: 0 })
    const back = temporaryFile('there.jsonl')
    expect((await there(['export', back])).exit).toBe(0)
    const rows = (path: string) => readFileSync(path, 'utf8').trimEnd().split('\n').slice(1)
    expect(rows(back)).toEqual(rows(file))
    writeFileSync(file, '{"format":"recollect-export","version":1}\nnonsense\n')
    expect(await there(['import', file])).toMatchObject({ exit: 2, err: '' })
    expect(await there(['import', '/no/such/file'])).toMatchObject({ exit: 4 })
    const stopped = await there(['import', back], { stop: AbortSignal.abort() })
    expect(stopped).toMatchObject({ exit: 130 })
    const [user, elsewhere] = [await server.cli('user', 'ada'), createCli()]
    await added(elsewhere, 'four plums')
    const plums = (await elsewhere(['export'])).out
    expect((await user(['import', '-'], { stdin: plums })).exit).toBe(0)
    expect((await user(['list', '--json'])).json.data).toMatchObject([{ owner: 'ada' }])
    const reader = await server.cli('reader')
    expect(await reader(['export'])).toMatchObject({ exit: 16, out: '' })
    expect(await reader(['import', back])).toMatchObject({ exit: 16, out: '' })
  })

  it('[CL10] address and key may come from the environment', async () => {
    const server = await startServer()
    const cli = createCli()
    const environment = { RECOLLECT_URL: `${server.url}/`, RECOLLECT_API_KEY: server.managementKey }
    const { json } = await cli(['add', 'I like tea', '--json'], { environment })
    expect(await server.engine.get({ owner: 'default' }, json.id)).toMatchObject({
      content: 'I like tea',
    })
    const status = await cli(['status'], { environment })
    expect(status.out).toMatch(/server +http.*\n +version +1\.2\.3\n +as +superadmin of default/)
    expect((await cli(['status', '--json'], { environment })).json.caller.role).toBe('superadmin')
  })

  it('[CL15] a key of a server is known by its form and never becomes the name of a memory', async () => {
    const server = await startServer()
    const cli = createCli()
    const at = ['--url', server.url, '--key', server.managementKey]
    const named = await cli(['add', 'I like tea', '--key', 'drink', '--json', ...at])
    expect(named.json.memory.key).toBe('drink')
    const nameless = await cli(['add', 'I like old maps', '--json', ...at])
    expect(nameless.json.memory.key).toBe(null)
    const before = await cli([...at, 'add', '--key', 'maps', 'I love old maps', '--json'])
    expect(before.json.memory.key).toBe('maps')
    expect((await cli(['list', '--key', server.managementKey])).err).toContain(
      '--key requires --url',
    )
  })
})

describe('errors of a server', () => {
  it('[CL11] keep their code, their words and their exit code', async () => {
    const server = await startServer()
    const cli = await server.cli()
    const missing = await cli(['get', 'mem_0none', '--json'])
    expect(missing).toMatchObject({ exit: 4, out: '' })
    expect(missing.json.error).toMatchObject({
      code: 'not_found',
      message: 'Memory mem_0none not found.',
    })
    const huge = await cli(['add', 'x'.repeat(50_001), '--json'])
    expect(huge.json.error).toMatchObject({
      code: 'invalid_input',
      details: [{ field: 'content' }],
    })
    const reader = await server.cli('reader')
    expect(await reader(['add', 'tea'])).toMatchObject({ exit: 16 })
    expect(await reader(['keys'])).toMatchObject({ exit: 16 })
    const agent = await server.cli('agent')
    expect(await agent(['clear', '--all', '--yes'])).toMatchObject({ exit: 16 })
  })

  it('[CL11] a missing or wrong key says how to give one', async () => {
    const { url } = await startServer()
    const cli = createCli()
    const none = await cli(['list', '--url', url])
    expect(none).toMatchObject({ exit: 15, out: '' })
    expect(none.err).toContain('Set an API key with --key or RECOLLECT_API_KEY.')
    const wrong = await cli(['list', '--url', url, '--key', 'rc_01wrong_secretsecretsecret'])
    expect(wrong).toMatchObject({ exit: 15 })
    expect(wrong.err).toContain('Check --key or RECOLLECT_API_KEY.')
    expect(wrong.err).not.toContain('secretsecret')
  })

  it('[CL11] reports a server that cannot be reached, or is none', async () => {
    const cli = createCli()
    const { url } = await listen((_, response) => response.end('<html>hello</html>'))
    const other = await cli(['list', '--url', url])
    expect(other).toMatchObject({ exit: 13, out: '' })
    expect(other.err).toContain(
      'is not a Recollect server (status 200). The address comes from --url.',
    )
    expect(await cli(['export', '--url', url])).toMatchObject({ exit: 13, out: '' })
    const closed = await listen(() => {})
    await closed.close()
    const gone = await cli(['list'], { environment: { RECOLLECT_URL: closed.url } })
    expect(gone).toMatchObject({ exit: 13, out: '' })
    expect(gone.err).toContain(`The server at ${closed.url} is not reachable (ECONNREFUSED).`)
    expect(gone.err).toContain('The address comes from RECOLLECT_URL.')
  })

  it('[CL11] a key is not carried to where a server points', async () => {
    const seen: (string | undefined)[] = []
    const target = await listen((request, response) => {
      seen.push(request.headers.authorization)
      response.end('{}')
    })
    const { url } = await listen((_, response) => {
      response.writeHead(307, { location: target.url }).end()
    })
    const cli = createCli()
    expect(await cli(['list', '--url', url, '--key', 'rc_key'])).toMatchObject({ exit: 13 })
    expect(seen).toEqual([])
  })

  it('[CL11] an answer of another shape is not taken for one', async () => {
    const { url } = await listen((_, response) => response.end('{"data": 1}'))
    const { exit, err } = await createCli()(['list', '--url', url])
    expect(exit).toBe(13)
    expect(err).toContain('another version of Recollect')
  })

  it.each([
    [['--url', 'nonsense'], '--url must be the URL of a server'],
    [['--url', 'ftp://x'], '--url must be the URL of a server'],
    [['--url', 'http://u:p@host'], '--url must be the URL of a server'],
    [['--key', 'rc_x'], '--key requires --url'],
  ])('[CL11] %j is refused before anything is sent', async (flags, words) => {
    const { exit, err } = await createCli()(['list', ...flags])
    expect(exit).toBe(2)
    expect(err).toContain(words)
  })
})

it.each([
  [['backup', 'x.db']],
  [['encrypt']],
  [['decrypt']],
  [['rekey']],
  [['serve']],
  [['mcp']],
  [['demo']],
  [['eval']],
  [['doctor', '--salvage']],
  [['keys', 'reset', '--yes']],
])('[CL12] %j is about this machine and refuses a server', async (argv) => {
  const cli = createCli()
  const { exit, out, err } = await cli([...argv, '--url', 'http://127.0.0.1:1'])
  expect({ exit, out }).toEqual({ exit: 2, out: '' })
  expect(err).toMatch(
    /works on this machine only, but --url names a server\.\nRun it without --url/,
  )
  const environment = { RECOLLECT_URL: 'http://127.0.0.1:1' }
  expect((await cli(argv, { environment })).err).toContain('RECOLLECT_URL names a server')
})

async function listen(handle: Parameters<typeof createServer>[1] & {}) {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(close)
  const { port } = server.address() as AddressInfo // it listens on a port
  return { url: `http://127.0.0.1:${port}`, close }
}

/** Ids in the order in which they were seen, so that two runs can be compared. */
class Names {
  readonly #seen = new Map<string, string[]>()

  normal(text: string): string {
    return (
      text
        .replace(/\b(mem|chg|key|aud)_[0-9a-z]{20,}\b/g, (id, kind: string) => {
          const all = this.#seen.get(kind) ?? []
          this.#seen.set(kind, all)
          if (!all.includes(id)) all.push(id)
          return `<${kind} ${all.indexOf(id) + 1}>`
        })
        .replace(/rc_\w{20,}[\w-]*/g, '<secret>')
        .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d\.\d{3}Z)?/g, '<time>')
        .replace(/\d{4}-\d\d-\d\d/g, '<day>')
        // A memory is a few milliseconds older in the second run.
        .replace(/\d+\.\d{6,}/g, (number) => Number(number).toFixed(4))
        .replace(/ --url http:[^\s)"]+/g, '')
        .replace(/"hitRate":.*?\}/g, '<cache>')
    )
  }

  get(kind: string, number: string): string {
    return this.#seen.get(kind)?.[Number(number) - 1] ?? `${kind}_none`
  }
}

/** Reading twice is reading once; what changes something is run in one form, now this, now that. */
function isRepeatable(line: string): boolean {
  return /^(list|get|search|history|doctor|settings( get.*)?$|owners$|audit)/.test(line)
}

let turn = 0

async function runLine(cli: Cli, line: string, form: readonly string[], names: Names) {
  const argv = line
    .replace(/\$(\d)/g, (_, number: string) => names.get('mem', number))
    .replace(/@(\d)/g, (_, number: string) => names.get('chg', number))
    .split(' ')
    .map((word) => (word.startsWith('--') ? word : word.replaceAll('_', ' ')))
    .map((word) => word.replace(/^(mem|chg|key) (\w+)/, '$1_$2').replaceAll(/,mem /g, ',mem_'))
  const isOdd = !isRepeatable(line) && Math.floor(turn++ / 2) % 2 === 1
  const ran = await cli([...argv, ...(isOdd ? ['--json'] : form)], {
    environment: STATIC,
    stdin: '',
  })
  return toComparable(ran, names)
}

function toComparable({ exit, out, err }: Ran, names: Names) {
  return { exit, out: names.normal(out), err: names.normal(err).replace(/"facts":\{.*?\}/, '') }
}
