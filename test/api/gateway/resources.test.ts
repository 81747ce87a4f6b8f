/** What providers offer besides chat: passed through, and under the server's key each to its owner only. */
import Anthropic from '@anthropic-ai/sdk'
import OpenAI, { toFile } from 'openai'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { type GatewaySetup, keyFor, setUpGateway } from './support/gateway-harness.ts'
import type { Reply } from './support/scripted-upstream.ts'

const json = (value: object): Reply => ({
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(value),
})

const clientOf = ({ baseUrl, key }: GatewaySetup, apiKey = key) =>
  new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 })

const FILE = { id: 'file-ada0001', object: 'file', bytes: 3, purpose: 'batch', filename: 'a.txt' }

async function upload(setup: GatewaySetup, reply: object = FILE) {
  setup.upstream.queue(json(reply))
  return clientOf(setup).files.create({
    file: await toFile(Buffer.from('abc'), 'a.txt'),
    purpose: 'batch',
  })
}

describe('calls', () => {
  it('[GW25.1] reach the provider of the model, or the default, and come back as they are', async () => {
    const setup = await setUpGateway()
    const client = clientOf(setup)
    setup.upstream.queue(
      json({ id: 'cmpl-1', choices: [{ text: 'tea' }] }),
      json({ id: 'modr-1', results: [] }),
      json({ created: 1, data: [{ b64_json: 'AA==' }] }),
      { headers: { 'content-type': 'audio/mpeg' }, body: Buffer.from([1, 2, 255]) },
      json({ text: 'hello' }),
    )
    await client.completions.create({ model: 'openai/davinci', prompt: 'x' })
    await client.moderations.create({ input: 'x' })
    await client.images.generate({ model: 'gpt-image', prompt: 'x' })
    const speech = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'x' })
    expect(new Uint8Array(await speech.arrayBuffer())).toEqual(Uint8Array.of(1, 2, 255))
    const file = await toFile(Buffer.from('abc'), 'a.mp3')
    const transcript = await client.audio.transcriptions.create({ model: 'whisper', file })
    expect(transcript.text).toBe('hello')
    const [completion] = setup.upstream.requests
    expect(completion?.body.model).toBe('davinci')
    expect(setup.upstream.requests.map(({ path }) => path)).toEqual([
      ...['/v1/completions', '/v1/moderations', '/v1/images/generations'],
      ...['/v1/audio/speech', '/v1/audio/transcriptions'],
    ])
    expect(setup.upstream.last().text).toContain('whisper')
    expect(setup.upstream.last().headers.authorization).toBe('Bearer sk-upstream')
  })

  it('[GW25.1] count and compact the input of responses', async () => {
    const setup = await setUpGateway()
    setup.upstream.queue(json({ object: 'response.input_tokens', input_tokens: 7 }))
    const counted = await clientOf(setup).post<{ input_tokens: number }>(
      '/responses/input_tokens',
      { body: { model: 'gpt-test', input: [{ id: 'msg_own12345', role: 'user', content: 'Hi' }] } },
    )
    expect(counted.input_tokens).toBe(7)
    const stolen = clientOf(setup).post('/responses/compact', {
      body: { model: 'gpt-test', previous_response_id: 'resp_somebodys' },
    })
    await expect(stolen).rejects.toMatchObject({ status: 400, param: 'previous_response_id' })
  })

  it('[GW25.2] go to the provider that a header names', async () => {
    const setup = await setUpGateway('memory off', {
      providers: (url) => ({
        openai: { kind: 'openai', baseUrl: `${url}/v1`, key: 'sk-upstream' },
        other: { kind: 'openai', baseUrl: `${url}/other/v1`, key: 'sk-other' },
      }),
    })
    const client = clientOf(setup)
    setup.upstream.queue(json({ results: [] }))
    const headers = { 'x-recollect-provider': 'Other' }
    await client.moderations.create({ input: 'x' }, { headers })
    expect(setup.upstream.last()).toMatchObject({ path: '/other/v1/moderations' })
    const unknown = client.moderations.create(
      { input: 'x' },
      { headers: { 'x-recollect-provider': 'nobody' } },
    )
    await expect(unknown).rejects.toMatchObject({ status: 400, param: 'x-recollect-provider' })
  })
})

describe('bodies', () => {
  it('[GW25.3] stream to the provider without a limit, byte for byte', async () => {
    const setup = await setUpGateway('memory off', { bodyBytesMax: 1_000 })
    setup.upstream.queue(json(FILE))
    const bytes = new Uint8Array(3 * 1_048_576).map((_, index) => index % 251)
    const response = await fetch(`${setup.baseUrl}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${setup.key}`,
        'content-type': 'multipart/form-data; boundary=x',
      },
      body: bytes,
    })
    expect(response.status).toBe(200)
    const { headers, bytes: received } = setup.upstream.last()
    expect(Buffer.compare(received, bytes)).toBe(0)
    expect(headers['content-length']).toBe(String(bytes.length))
    expect(headers['content-type']).toBe('multipart/form-data; boundary=x')
  })

  it('[GW25.3] of unknown length are sent in chunks, and those that break off are not complete', async () => {
    const setup = await setUpGateway('memory off')
    setup.upstream.respond(() => json(FILE))
    const leaving = new AbortController()
    const post = (isComplete: boolean) => {
      const body = new ReadableStream({
        start(controller) {
          controller.enqueue(new Uint8Array(10))
          if (isComplete) controller.close()
        },
      })
      return fetch(`${setup.baseUrl}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${setup.key}`, 'content-type': 'text/plain' },
        ...{ body, duplex: 'half', signal: leaving.signal },
      } as RequestInit) // `duplex` is missing in the types
    }
    expect((await post(true)).status).toBe(200)
    expect(setup.upstream.last().headers['transfer-encoding']).toBe('chunked')
    expect(setup.upstream.last().bytes).toHaveLength(10)
    setTimeout(() => leaving.abort(), 50)
    await expect(post(false)).rejects.toThrow()
    await upload(setup)
    expect(setup.upstream.requests).toHaveLength(2)
  })

  it('[GW25.3] stream back as they come, however long', async () => {
    const setup = await setUpGateway()
    await upload(setup)
    const line = Buffer.from(`${'x'.repeat(1_023)}\n`)
    function* lines() {
      for (let count = 0; count < 20_000; count++) yield line
    }
    setup.upstream.queue({ headers: { 'content-type': 'application/jsonl' }, body: lines() })
    const content = await clientOf(setup).files.content(FILE.id)
    expect((await content.arrayBuffer()).byteLength).toBe(20_000 * 1_024)
  })
})

describe('under the key of the server', () => {
  it('[GW26.1] what an owner uploads is read, used and deleted by that owner only', async () => {
    const setup = await setUpGateway()
    expect((await upload(setup)).id).toBe(FILE.id)
    const own = clientOf(setup)
    const foreign = clientOf(setup, await keyFor(setup.engine, 'grace'))
    const before = setup.upstream.requests.length
    for (const call of [
      () => foreign.files.retrieve(FILE.id),
      () => foreign.files.content(FILE.id),
      () => foreign.files.delete(FILE.id),
    ]) {
      await expect(call()).rejects.toMatchObject({ status: 404 })
    }
    const batch = {
      ...{ input_file_id: FILE.id, endpoint: '/v1/chat/completions' as const },
      completion_window: '24h' as const,
    }
    await expect(foreign.batches.create(batch)).rejects.toMatchObject({
      status: 400,
      param: 'input_file_id',
    })
    expect(setup.upstream.requests).toHaveLength(before)
    setup.upstream.queue(
      json({ id: 'batch_ada0001', object: 'batch', output_file_id: 'file-out0001' }),
      json(FILE),
    )
    await own.batches.create(batch)
    await own.files.retrieve(FILE.id)
    // What an answer hands out belongs to the owner as well.
    setup.upstream.queue({ headers: { 'content-type': 'text/plain' }, body: 'result' })
    expect(await (await own.files.content('file-out0001')).text()).toBe('result')
    await expect(foreign.files.content('file-out0001')).rejects.toMatchObject({ status: 404 })
  })

  it('[GW26.1] ids belong to their owner after a restart as well', async () => {
    const engine = await createEngine({
      ...{ embedding: false, settings: { 'server.requestsPerMinute': 0 } },
    })
    const before = await setUpGateway('memory off', { engine })
    await upload(before)
    const after = await setUpGateway('memory off', { engine })
    after.upstream.queue(json(FILE))
    expect((await clientOf(after, before.key).files.retrieve(FILE.id)).id).toBe(FILE.id)
    const foreign = clientOf(after, await keyFor(engine, 'grace'))
    await expect(foreign.files.retrieve(FILE.id)).rejects.toMatchObject({ status: 404 })
  })

  it('[GW26.2] lists hold what belongs to the owner, and cursors of nobody else', async () => {
    const setup = await setUpGateway()
    await upload(setup)
    const other = (number: number) => ({ ...FILE, id: `file-other00${number}` })
    const page = (data: readonly { readonly id: string }[], hasMore: boolean) =>
      json({
        ...{ object: 'list', data, has_more: hasMore },
        ...{ first_id: data[0]?.id, last_id: data.at(-1)?.id },
      })
    setup.upstream.queue(page([other(1), other(2)], true), page([FILE, other(3)], false))
    const listed = await clientOf(setup).files.list()
    expect(listed.data.map(({ id }) => id)).toEqual([FILE.id])
    expect(setup.upstream.last().path).toContain('after=file-other002')
    setup.upstream.queue(page([other(1), FILE, other(3)], true))
    const text = await (
      await fetch(`${setup.baseUrl}/files`, {
        headers: { authorization: `Bearer ${setup.key}` },
      })
    ).text()
    expect(JSON.parse(text)).toMatchObject({ first_id: FILE.id, last_id: FILE.id, has_more: true })
    expect(text).not.toContain('file-other')
  })

  it('[GW26.3] a path that the gateway does not know is not reached', async () => {
    const setup = await setUpGateway('memory off')
    for (const path of [
      '/organization/users',
      '/files/..%2fmodels',
      '/files/a%2e',
      '/assistants',
    ]) {
      const response = await fetch(`${setup.baseUrl}${path}`, {
        headers: { authorization: `Bearer ${setup.key}` },
      })
      expect(response.status, path).toBe(404)
    }
    expect(setup.upstream.requests).toHaveLength(0)
  })

  it('[GW26.4] a key with read access neither creates nor deletes', async () => {
    const setup = await setUpGateway()
    await upload(setup)
    const { secret } = await setup.engine.admin.keys.create({
      ...{ name: 'reader', defaultOwner: 'ada', role: 'reader' },
    })
    const reader = clientOf(setup, secret)
    await expect(reader.files.delete(FILE.id)).rejects.toMatchObject({ status: 403 })
    await expect(reader.conversations.create({})).rejects.toMatchObject({ status: 403 })
    setup.upstream.queue(json(FILE))
    expect((await reader.files.retrieve(FILE.id)).id).toBe(FILE.id)
  })

  it('[GW26.1] conversations, vector stores and stored chat completions are owned alike', async () => {
    const setup = await setUpGateway()
    const own = clientOf(setup)
    const foreign = clientOf(setup, await keyFor(setup.engine, 'grace'))
    setup.upstream.queue(
      json({ id: 'conv_ada0001', object: 'conversation' }),
      json({ id: 'vs_ada00001', object: 'vector_store' }),
    )
    const conversation = await own.conversations.create({})
    const store = await own.vectorStores.create({ name: 'notes' })
    await expect(foreign.conversations.retrieve(conversation.id)).rejects.toMatchObject({
      status: 404,
    })
    await expect(foreign.vectorStores.files.list(store.id)).rejects.toMatchObject({ status: 404 })
    await expect(foreign.chat.completions.retrieve('chatcmpl-ada001')).rejects.toMatchObject({
      status: 404,
    })
    setup.upstream.queue(json({ object: 'list', data: [], has_more: false }))
    expect((await own.chat.completions.list()).data).toEqual([])
    expect(setup.upstream.last()).toMatchObject({ method: 'GET', path: '/v1/chat/completions' })
  })

  it('[GW26.1] batches and files of Anthropic are owned alike', async () => {
    const setup = await setUpGateway()
    const anthropic = (apiKey: string) =>
      new Anthropic({ baseURL: setup.url, apiKey, maxRetries: 0 })
    setup.upstream.queue(json({ id: 'msgbatch_ada0001', type: 'message_batch' }))
    const requests = [
      {
        custom_id: 'one-request',
        params: {
          ...{ model: 'claude-test', max_tokens: 5 },
          messages: [{ role: 'user' as const, content: 'Hi' }],
        },
      },
    ]
    const { id } = await anthropic(setup.key).messages.batches.create({ requests })
    const foreign = anthropic(await keyFor(setup.engine, 'grace'))
    await expect(foreign.messages.batches.retrieve(id)).rejects.toMatchObject({
      status: 404,
      error: { type: 'error', error: { type: 'not_found_error' } },
    })
    setup.upstream.queue(json({ id, type: 'message_batch' }))
    expect((await anthropic(setup.key).messages.batches.retrieve(id)).id).toBe(id)
    expect(setup.upstream.last()).toMatchObject({
      path: `/v1/messages/batches/${id}`,
      headers: { 'x-api-key': 'sk-ant-upstream' },
    })
  })
})

it('[GW26.1] memory stores of Anthropic are owned alike', async () => {
  const setup = await setUpGateway()
  const storesOf = (apiKey: string) =>
    new Anthropic({ baseURL: setup.url, apiKey, maxRetries: 0 }).beta.memoryStores
  const [own, foreign] = [storesOf(setup.key), storesOf(await keyFor(setup.engine, 'grace'))]
  const store = { id: 'memstore_ada0001', type: 'memory_store', name: 'Notes' }
  const memory = { id: 'mem_ada0000001', type: 'memory', path: '/tea.md' }
  setup.upstream.queue(json(store), json(memory), json({ ...memory, content: 'Jasmine' }))
  const { id } = await own.create({ name: 'Notes' })
  const made = await own.memories.create(id, { path: '/tea.md', content: 'Jasmine' })
  await own.memories.retrieve(made.id, { memory_store_id: id })
  expect(setup.upstream.requests.map(({ path }) => path.replace(/\?.*/, ''))).toEqual([
    '/v1/memory_stores',
    `/v1/memory_stores/${id}/memories`,
    `/v1/memory_stores/${id}/memories/${made.id}`,
  ])
  expect(setup.upstream.last().headers['x-api-key']).toBe('sk-ant-upstream')
  for (const refused of [
    () => foreign.retrieve(id),
    () => foreign.memories.create(id, { path: '/a.md', content: 'x' }),
    () => foreign.memories.delete(made.id, { memory_store_id: id }),
    () => foreign.archive(id),
  ]) {
    await expect(refused()).rejects.toMatchObject({ status: 404 })
  }
  const page = { data: [store, { ...store, id: 'memstore_grace01' }], next_page: null }
  setup.upstream.queue(json(page))
  expect((await own.list()).data.map((each) => each.id)).toEqual([id])
  setup.upstream.queue(json(page))
  expect((await foreign.list()).data).toEqual([])
  expect(setup.upstream.requests).toHaveLength(5)
})

it("[GW25.4] under the client's own key everything is passed on, and the provider decides", async () => {
  const setup = await setUpGateway('memory off', {
    providers: (url) => ({ openai: { kind: 'openai', baseUrl: `${url}/v1`, key: null } }),
  })
  setup.upstream.queue(json({ data: [{ id: 'user_1' }] }), json(FILE))
  const headers = { 'x-recollect-key': setup.key, authorization: 'Bearer sk-client' }
  const users = await fetch(`${setup.baseUrl}/organization/users?limit=2`, { headers })
  expect(await users.json()).toEqual({ data: [{ id: 'user_1' }] })
  expect(setup.upstream.last()).toMatchObject({
    path: '/v1/organization/users?limit=2',
    headers: { authorization: 'Bearer sk-client' },
  })
  const file = await fetch(`${setup.baseUrl}/files/file-unknown1`, { headers })
  expect(file.status).toBe(200)
})
