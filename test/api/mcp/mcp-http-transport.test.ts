/** The HTTP side of the door: bad requests, clients that leave, failures inside, hostile input. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMcpHttpHandler } from '../../../src/api/mcp/http-transport.ts'
import { createEngine } from '../../../src/app/composition.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { ANN, CLIENTS, contextsOf, type Host, openHost, type TestClient } from './mcp-support.ts'

const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
}
const BODY_BYTES_MAX = 1_048_576

let host: Host
let client: TestClient

beforeAll(async () => {
  host = await openHost({ hasCompatibilityTools: true })
  client = await (CLIENTS['SDK 2, auto'] as (url: URL) => Promise<TestClient>)(host.url)
})
afterAll(async () => {
  await client.close()
  await host.close()
})

function post(body: string | Uint8Array, headers: { [name: string]: string } = JSON_HEADERS) {
  return fetch(host.url, { method: 'POST', headers, body: Buffer.from(body) })
}

function toolCall(name: string, given: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${given}}}`
}

describe('bad requests', () => {
  it('[MC5] are refused as the protocol says', async () => {
    const cases: readonly (readonly [string | Uint8Array, number, number])[] = [
      ['{', 400, -32700],
      ['', 400, -32700],
      [new Uint8Array([0x7b, 0xff, 0xfe]), 400, -32700],
      ['{"jsonrpc":"2.0"}', 400, -32600],
      [`"${'x'.repeat(BODY_BYTES_MAX)}"`, 413, -32000],
      [toolCall('memory_get', '[1]'), 200, -32602],
      [toolCall('memory_get', '"x"'), 200, -32602],
      [toolCall('constructor', '{}'), 200, -32602],
    ]
    for (const [body, status, code] of cases) {
      const answer = await post(body)
      const text = await answer.text()
      expect([text.slice(0, 200), answer.status]).toEqual([expect.anything(), status])
      const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
      expect(JSON.parse(data).error.code, text.slice(0, 200)).toBe(code)
      expect(text).not.toMatch(/node_modules|\.ts:|at \w+ \(/)
    }
    expect((await post('{}', { 'content-type': 'text/plain' })).status).toBe(415)
    expect((await fetch(host.url)).status).toBe(405)
    expect((await fetch(host.url, { method: 'DELETE' })).status).toBe(405)
    expect((await fetch(host.url, { method: 'HEAD' })).status).toBe(405)
  })

  it('[MC5] leave the door working', async () => {
    expect((await client.call('memory_status')).isError).toBe(false)
    expect(host.errors).toEqual([])
  })
})

describe('hostile input', () => {
  const deep = `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`
  const hostile: readonly string[] = [
    '{"constructor":{"prototype":{"role":"superadmin"}},"query":"x"}',
    '{"query":{"$ne":null}}',
    '{"query":["x"]}',
    '{"query":null}',
    '{"query":"x","limit":1e999}',
    '{"query":"x","limit":"10; drop table memory"}',
    '{"query":"x","createdFrom":"yesterday\\u0000"}',
    `{"query":"x","type":${JSON.stringify(Array(2_000).fill('factual'))}}`,
    `{"query":${deep}}`,
    `{"query":"x","scope":"everybody"}`,
  ]

  it('[MC5] changes nothing and is reported by field', async () => {
    for (const given of hostile) {
      const answer = await post(toolCall('memory_search', given))
      const text = await answer.text()
      const data = text.startsWith('{') ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? '{}')
      const { result } = JSON.parse(data)
      expect(result?.isError, given.slice(0, 80)).toBe(true)
      expect(result.content[0].text).toMatch(/^invalid_input: /)
    }
    expect((await host.engine.admin.listPlaces()).length).toBe(0)
    expect(host.errors).toEqual([])
  })

  it('[MC5] reaches no prototype', async () => {
    const input = '{"__proto__":{"owner":"ben","all":true},"content":"Ann is here"}'
    await (await post(toolCall('memory_add', input))).text()
    expect(Object.hasOwn(Object.prototype, 'owner')).toBe(false)
    expect((await host.engine.admin.listPlaces()).map(({ owner }) => owner)).toEqual(['ann'])
  })

  it('[MC5] any text is data, never a command', async () => {
    for (const text of [
      '\u0000\u0001',
      '"; DROP TABLE memory; --',
      '\ud800',
      '<|im_end|>',
      '{{7*7}}',
    ]) {
      const given = JSON.stringify({ query: text })
      const answer = await post(toolCall('memory_search', given))
      expect(answer.status).toBe(200)
      expect(await answer.text()).not.toContain('internal')
    }
    expect(host.errors).toEqual([])
  })
})

async function withDoor(engine: Engine, work: (url: string, errors: Error[]) => Promise<void>) {
  const errors: Error[] = []
  const door = createMcpHttpHandler({
    contextOf: contextsOf(engine),
    version: '1',
    onError: (error) => errors.push(error),
  })
  const server = createServer((request, response) => {
    door.handle(request, response, ANN).catch((error: Error) => errors.push(error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  try {
    await work(`http://127.0.0.1:${port}/mcp`, errors)
  } finally {
    await door.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
    await engine.close()
  }
}

it('[MC4] an internal error hides its details, and is logged', async () => {
  const engine = await createEngine({ embedding: false })
  const broken = { ...engine, recall: () => Promise.reject(new Error('SELECT secret FROM x')) }
  await withDoor(broken, async (url, errors) => {
    const body = toolCall('memory_search', '{"query":"x"}')
    const text = await (await fetch(url, { method: 'POST', headers: JSON_HEADERS, body })).text()
    expect(text).toContain('internal: A bug in Recollect.')
    expect(text).not.toContain('secret')
    expect(errors.map(({ message }) => message)).toEqual(['SELECT secret FROM x'])
  })
})

it.each([
  ['an older one', {}, undefined],
  [
    'a newer one',
    {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'memory_status',
    },
    {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'tests', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  ],
] as const)('[MC5] work stops when the client leaves: %s', async (_, headers, meta) => {
  const engine = await createEngine({ embedding: false })
  const { promise: begun, resolve: begin } = withResolvers<AbortSignal>()
  const door = createMcpHttpHandler({
    contextOf: (caller, signal) => ({
      ...contextsOf({
        ...engine,
        status: () => {
          begin(signal)
          return new Promise(() => {}) // as long as somebody waits
        },
      })(caller, signal),
    }),
    version: '1',
  })
  const server = createServer((request, response) => void door.handle(request, response, ANN))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo // it listens on a port
  const leave = new AbortController()
  const params = { name: 'memory_status', arguments: {}, ...(meta ? { _meta: meta } : {}) }
  const pending = fetch(`http://127.0.0.1:${port}/mcp`, {
    method: 'POST',
    headers: { ...JSON_HEADERS, ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    signal: leave.signal,
  }).then((answer) => answer.text())
  pending.catch(() => {})
  const signal = await begun
  expect(signal.aborted).toBe(false)
  const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve))
  leave.abort()
  await expect(pending).rejects.toThrow()
  await aborted
  await door.close()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  await engine.close()
})

function withResolvers<Value>() {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
