/** MCP as it is served: behind the real HTTP door, with keys, and before the official conformance suite. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Client as ModernClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMcpHttpHandler } from '../../src/api/mcp/http-transport.ts'
import { createEngine } from '../../src/app/composition.ts'
import { serve } from '../../src/app/serve.ts'
import { contextsOf, toTestClient, VERSION } from '../api/mcp/mcp-support.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const INFO = { name: 'tests', version: '1.0.0' }
const PROGRAM = resolve('dist/app/cli-main.js')
const isBuilt = existsSync(PROGRAM) && existsSync('dist/api/mcp/stdio-transport.js')
const lts = await import(pathToFileURL(resolve('test/lts/run.mjs')).href)
/** The suite needs functions of Node that 20 does not have. */
const newerNode: string | null = lts.ltsNode()

async function start(auth: 'keys' | 'off' = 'keys', requestsPerMinute = 0) {
  const engine = await createEngine({
    embedding: false,
    settings: { 'server.requestsPerMinute': requestsPerMinute },
  })
  const door = createMcpHttpHandler({ contextOf: contextsOf(engine), version: VERSION })
  const mounts = [{ path: '/mcp', handle: door.handle }]
  const options = { host: '127.0.0.1', port: 0, version: VERSION, engine, auth, mounts }
  const serving = await serve(options)
  onTestFinished(async () => {
    await door.close()
    await serving.close()
    await engine.close()
  })
  return { engine, url: `${serving.url}/mcp` }
}

async function connect(url: string, key: string) {
  const client = new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } })
  const headers = { authorization: `Bearer ${key}` }
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return toTestClient(client)
}

it('[MC3] a key says whose memories a model gets', async () => {
  const { engine, url } = await start()
  const secrets = await Promise.all(
    ['ann', 'ben'].map((home) =>
      engine.admin.keys.create({ name: home, defaultOwner: home, role: 'agent' }),
    ),
  )
  const [ann, ben] = await Promise.all(secrets.map(({ secret }) => connect(url, secret)))
  await ann?.call('memory_add', { content: 'Ann keeps bees' })
  expect((await ann?.call('memory_search', { query: 'bees' }))?.text).toContain('Ann keeps bees')
  expect((await ben?.call('memory_search', { query: 'bees' }))?.structured.results).toEqual([])
  // An agent may bin what it finds, but not clear everything.
  expect((await ann?.tools())?.map(({ name }) => name)).not.toContain('memory_clear')
  expect((await ann?.call('memory_clear', { all: true }))?.text).toMatch(/^forbidden: /)
  await expect(connect(url, 'rc_wrong')).rejects.toThrow()
})

it('[MC10] every message of a batch counts as a request, and too many are not begun', async () => {
  const { engine, url } = await start('keys', 20)
  const { secret } = await engine.admin.keys.create({
    name: 'ann',
    defaultOwner: 'ann',
    role: 'agent',
  })
  const message = (id: number) => ({
    ...{ jsonrpc: '2.0', id, method: 'tools/call' },
    params: { name: 'memory_add', arguments: { content: `Ann has seen film ${id}` } },
  })
  const send = (from: number, count: number) =>
    fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: ` ${JSON.stringify(Array.from({ length: count }, (_, at) => message(from + at)))}`,
    })
  const fitting = await send(0, 8)
  expect([fitting.status, fitting.headers.get('ratelimit-remaining')]).toEqual([200, '12'])
  await fitting.text()
  const flood = await send(100, 100)
  expect([flood.status, Number(flood.headers.get('retry-after'))]).toEqual([
    429,
    expect.toSatisfy((seconds: number) => seconds > 0),
  ])
  expect(await flood.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32_000 } })
  expect((await engine.list({ owner: 'ann' }, { limit: 50 })).rows).toHaveLength(8)
})

describe.skipIf(newerNode === null)(
  'the conformance suite (skipped without the newer Node of test/lts)',
  () => {
    it('[MC5] passes what applies, and nothing that is expected to fail passes', async () => {
      const { url } = await start('off')
      const { code, output } = await runSuite(url)
      expect(output).toContain('✓ server-initialize: 1 passed')
      expect(output).toContain('✓ ping: 1 passed')
      expect(output).toContain('✓ tools-list: 1 passed')
      expect(output).toContain('✓ dns-rebinding-protection: 2 passed')
      expect(code, output.slice(-3_000)).toBe(0)
    }, 120_000)
  },
)

function runSuite(url: string): Promise<{ readonly code: unknown; readonly output: string }> {
  const suite = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const expected = resolve('test/e2e/mcp-conformance.yml')
  const flags = ['server', '--url', url, '--suite', 'all', '--expected-failures', expected]
  return new Promise((settle) => {
    execFile(
      newerNode ?? '',
      [suite, ...flags],
      { cwd: temporaryFolder() },
      (error, stdout, stderr) =>
        settle({ code: error === null ? 0 : error.code, output: stdout + stderr }),
    )
  })
}

describe.skipIf(!isBuilt)('the program (skipped when dist is not built)', () => {
  it('[MC6] speaks MCP when a client starts it', async () => {
    const client = new FirstClient(INFO)
    const env = { PATH: process.env.PATH ?? '', HOME: temporaryFolder() }
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [PROGRAM, 'mcp', '--owner', 'ann', '--data', temporaryFolder()],
        env,
        stderr: 'ignore',
      }),
    )
    onTestFinished(() => client.close())
    const tested = toTestClient(client)
    await tested.call('memory_add', { content: 'Ann paints on Fridays' })
    const found = await tested.call('memory_search', { query: 'paints' })
    expect(found.text).toContain('Ann paints on Fridays')
  }, 60_000)
})
