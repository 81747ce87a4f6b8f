/** With memory off, a call through the gateway is a direct call: the same bytes, there and back. */
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { type GatewaySetup, MEMORY_HEADER, OWNER, setUpGateway } from './support/gateway-harness.ts'
import { type RawAnswer, type RawRequest, send } from './support/raw-client.ts'
import { RECORDED } from './support/sample-streams.ts'
import { type Received, type Reply, randomFrom } from './support/scripted-upstream.ts'
import {
  formatOf,
  PATH_FORMATS,
  PATHS,
  type PathFormat,
  refuse,
  speak,
} from './support/wire-format.ts'
import type { Said } from './support/wire-parts.ts'

const RUNS_PER_FORMAT = 24
const WORDS = [
  'naïve',
  '茉莉花茶',
  '☕️',
  '👩‍👩‍👧',
  'a',
  '\n\n',
  'data: x',
  '\u2028',
  '"quoted"',
  '\\n',
  'é'.normalize('NFD'),
]

/** Between two services anything may stand in these; everything else must arrive as it was sent. */
const OWN_HEADERS = [
  ...['connection', 'keep-alive', 'date', 'transfer-encoding', 'host'],
  ...['authorization', 'x-api-key', 'content-length'],
]

/** What we may say besides. */
const ADDED_HEADERS = [
  ...[MEMORY_HEADER, 'x-recollect-request-id', 'x-request-id'],
  ...['content-security-policy', 'x-content-type-options'],
  ...['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'],
]

/** Spelt as no library would write it: what is written anew shows. */
function oddBody(format: PathFormat, streams: boolean, text: string): string {
  const said = JSON.stringify(text)
  const fields = [
    `"model" : "${format === 'messages' ? 'claude-test' : 'gpt-test'}"`,
    `"stream":${streams}`,
    `"temperature":1.0`,
    `"x_unknown" : {"b":1,"a":[1e2, 0.10,-0,12345678901234567890], "\\u0061":null , "":""}`,
    `"metadata":{"ключ":"\\u00e9 é \\/ \\ud83d\\ude00 😀"}`,
  ]
  const conversation = {
    chat: `"messages" :[ {"role":"system","content":"S\\u0020S"},\n\t{"content":${said},"role":"user","x":1} ]`,
    responses: `"input":[{"role":"user","content":[{"type":"input_text","text":${said}}]} ],"instructions":"I  I"`,
    messages: `"max_tokens":5e1,"system":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}],"messages":[{"role":"user","content":${said}}]`,
  }[format]
  return `{ ${[...fields, conversation].join(' ,\r\n ')}\n}\n`
}

type Pair = {
  readonly direct: RawAnswer
  readonly through: RawAnswer
  readonly received: readonly [Received, Received]
}

/** The same request and the same reply, without the gateway and with it. */
async function both(
  { upstream, url, key }: GatewaySetup,
  format: PathFormat,
  request: Omit<RawRequest, 'headers'> & { readonly headers?: RawRequest['headers'] },
  reply: Reply | ((received: Received) => Reply),
): Promise<Pair> {
  upstream.clear()
  upstream.queue(reply, reply)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'someone/1.0',
    'x-stainless-lang': 'js',
    ...(format === 'messages' ? { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'x' } : {}),
    ...(format === 'responses' ? { 'openai-beta': 'responses=v1' } : {}),
    ...request.headers,
  }
  const path = `${PATHS[format]}?beta=true&x=%C3%A9`
  const direct = await send(`${upstream.url}${path}`, { ...request, headers })
  const credentials =
    format === 'messages' ? { 'x-api-key': key } : { authorization: `Bearer ${key}` }
  const through = await send(`${url}${path}`, {
    ...request,
    headers: { ...headers, ...credentials },
  })
  const [before, after] = upstream.requests
  if (before === undefined || after === undefined) {
    throw new Error(`Upstream was not asked: ${through.status} ${through.bytes.toString()}`)
  }
  return { direct, through, received: [before, after] }
}

function relevant(headers: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OWN_HEADERS.includes(name)))
}

function expectSame({ direct, through, received: [before, after] }: Pair): void {
  expect(after.bytes.equals(before.bytes), 'what upstream received').toBe(true)
  expect(after.path).toBe(before.path)
  expect(relevant(after.headers)).toEqual(relevant(before.headers))
  expect(through.status).toBe(direct.status)
  expect(through.bytes.equals(direct.bytes), 'what the client received').toBe(true)
  expect(through.isWhole).toBe(direct.isWhole)
  // Everything that upstream said, and the little that we say besides.
  expect(through.headers).toMatchObject(relevant(direct.headers))
  const added = Object.keys(relevant(through.headers)).filter((name) => !(name in direct.headers))
  expect(ADDED_HEADERS).toEqual(expect.arrayContaining(added))
  expect(through.headers[MEMORY_HEADER]).toMatch(/^skipped; reason=off\b/)
  expect(through.headers['content-length']).toBe(direct.headers['content-length'])
}

function randomSaid(random: () => number): Said {
  const words = Array.from({ length: Math.floor(random() * 40) }, () => {
    return WORDS[Math.floor(random() * WORDS.length)] ?? ''
  })
  const call = { id: 'call_1', name: 'weather', arguments: { city: words.join('') } }
  return {
    text: words.join(' '),
    ...(random() < 0.3 ? { toolCalls: [call] } : {}),
    step: 1 + Math.floor(random() * 9),
    lineEnd: random() < 0.5 ? '\n' : '\r\n',
    cutSeed: Math.floor(random() * 2 ** 31),
    ...(random() < 0.2 ? { failsAfter: Math.floor(random() * 6) } : {}),
  }
}

/** Cut inside of every character that has several bytes, between each `\r` and its `\n`, and here and there. */
function piecesOf(bytes: Buffer): readonly Buffer[] {
  const isInside = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80
  const isBetween = (at: number) => bytes[at - 1] === 0x0d && bytes[at] === 0x0a
  const cuts = [...bytes.keys()].filter((at) => isInside(at) || isBetween(at) || at % 97 === 0)
  expect(cuts.some(isInside)).toBe(true)
  expect(cuts.some(isBetween)).toBe(bytes.includes('\r\n'))
  return cuts.map((at, index) => bytes.subarray(at, cuts[index + 1]))
}

describe.each(PATH_FORMATS)('%s', (format) => {
  it(`[GW3] is a direct call, over ${RUNS_PER_FORMAT} answers cut at random`, async () => {
    const setup = await setUpGateway('memory off')
    const random = randomFrom(2_026 + PATH_FORMATS.indexOf(format))
    for (let run = 0; run < RUNS_PER_FORMAT; run++) {
      const said = randomSaid(random)
      const streams = random() < 0.75
      const pair = await both(
        setup,
        format,
        { body: oddBody(format, streams, said.text ?? '') },
        (received) => speak(received, said),
      )
      expect(pair.direct.bytes.length).toBeGreaterThan(0)
      expectSame(pair)
    }
  })

  it.each(['\n', '\r\n'])(
    '[GW3] passes a stream as providers send it, lines ending in %j',
    async (lineEnd) => {
      const bytes = Buffer.from(RECORDED[format].replaceAll('\n', lineEnd))
      const reply = {
        headers: { 'content-type': 'text/event-stream; charset=utf-8' },
        body: piecesOf(bytes),
      }
      const body = oddBody(format, true, 'Which tea do I drink?')
      const pair = await both(await setUpGateway('memory off'), format, { body }, reply)
      expectSame(pair)
      expect(pair.through.bytes.equals(bytes)).toBe(true)
      // Who reads along reads the same, however it is cut.
      const setup = await setUpGateway('memory on')
      setup.upstream.queue(reply)
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${setup.key}` }
      const read = await send(`${setup.url}${PATHS[format]}`, { headers, body })
      expect(read.bytes.equals(bytes)).toBe(true)
      await setup.engine.conversations.flush()
      const { rows } = await setup.engine.conversations.receipts.list({ owner: OWNER })
      expect(rows).toMatchObject([{ answer: 'complete', usage: { input: 19, output: 12 } }])
    },
  )

  it.each([400, 401, 404, 429, 500, 529])('[GW3] hands on refusals: %i', async (status) => {
    const setup = await setUpGateway('memory off')
    const headers = status === 429 ? { 'retry-after': '20', 'retry-after-ms': '20000' } : {}
    const pair = await both(
      setup,
      format,
      { body: oddBody(format, true, 'Hello') },
      refuse(format, status, headers),
    )
    expectSame(pair)
    expect(pair.through.status).toBe(status)
    if (status === 429) expect(pair.through.headers['retry-after']).toBe('20')
  })

  it('[GW3] hands on compressed answers as they are', async () => {
    const setup = await setUpGateway('memory off')
    for (const streams of [false, true]) {
      const pair = await both(
        setup,
        format,
        { body: oddBody(format, streams, 'é'), headers: { 'accept-encoding': 'gzip' } },
        (received) => ({
          ...speak(received, { text: 'naïve ☕️'.repeat(50) }),
          isGzipped: true,
          cutSeed: 8,
        }),
      )
      expectSame(pair)
      expect(pair.through.headers['content-encoding']).toBe('gzip')
      expect(gunzipSync(pair.through.bytes).toString()).toContain('"')
    }
  })

  it('[GW3] hands on answers without a body, and bodies that are no JSON', async () => {
    const setup = await setUpGateway('memory off')
    const text = { 'content-type': 'text/html' }
    const replies: readonly Reply[] = [
      { status: 204 },
      { status: 200 },
      { status: 502, headers: text, body: '<html>Bad gateway – naïve</html>' },
      { status: 200, headers: { 'content-type': 'application/json' }, body: '{"cut": tru' },
      {
        status: 200,
        headers: { 'x-a': '1', 'content-type': 'application/octet-stream' },
        body: Buffer.from([0xff, 0xfe, 0, 0x80]),
      },
      {
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: ': ping\r\n\r\ndata\r\n\r\ndata: \ufeff{\r\r\n',
      },
    ]
    for (const reply of replies) {
      expectSame(await both(setup, format, { body: oddBody(format, false, 'Hello') }, reply))
    }
  })

  it('[GW3] breaks off where upstream breaks off', async () => {
    const setup = await setUpGateway('memory off')
    for (const streams of [false, true]) {
      const pair = await both(
        setup,
        format,
        { body: oddBody(format, streams, 'Hello') },
        (received) =>
          speak(received, { text: 'x'.repeat(3_000), trouble: { after: 1_500, what: 'reset' } }),
      )
      expect(pair.direct.isWhole).toBe(false)
      expect(pair.through.isWhole).toBe(false)
      expect(pair.through.status).toBe(200)
      // What had already arrived may be lost when a connection is reset, but nothing may be made up.
      const whole = Buffer.from(
        String(
          speak({ path: PATHS[format], body: pair.received[1].body }, { text: 'x'.repeat(3_000) })
            .body,
        ),
      )
      expect(whole.subarray(0, pair.through.bytes.length).equals(pair.through.bytes)).toBe(true)
      expect(pair.through.bytes.length).toBeLessThanOrEqual(1_500)
    }
  })

  it('[GW3] sends each part on as it comes', async () => {
    const { upstream, url, key } = await setUpGateway('memory off')
    let goOn = () => {}
    const rest = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.queue((received) =>
      speak(received, { text: 'x'.repeat(300), trouble: { after: 1_000, what: rest } }),
    )
    const response = await fetch(`${url}${PATHS[format]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: oddBody(format, true, 'Hello'),
    })
    const reader = response.body?.getReader()
    let bytes = 0
    while (bytes < 1_000) bytes += (await reader?.read())?.value?.length ?? Number.NaN
    expect(bytes).toBe(1_000)
    goOn()
    while (!(await reader?.read())?.done) bytes++
    expect(await upstream.last().ended).toBe('sent')
    expect(formatOf(upstream.last().path)).toBe(format)
  })

  it('[GW3] tells status and headers before the provider has said a word', async () => {
    const { upstream, url, key } = await setUpGateway('memory off')
    let goOn = () => {}
    const rest = new Promise<void>((resolve) => {
      goOn = resolve
    })
    upstream.queue((received) => speak(received, { text: 'x', trouble: { after: 0, what: rest } }))
    // Without headers there would be no response to wait for, and the rest would never come.
    const response = await fetch(`${url}${PATHS[format]}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: oddBody(format, true, 'Hello'),
    })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
    expect(upstream.last().sent()).toBe(0)
    goOn()
    expect((await response.text()).length).toBeGreaterThan(0)
  })

  it('[GW3] passes a huge question and a huge answer', async () => {
    const setup = await setUpGateway('memory off')
    const huge = 'é☕'.repeat(400_000)
    const pair = await both(setup, format, { body: oddBody(format, false, huge) }, (received) =>
      speak(received, { text: huge }),
    )
    expectSame(pair)
    expect(pair.through.bytes.length).toBeGreaterThan(2_000_000)
  })
})
