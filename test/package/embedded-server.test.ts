/** `recollect/server`: the server as a part of another program. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/index.ts'
import { createRequestHandler, startServer } from '../../src/server.ts'

async function openEngine() {
  const engine = await createEngine({ embedding: false, settings: { 'gateway.enabled': true } })
  onTestFinished(() => engine.close())
  return engine
}

function chat(url: string, key: string, model: string): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'What do I drink?' }] }),
  })
}

it('[ES1] serves REST, MCP, gateway and documentation over the engine', async () => {
  const engine = await openEngine()
  await engine.remember({ owner: 'default' }, { content: 'I drink green tea.' })
  const server = await startServer({ engine, port: 0 })
  onTestFinished(() => server.close())
  const { url, managementKey } = server
  const key = managementKey ?? ''
  expect(key).toMatch(/^rc_management_/)
  const headers = { authorization: `Bearer ${key}` }
  const listed = await fetch(`${url}/api/memory?owner=default`, { headers })
  expect(await listed.json()).toMatchObject({ data: [{ content: 'I drink green tea.' }] })
  expect((await chat(url, key, 'demo/echo')).status).toBe(200)
  expect((await fetch(`${url}/openapi.json`)).status).toBe(200)
  const mcp = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      ...headers,
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
  expect(await mcp.text()).toContain('memory_search')
})

it('[ES2] leaves the engine open when it closes', async () => {
  const engine = await openEngine()
  const server = await startServer({ engine, port: 0, auth: 'off' })
  await server.close()
  await expect(fetch(server.url)).rejects.toThrow()
  expect((await engine.remember({ owner: 'ada' }, { content: 'Still here.' })).outcome).toBe(
    'create',
  )
})

it("[ES3] answers requests of the program's own server", async () => {
  const engine = await openEngine()
  const memory = await createRequestHandler({ engine })
  const server = createServer((request, response) => {
    if (request.url === '/own') response.end('own')
    else memory.handle(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    await memory.close()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}` // it listens on a port
  expect(await (await fetch(`${url}/own`)).text()).toBe('own')
  expect((await fetch(`${url}/api/memory`)).status).toBe(401)
  const headers = { authorization: `Bearer ${memory.managementKey}` }
  expect((await fetch(`${url}/api/memory`, { headers })).status).toBe(200)
})

it('[ES4] refuses an option that it does not know', async () => {
  const engine = await openEngine()
  const options = { engine, auht: 'off' }
  await expect(startServer(options)).rejects.toThrow('no option "auht"')
})

it('[ES5] has only the providers of the given environment', async () => {
  const engine = await openEngine()
  const withKey = await startServer({
    ...{ engine, port: 0, auth: 'off' as const, backgroundJobs: false },
    environment: { ANTHROPIC_API_KEY: 'sk-ant-test' },
  })
  onTestFinished(() => withKey.close())
  const without = await startServer({ engine, port: 0, auth: 'off', backgroundJobs: false })
  onTestFinished(() => without.close())
  const providers = async (url: string) =>
    JSON.stringify(await (await fetch(`${url}/api/models`)).json())
  expect(await (await chat(without.url, '', 'anthropic/claude')).text()).toContain('Unknown model')
  expect(await providers(without.url)).not.toContain('anthropic')
})
