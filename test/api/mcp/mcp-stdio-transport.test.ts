/** MCP over streams: both eras, nothing but the protocol in the output, and a clean end. */
import { PassThrough } from 'node:stream'
import { Client as ModernClient } from '@modelcontextprotocol/client'
import { Client as FirstClient } from '@modelcontextprotocol/sdk/client/index.js'
import { afterEach, describe, expect, it } from 'vitest'
import { localCaller, serveStdio } from '../../../src/api/mcp/stdio-transport.ts'
import { createEngine } from '../../../src/app/composition.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { contextsOf, toTestClient, transportOver, VERSION } from './mcp-support.ts'

const INFO = { name: 'tests', version: '1.0.0' }
const engines: Engine[] = []
afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.close())))

async function open(change: (engine: Engine) => Engine = (engine) => engine) {
  const engine = await createEngine({ embedding: false })
  engines.push(engine)
  const [stdin, stdout] = [new PassThrough(), new PassThrough()]
  const stop = new AbortController()
  let output = ''
  stdout.on('data', (piece: Buffer) => {
    output += piece.toString()
  })
  const ended = serveStdio({
    contextOf: contextsOf(change(engine)),
    version: VERSION,
    caller: localCaller('ann'),
    stdin,
    stdout,
    signal: stop.signal,
  })
  return { engine, stdin, stdout, stop, ended, output: () => output }
}

function request(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`
}

const HELLO = request(1, 'initialize', {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: INFO,
})

describe.each([
  ['SDK 1', () => new FirstClient(INFO)],
  ['SDK 2', () => new ModernClient(INFO)],
  ['SDK 2, auto', () => new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } })],
  [
    'SDK 2, pinned',
    () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  ],
] as const)('%s', (_, create) => {
  it('[MC6] calls tools over streams, for the one owner', async () => {
    const { engine, stdin, stdout, ended } = await open()
    const raw = create()
    await raw.connect(transportOver(stdin, stdout))
    const client = toTestClient(raw)
    expect(await client.tools()).toHaveLength(10)
    const added = await client.call('memory_add', { content: 'Ann sails on Sundays' })
    expect(added.structured).toMatchObject({ memory: { owner: 'ann' } })
    const reached = await client.call('memory_search', { query: 'sails', owner: 'ben' })
    expect(reached.text).toContain('Unknown field "owner"')
    expect((await engine.list({ owner: 'ann' })).rows).toHaveLength(1)
    await client.close()
    await ended
  })
})

describe('the end', () => {
  it('[MC6] answers requests that precede the end of the input', async () => {
    const { stdin, ended, output } = await open((engine) => ({
      ...engine,
      remember: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        return engine.remember(...given)
      },
    }))
    stdin.write(HELLO)
    stdin.end(
      request(2, 'tools/call', { name: 'memory_add', arguments: { content: 'Ann is late' } }),
    )
    await ended
    const answers = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(answers.map(({ id }) => id)).toEqual([1, 2])
    expect(answers[1].result.structuredContent.outcome).toBe('create')
  })

  it('[MC6] does not wait for what was taken back', async () => {
    const { stdin, ended, output } = await open((engine) => ({
      ...engine,
      recall: () => new Promise(() => {}),
    }))
    stdin.write(HELLO)
    stdin.write(
      request(2, 'tools/call', { name: 'memory_search', arguments: { query: 'anything' } }),
    )
    const cancelled = { requestId: 2 }
    stdin.end(
      `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: cancelled })}\n`,
    )
    await ended
    expect(output().trim().split('\n')).toHaveLength(1)
  })

  it('[MC6] ends at once on a signal', async () => {
    const { stdin, stop, ended } = await open()
    stdin.write(HELLO)
    stop.abort()
    await ended
    expect(stdin.destroyed).toBe(true)
    await serveStdio({
      contextOf: () => {
        throw new Error('nobody asked')
      },
      version: VERSION,
      caller: localCaller('ann', 'kim'),
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      signal: AbortSignal.abort(),
    })
  })

  it('[MC6] survives a client that stops reading', async () => {
    const { stdin, stdout, ended } = await open()
    stdout.destroy(new Error('EPIPE'))
    stdin.write(HELLO)
    await ended
  })

  it('[MC6] writes nothing but the protocol, for any input', async () => {
    const { stdin, ended, output } = await open()
    stdin.write('not json\n{"jsonrpc":"1.0"}\n\u0000\n[]\n{}\n')
    stdin.write(HELLO)
    stdin.write(Buffer.from([0xff, 0xfe, 0x0a]))
    stdin.end(request(2, 'nothing/here', {}))
    await ended
    const answers = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    for (const answer of answers) expect(answer).toMatchObject({ jsonrpc: '2.0' })
    expect(answers.find(({ id }) => id === 2)).toMatchObject({ error: { code: -32601 } })
  })
})
