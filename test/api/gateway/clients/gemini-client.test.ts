/** Google's client library, at the gateway as at Gemini, where it can be installed. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { importPart, installPart, partFolder } from '../../../support/part.ts'
import {
  eventually,
  FACT,
  FENCE,
  type GatewaySetup,
  MODES,
  OWNER,
  occurrences,
  QUESTION,
  type Setup,
  setUp,
  setUpGateway,
} from '../support/gateway-harness.ts'
import type { Received, Reply } from '../support/scripted-upstream.ts'
import { toSse } from '../support/wire-format.ts'

const missing = await installPart('clients', '@google/genai')
const MODEL = 'gemini-3-pro'
const ANSWER = 'Jasmine, of course: 茉莉花茶 ☕️'
const WEATHER = { name: 'weather', description: 'Tells the weather.', parametersJsonSchema: {} }
const providers = (url: string) => ({
  gemini: { kind: 'gemini', baseUrl: `${url}/v1beta/openai`, key: 'goog-upstream' },
})

type Part = {
  readonly text?: string
  readonly functionCall?: object
  readonly thought?: boolean
  readonly thoughtSignature?: string
}
type Content = { readonly role: string; readonly parts: readonly object[] }
type Answer = {
  readonly text?: string
  readonly functionCalls?: readonly { readonly name?: string; readonly id?: string }[]
  readonly responseId?: string
  readonly usageMetadata?: { readonly promptTokenCount?: number; readonly totalTokenCount?: number }
  readonly candidates?: readonly { readonly content?: Content; readonly finishReason?: string }[]
}
/** What the tests use of the package. */
type Client = {
  readonly models: {
    generateContent(asked: object): Promise<Answer>
    generateContentStream(asked: object): Promise<AsyncIterable<Answer>>
    countTokens(asked: object): Promise<{ readonly totalTokens?: number }>
    embedContent(asked: object): Promise<{ readonly embeddings?: readonly object[] }>
    list(): Promise<AsyncIterable<{ readonly name?: string; readonly inputTokenLimit?: number }>>
    get(asked: object): Promise<{ readonly name?: string }>
  }
}

async function clientOf({ url, key }: Pick<Setup, 'url' | 'key'>): Promise<Client> {
  const { GoogleGenAI } = await importPart<{
    readonly GoogleGenAI: new (options: object) => Client
  }>('clients', '@google/genai')
  return new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: url } })
}

function chunkOf(parts: readonly Part[], finishReason?: string): object {
  return {
    candidates: [
      { content: { role: 'model', parts }, index: 0, ...(finishReason && { finishReason }) },
    ],
    usageMetadata: { promptTokenCount: 31, candidatesTokenCount: 17, totalTokenCount: 48 },
    modelVersion: MODEL,
    responseId: 'resp-1',
  }
}

/** An answer as the service sends it: whole, or in events of a few characters. */
function speakGemini({ path }: Received, parts: readonly Part[]): Reply {
  const headers = { 'x-gemini-service-tier': 'standard' }
  if (!path.includes(':streamGenerateContent')) {
    const body = JSON.stringify(chunkOf(parts, 'STOP'), null, 2)
    return { headers: { ...headers, 'content-type': 'application/json; charset=UTF-8' }, body }
  }
  const pieces = parts.flatMap((part) =>
    part.text === undefined
      ? [part]
      : (part.text.match(/.{1,6}/gsu) ?? []).map((text) => ({ ...part, text })),
  )
  const chunks = pieces.map((part, index) =>
    chunkOf([part], index === pieces.length - 1 ? 'STOP' : undefined),
  )
  return {
    headers: { ...headers, 'content-type': 'text/event-stream' },
    body: toSse(
      chunks.map((data) => ({ name: null, data })),
      '\n',
    ).replaceAll('\n', '\r\n'),
  }
}

function answerWith(setup: Setup, ...rounds: readonly (readonly Part[])[]): void {
  setup.upstream.queue(...rounds.map((parts) => (request: Received) => speakGemini(request, parts)))
}

async function textOf(stream: AsyncIterable<Answer>): Promise<string> {
  let text = ''
  for await (const { text: piece } of stream) text += piece ?? ''
  return text
}

const config = { systemInstruction: 'You are a barista.', maxOutputTokens: 200 }
const asked = { model: MODEL, contents: QUESTION, config }

describe.skipIf(missing !== null)(`@google/genai${missing === null ? '' : `: ${missing}`}`, () => {
  describe.each(MODES)('%s', (mode) => {
    it.each(['whole', 'streamed'])('[GW30.1] answers %s, with only a block added', async (way) => {
      const setup = await setUp(mode, { providers })
      answerWith(setup, [{ text: ANSWER }])
      const client = await clientOf(setup)
      const text =
        way === 'whole'
          ? (await client.models.generateContent(asked)).text
          : await textOf(await client.models.generateContentStream(asked))
      expect(text).toBe(ANSWER)
      const received = setup.upstream.last()
      const action = way === 'whole' ? 'generateContent' : 'streamGenerateContent?alt=sse'
      expect(received.path).toBe(`/v1/models/${MODEL}:${action}`)
      expect(occurrences(received.text, FENCE)).toBe(mode === 'memory on' ? 1 : 0)
      expect(received.body.systemInstruction.parts).toEqual([{ text: 'You are a barista.' }])
      expect(received.body.contents[0].parts[0]).toEqual({ text: QUESTION })
      if (mode === 'direct') return
      expect(received.headers['x-goog-api-key']).toBe('goog-upstream')
      expect(received.headers.authorization).toBeUndefined()
      expect(received.rawHeaders.join('\n')).not.toMatch(/rc_[0-9a-z]+_/)
    })
  })

  it('[GW30.2] what was said is recorded, and found later by a client of another API', async () => {
    const setup = await setUpGateway('memory on', { providers })
    answerWith(setup, [{ text: 'Noted, you live in Porto.' }])
    const client = await clientOf(setup)
    const contents = 'I live in Porto now.'
    await textOf(await client.models.generateContentStream({ model: MODEL, contents }))
    const sessions = await eventually(
      () => setup.engine.conversations.sessions.list({ owner: OWNER }),
      (found) => found.rows.length > 0,
    )
    expect(sessions.rows).toHaveLength(1)
    const [receipt] = (await setup.engine.conversations.receipts.list({ owner: OWNER })).rows
    expect(receipt).toMatchObject({ format: 'gemini', model: MODEL })
    expect(receipt?.usage).toMatchObject({ input: 31, output: 17 })
  })

  it('[GW30.3] calls of functions go through, in chats with their results', async () => {
    const setup = await setUpGateway('memory on', { providers })
    const call = { functionCall: { id: 'c1', name: 'weather', args: { city: 'Fuzhou' } } }
    answerWith(setup, [{ ...call, thoughtSignature: 'c2ln' }], [{ text: ANSWER }])
    const client = await clientOf(setup)
    const tools = [{ functionDeclarations: [WEATHER] }]
    const first = await client.models.generateContent({ ...asked, config: { tools } })
    expect(first.functionCalls).toMatchObject([{ id: 'c1', name: 'weather' }])
    const contents = [
      { role: 'user', parts: [{ text: QUESTION }] },
      first.candidates?.[0]?.content,
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { sky: 'blue' } } }],
      },
    ]
    const last = await client.models.generateContent({ model: MODEL, contents, config: { tools } })
    expect(last.text).toBe(ANSWER)
    const { body } = setup.upstream.last()
    // The block stays where it was, so that the prompt cache of the provider stays valid.
    expect(body.contents[0]).toEqual(setup.upstream.requests[0]?.body.contents[0])
    expect(body.contents[1].parts[0].thoughtSignature).toBe('c2ln')
    expect(occurrences(setup.upstream.last().text, FENCE)).toBe(1)
  })

  describe.each(['whole', 'streamed'])('memory tools, %s', (way) => {
    const ask = async (client: Client, more: object = {}) => {
      if (way === 'whole') {
        const answer = await client.models.generateContent({ ...asked, ...more })
        return { text: answer.text ?? '', calls: answer.functionCalls ?? [], answers: [answer] }
      }
      const answers: Answer[] = []
      for await (const each of await client.models.generateContentStream({ ...asked, ...more })) {
        answers.push(each)
      }
      const text = answers.map((each) => each.text ?? '').join('')
      return { text, calls: answers.flatMap((each) => each.functionCalls ?? []), answers }
    }
    const withTools = () =>
      setUpGateway('memory on', { providers, settings: { 'gateway.memoryToolsEnabled': true } })

    it('[MT2] [MT4] run between rounds that the client sees as one answer', async () => {
      const setup = await withTools()
      const search = { name: 'memory_search', args: { query: 'tea' } }
      answerWith(
        setup,
        [{ text: 'Let me look. ' }, { functionCall: search, thoughtSignature: 'c2ln' }],
        [{ text: ANSWER }],
      )
      const { text, calls, answers } = await ask(await clientOf(setup))
      expect(text).toBe(`Let me look. ${ANSWER}`)
      expect(calls).toEqual([])
      expect(answers.at(-1)?.usageMetadata).toMatchObject({ promptTokenCount: 62 })
      expect(new Set(answers.map((each) => each.responseId))).toEqual(new Set(['resp-1']))
      const [first, second] = setup.upstream.requests
      const names = first?.body.tools[0].functionDeclarations.map(
        (each: Content & { name: string }) => each.name,
      )
      expect(names).toContain('memory_search')
      expect(second?.body.contents.at(-2).parts.at(-1)).toEqual({
        functionCall: search,
        thoughtSignature: 'c2ln',
      })
      const result = second?.body.contents.at(-1).parts[0].functionResponse
      expect(result.name).toBe('memory_search')
      expect(result.response.result).toContain('jasmine from Fuzhou')
    })

    it('[MT5] calls beside those of the client are put back when it sends its results', async () => {
      const setup = await withTools()
      const search = { id: 'm1', name: 'memory_search', args: { query: 'tea' } }
      const weather = { id: 'c1', name: 'weather', args: { city: 'Fuzhou' } }
      answerWith(
        setup,
        [{ functionCall: search, thoughtSignature: 'c2ln' }, { functionCall: weather }],
        [{ text: ANSWER }],
      )
      const client = await clientOf(setup)
      const tools = [{ functionDeclarations: [WEATHER] }]
      const first = await ask(client, { config: { tools } })
      expect(first.calls).toMatchObject([{ id: 'c1', name: 'weather' }])
      const contents = [
        { role: 'user', parts: [{ text: QUESTION }] },
        { role: 'model', parts: [{ functionCall: weather }] },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'c1', name: 'weather', response: { sky: 'blue' } } }],
        },
      ]
      const second = await ask(client, { contents, config: { tools } })
      expect(second.text).toBe(ANSWER)
      const { body } = setup.upstream.last()
      expect(body.contents[1].parts).toEqual([
        { functionCall: search, thoughtSignature: 'c2ln' },
        { functionCall: weather },
      ])
      expect(
        body.contents[2].parts.map(
          (part: { functionResponse: { id: string } }) => part.functionResponse.id,
        ),
      ).toEqual(['m1', 'c1'])
    })
  })

  it('[GW30.4] tokens are counted with the block that the request would get', async () => {
    const setup = await setUpGateway('memory on', { providers })
    setup.upstream.queue({
      headers: { 'content-type': 'application/json' },
      body: '{"totalTokens":99}',
    })
    const client = await clientOf(setup)
    const counted = await client.models.countTokens({ model: MODEL, contents: QUESTION })
    expect(counted.totalTokens).toBe(99)
    expect(setup.upstream.last().path).toBe(`/v1/models/${MODEL}:countTokens`)
    expect(occurrences(setup.upstream.last().text, FENCE)).toBe(1)
    await setup.engine.conversations.flush()
    const { rows } = await setup.engine.conversations.receipts.list({ owner: OWNER })
    expect(rows).toEqual([])
  })

  it('[GW30.5] embeddings go to the provider of the model, under its name there', async () => {
    const setup = await setUpGateway('memory off', { providers })
    setup.upstream.queue({
      headers: { 'content-type': 'application/json' },
      body: '{"embeddings":[{"values":[0.5,1]}]}',
    })
    const client = await clientOf(setup)
    const model = 'gemini/gemini-embedding-001'
    const { embeddings } = await client.models.embedContent({ model, contents: 'tea' })
    expect(embeddings).toMatchObject([{ values: [0.5, 1] }])
    const { path, text } = setup.upstream.last()
    expect(path).toBe('/v1/models/gemini-embedding-001:batchEmbedContents')
    expect(text).not.toContain('gemini/gemini-embedding')
  })

  it('[GW30.6] models are listed in the form of the API, with what the provider says', async () => {
    const setup = await setUpGateway('memory off', {
      providers: (url) => ({ ...providers(url), demo: { kind: 'demo' } }),
    })
    const listed: (string | undefined)[] = []
    const client = await clientOf(setup)
    for await (const { name } of await client.models.list()) listed.push(name)
    expect(listed).toContain('models/demo/echo')
    expect(listed).toContain('models/gemini/gemini-test')
    expect(await client.models.get({ model: 'gemini-test' })).toMatchObject({
      name: 'models/gemini-test',
      displayName: 'Test',
      inputTokenLimit: 1_048_576,
    })
  })

  it('[GW30.7] errors have the form of the API', async () => {
    const setup = await setUpGateway('memory off', { providers })
    const client = await clientOf({ ...setup, key: 'rc_agent_wrong' })
    await expect(client.models.generateContent(asked)).rejects.toMatchObject({ status: 401 })
    const other = await clientOf(setup)
    await expect(other.models.generateContent({ ...asked, model: 'elsewhere/x' })).rejects.toThrow(
      /Unknown model.*NOT_FOUND/s,
    )
    setup.upstream.queue({
      status: 429,
      headers: { 'content-type': 'application/json' },
      body: '{"error":{"code":429,"message":"Quota","status":"RESOURCE_EXHAUSTED"}}',
    })
    await expect(other.models.generateContent(asked)).rejects.toMatchObject({ status: 429 })
  })

  it('[GW30.1] the example of the documentation gets memories as it stands there', async () => {
    const setup = await setUpGateway('memory on', { providers })
    answerWith(setup, [{ text: ANSWER }])
    const page = readFileSync('docs/guides/gateway.md', 'utf8')
    const code = [...page.matchAll(/^```js\n(.*?)^```/gms)].find(([text]) =>
      text.includes('@google/'),
    )
    const written = (code?.[1] ?? '')
      .replaceAll('http://127.0.0.1:20128', setup.url)
      .replaceAll('rc_…', setup.key)
      .replace('What should I drink?', QUESTION)
    const folder = mkdtempSync(join(partFolder('clients'), 'node_modules/.page-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'main.mjs'), written)
    await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')])
    expect(occurrences(setup.upstream.last().text, FENCE)).toBe(1)
  })

  it('[GW30.1] the demo answers too, without a key', async () => {
    const setup = await setUpGateway('memory on', { providers: () => ({}) })
    const client = await clientOf(setup)
    const streamed = await client.models.generateContentStream({ ...asked, model: 'demo/echo' })
    expect(await textOf(streamed)).toContain(FACT)
  })
})

it('[GW30.8] under the key of the server, what the account holds is not reached', async () => {
  const setup: GatewaySetup = await setUpGateway('memory on', { providers })
  const headers = { 'x-goog-api-key': setup.key, 'content-type': 'application/json' }
  const get = (path: string) => fetch(`${setup.url}${path}`, { headers })
  expect((await get('/v1beta/files')).status).toBe(404)
  expect((await get('/v1beta/cachedContents/abc')).status).toBe(404)
  const uri = 'https://generativelanguage.googleapis.com/v1beta/files/abc'
  const body = JSON.stringify({
    contents: [{ parts: [{ text: 'Read this.' }, { fileData: { fileUri: uri } }] }],
  })
  const path = `/v1beta/models/${MODEL}:generateContent`
  const response = await fetch(`${setup.url}${path}`, { method: 'POST', headers, body })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
  expect(setup.upstream.requests).toHaveLength(0)
})

it('[GW30.9] a key in the address stays here', async () => {
  const setup = await setUpGateway('memory off', { providers })
  const headers = { 'x-goog-api-key': setup.key, 'content-type': 'application/json' }
  setup.upstream.queue((request) => speakGemini(request, [{ text: 'Hi' }]))
  const path = `/v1beta/models/${MODEL}:generateContent?key=${setup.key}&alt=json`
  const body = JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] })
  const response = await fetch(`${setup.url}${path}`, { method: 'POST', headers, body })
  expect(response.status).toBe(200)
  expect(setup.upstream.last().path).toBe(`/v1beta/models/${MODEL}:generateContent?alt=json`)
})

it('[GW30.10] a stream without events is recorded, and gets no memory tools', async () => {
  const setup = await setUpGateway('memory on', {
    providers,
    settings: { 'gateway.memoryToolsEnabled': true },
  })
  const headers = { 'x-goog-api-key': setup.key, 'content-type': 'application/json' }
  const chunks = [chunkOf([{ text: 'Jas' }]), chunkOf([{ text: 'mine' }], 'STOP')]
  setup.upstream.queue({
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(chunks),
  })
  const body = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: QUESTION }] }] })
  const path = `/v1beta/models/${MODEL}:streamGenerateContent`
  const response = await fetch(`${setup.url}${path}`, { method: 'POST', headers, body })
  expect(await response.json()).toEqual(chunks)
  expect(setup.upstream.last().body.tools).toBeUndefined()
  await eventually(
    () => setup.engine.conversations.receipts.list({ owner: OWNER }),
    ({ rows }) => rows[0]?.usage?.output === 17,
  )
})
