/** Commands that open doors: serve, mcp and connect. */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { ServeOptions } from '../../../src/api/cli/host.ts'
import { serveMcpStdio } from '../../../src/app/mcp-mount.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { added, createCli } from './cli-host.ts'

/** Serves for real until the work is done. */
async function whileServing(
  argv: readonly string[],
  work: (url: string, options: ServeOptions) => Promise<void>,
  folder?: string,
) {
  const cli = createCli(folder)
  const stop = new AbortController()
  const ran = await cli(['serve', '--port', '0', ...argv], {
    stop: stop.signal,
    serve: async (options, start) => {
      const serving = await start(options)
      void work(serving.url, options).finally(() => stop.abort())
      return serving
    },
  })
  return Object.assign(ran, { folder: cli.folder })
}

describe('serve', () => {
  it('[CL17] shows the first key once, and it opens the server', async () => {
    let status = 0
    const first = await whileServing([], async (url) => {
      status = (await fetch(`${url}/api/keys`)).status
    })
    expect(status).toBe(401)
    expect(first).toMatchObject({ exit: 0, err: 'Stopping…\n' })
    expect(first.out).toMatch(
      /listens on http:\/\/127\.0\.0\.1:\d+\nMemories: .+\nStudio: .+token=/,
    )
    const key = /^ {2}(rc_\S+)$/m.exec(first.out)?.[1] ?? ''
    expect(first.out).toContain('is shown only once')
    const second = await whileServing(
      [],
      async (url) => {
        const headers = { authorization: `Bearer ${key}` }
        status = (await fetch(`${url}/api/keys`, { headers })).status
      },
      first.folder,
    )
    expect(status).toBe(200)
    expect(second.out).not.toContain('rc_')
  })

  it('[CL18] the same port answers MCP at /mcp', async () => {
    let answer: unknown
    const call = { jsonrpc: '2.0', id: 1, method: 'initialize' }
    const params = {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'a test', version: '1' },
    }
    await whileServing(['--no-auth'], async (url) => {
      const response = await fetch(`${url}/mcp`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
        },
        body: JSON.stringify({ ...call, params }),
      })
      answer = await response.text()
    })
    expect(answer).toContain('"serverInfo":{')
  })

  it('[CL17] with --json the address and the first key are one value', async () => {
    const { json } = await whileServing(['--json'], async () => {})
    expect(json).toEqual({
      url: expect.stringMatching(/^http:/),
      managementKey: expect.stringMatching(/^rc_/),
      signInUrl: expect.stringMatching(/\/studio\/sign-in\?token=[\w-]{40,}$/),
    })
  })

  it('[CL17] serves without keys only on loopback', async () => {
    let status = 0
    const ran = await whileServing(['--no-auth'], async (url) => {
      status = (await fetch(`${url}/api/status`)).status
    })
    expect(status).toBe(200)
    expect(ran.err).toMatch(/^Warning: Keys are off/)
    expect(ran.out).not.toContain('rc_')
    const cli = createCli()
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.org']) {
      const refused = await cli(['serve', '--no-auth', '--host', host])
      expect(refused).toMatchObject({ exit: 2, out: '' })
      expect(refused.err).toContain(`--no-auth would give access to anyone who can reach ${host}.`)
    }
  })

  it('[CL17] hands on what flags and variables say, flags first', async () => {
    const seen: ServeOptions[] = []
    const take = async (options: ServeOptions) => {
      seen.push(options)
      return { url: 'http://here', warnings: ['mind the gap'], close: async () => {} }
    }
    const environment = {
      RECOLLECT_TLS_CERT: 'env.crt',
      RECOLLECT_TLS_KEY: 'env.key',
      RECOLLECT_TRUST_PROXY: '1',
      RECOLLECT_ALLOWED_HOSTS: 'a.example, b.example',
      RECOLLECT_ALLOWED_ORIGINS: 'https://app.example',
    }
    const around = { serve: take, stop: AbortSignal.abort(), environment }
    const { err } = await createCli()(['serve', '--allow-host', 'c.example'], around)
    expect(err).toContain('Warning: mind the gap\n')
    expect(seen[0]).toMatchObject({
      auth: 'keys',
      tls: { certFile: 'env.crt', keyFile: 'env.key' },
      trustProxy: true,
      allowedHosts: ['a.example', 'b.example', 'c.example'],
      allowedOrigins: ['https://app.example'],
    })
    const flags = ['--tls-cert', 'flag.crt', '--tls-key', 'flag.key']
    await createCli()(['serve', ...flags], around)
    expect(seen[1]?.tls).toEqual({ certFile: 'flag.crt', keyFile: 'flag.key' })
    expect(seen[1]?.embeddingProviders).toContainEqual(
      expect.objectContaining({ provider: 'transformers', hasKey: true }),
    )
    const alone = await createCli()(['serve', '--tls-cert', 'x'], { serve: take })
    expect(alone.err).toContain('--tls-cert and --tls-key must be set together.')
  })
})

it('[CL18] mcp answers a client on the streams of the process, for the owner that is named', async () => {
  const cli = createCli()
  await added(cli, '--owner', 'ada', 'I like tea')
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const messages = [
    {
      method: 'initialize',
      id: 1,
      params: {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'a test', version: '1' },
      },
    },
    { method: 'notifications/initialized' },
    { method: 'tools/list', id: 2, params: {} },
    {
      method: 'tools/call',
      id: 3,
      params: { name: 'memory_search', arguments: { query: 'tea' } },
    },
  ]
  for (const message of messages) {
    stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  stdin.end()
  const output = text(stdout)
  const ran = await cli(['mcp', '--owner', 'ada', '--compatibility-tools'], {
    serveMcp: async (options) => {
      await serveMcpStdio(options, { stdin, stdout })
      stdout.end()
    },
  })
  expect(ran).toMatchObject({ exit: 0, out: '', err: '' })
  const answers = (await output)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const answerTo = (id: number) => answers.find((answer) => answer.id === id)?.result
  const tools = answerTo(2).tools.map(({ name }: { name: string }) => name)
  expect(tools).toEqual(expect.arrayContaining(['memory_search', 'omniroute_memory_search']))
  expect(JSON.stringify(answerTo(3))).toContain('I like tea')
})

describe('connect', () => {
  it('[CL19] leaves a link to the file one, and its rights as they were', async () => {
    const home = temporaryFolder()
    const [real, folder] = [join(home, 'dotfiles.json'), join(home, '.cursor')]
    mkdirSync(folder)
    writeFileSync(real, '{}\n')
    chmodSync(real, 0o644)
    symlinkSync(real, join(folder, 'mcp.json'))
    expect((await createCli()(['connect', 'cursor', '--yes'], { home })).exit).toBe(0)
    expect(lstatSync(join(folder, 'mcp.json')).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('recollect')
    expect(statSync(real).mode & 0o777).toBe(0o644)
  })

  it('[CL19] shows the change, asks, writes it and saves a copy', async () => {
    const cli = createCli()
    const home = temporaryFolder()
    const folder = join(home, '.cursor')
    const file = join(folder, 'mcp.json')
    mkdirSync(folder)
    const before = '{\n  // mine\n  "mcpServers": { "other": { "command": "x" } }\n}\n'
    writeFileSync(file, before)
    const argv = ['connect', 'cursor', '--owner', 'ada']
    expect(await cli(argv, { home, stdin: '' })).toMatchObject({ exit: 2 })
    const refused = await cli(argv, { home, columns: 80, answers: [false] })
    expect(refused).toMatchObject({ exit: 130, asked: [`Change ${file}?`] })
    expect(refused.err).toMatch(/\n\+.*recollect/)
    expect(readFileSync(file, 'utf8')).toBe(before)
    const done = await cli(argv, { home, columns: 80, answers: [true] })
    expect(done.out).toMatch(/^Cursor is connected\.\nThe file as it was: .*backup\n/)
    const written = readFileSync(file, 'utf8')
    expect(written).toContain('// mine')
    expect(JSON.parse(written.replace('// mine', '')).mcpServers).toMatchObject({
      other: { command: 'x' },
      recollect: {
        command: '/usr/bin/node',
        args: expect.arrayContaining(['/opt/recollect/cli-main.js', '--owner', 'ada', cli.folder]),
      },
    })
    const copies = readdirSync(folder).filter((name) => name !== 'mcp.json')
    expect(copies.map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual([before])
    expect((await cli(argv, { home })).out).toMatch(/^Cursor is connected already/)
    const removed = await cli(['connect', 'cursor', '--remove', '--yes'], { home })
    expect(removed.out).toMatch(/^Cursor is no longer connected\./)
    expect(readFileSync(file, 'utf8')).not.toContain('recollect')
    expect(readFileSync(file, 'utf8')).toContain('"other"')
    expect((await cli(['connect', 'cursor', '--remove'], { home })).out).toContain('no such entry')
  })

  it('[CL19] a server entry has its key, and --print writes nothing', async () => {
    const cli = createCli()
    const home = temporaryFolder()
    const remote = ['--url', 'http://127.0.0.1:20128', '--key', 'rc_x']
    const { out } = await cli(['connect', 'claude-code', '--print', ...remote], { home })
    expect(JSON.parse(out).mcpServers.recollect).toEqual({
      type: 'http',
      url: 'http://127.0.0.1:20128/mcp',
      headers: { Authorization: 'Bearer rc_x' },
    })
    expect(readdirSync(home)).toEqual([])
    const referred = await cli(['connect', 'cursor', '--print', ...remote], { home })
    expect(referred.out).toContain(`Bearer \${env:RECOLLECT_API_KEY}`)
    expect(referred.out).not.toContain('rc_x')
    const plain = await cli(['connect', 'cursor', '--print', '--plain-key', ...remote], { home })
    expect(plain.out).toContain('Bearer rc_x')
    const advised = await cli(['connect', 'gemini', '--yes', ...remote], { home })
    expect(advised.out).toContain('set RECOLLECT_API_KEY where it is started')
    const made = await cli(['connect', 'claude-code', '--yes', '--json'], { home })
    expect(made.json).toMatchObject({ client: 'claude-code', changed: true, backup: null })
    expect((await cli(['connect', 'claude-desktop', '--yes', ...remote], { home })).exit).toBe(2)
  })

  it('[CL5] a client with a typo gets a suggestion', async () => {
    const { exit, err } = await createCli()(['connect', 'claude-dekstop'])
    expect(exit).toBe(2)
    expect(err).toContain('Did you mean claude-desktop?')
  })
})
