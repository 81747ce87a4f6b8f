/** What a request says about memory, in its headers and in its body. */
import { describe, expect, it } from 'vitest'
import { askFor, requestOf } from './support/client-conversation.ts'
import {
  FENCE,
  type GatewaySetup,
  MEMORY_HEADER,
  OWNER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'
import { send } from './support/raw-client.ts'
import { PATH_FORMATS, PATHS, type PathFormat } from './support/wire-format.ts'

type Wish = { readonly headers?: Readonly<Record<string, string>>; readonly fields?: object }

async function ask(
  setup: GatewaySetup,
  format: PathFormat,
  { headers = {}, fields = {} }: Wish,
  question = QUESTION,
): Promise<{ readonly told: string; readonly received: string }> {
  const body = requestOf(format, [{ role: 'user', content: question }], fields)
  const response = await askFor(setup, PATHS[format], body, headers)
  await response.arrayBuffer()
  expect(response.status).toBe(200)
  await setup.engine.conversations.flush()
  return {
    told: response.headers.get(MEMORY_HEADER) ?? '',
    received: setup.upstream.last().text,
  }
}

async function memoriesOf({ engine }: GatewaySetup, scope: { owner: string; user?: string }) {
  return (await engine.list(scope)).rows.map(({ content }) => content)
}

const STATEMENT = 'I prefer window seats.'

describe.each(PATH_FORMATS)('%s', (format) => {
  it.each([
    ['x-recollect-no-memory', 'true'],
    ['x-recollect-no-memory', 'YES'],
    ['x-omniroute-no-memory', '1'],
  ])('[GW4] %s: %s turns memory off', async (name, value) => {
    const setup = await setUpGateway()
    const { told, received } = await ask(setup, format, { headers: { [name]: value } }, STATEMENT)
    expect(told).toMatch(/^skipped; reason=memory-disabled\b/)
    expect(received).not.toContain(FENCE)
    expect(await memoriesOf(setup, { owner: OWNER })).toHaveLength(1)
  })

  it('[GW4] a header without a yes changes nothing', async () => {
    const setup = await setUpGateway()
    const { told } = await ask(setup, format, { headers: { 'x-recollect-no-memory': 'no' } })
    expect(told).toMatch(/^injected; /)
  })

  it('[GW4] injecting and learning are turned off one by one', async () => {
    const setup = await setUpGateway()
    const noInject = { 'x-recollect-no-inject': '1' }
    const first = await ask(setup, format, { headers: noInject }, STATEMENT)
    expect(first.told).toMatch(/^skipped; reason=context-disabled\b/)
    expect(first.received).not.toContain(FENCE)
    expect(await memoriesOf(setup, { owner: OWNER })).toHaveLength(2)
    const noExtract = { 'x-recollect-no-extract': '1' }
    expect((await ask(setup, format, { headers: noExtract })).told).toMatch(/^injected; /)
    await ask(setup, format, { headers: noExtract }, 'I live in Lisbon.')
    expect(await memoriesOf(setup, { owner: OWNER })).toHaveLength(2)
  })

  it('[GW5] the end user has memories of their own', async () => {
    const setup = await setUpGateway()
    const scope = { owner: OWNER, user: 'grace' }
    await setup.engine.remember(scope, { content: 'My favourite tea is rooibos' })
    const inBody = format === 'messages' ? { metadata: { user_id: 'grace' } } : { user: 'grace' }
    const byHeader = { headers: { 'x-recollect-user': 'grace' }, fields: {} }
    for (const wish of [{ fields: inBody }, byHeader]) {
      const { received } = await ask(setup, format, wish)
      expect(received).toContain('rooibos')
      expect(received).not.toContain('jasmine')
      await ask(setup, format, wish, 'I prefer window seats.')
    }
    expect((await memoriesOf(setup, scope)).join()).toContain('window seats')
  })

  it('[GW5] an agent that the key may act for is the owner', async () => {
    const setup = await setUpGateway()
    const { secret } = await setup.engine.admin.keys.create({
      name: 'two agents',
      defaultOwner: 'grace',
      role: 'agent',
      actsFor: [OWNER],
    })
    const other = { ...setup, key: secret }
    expect((await ask(other, format, {})).received).not.toContain('jasmine')
    for (const name of ['x-recollect-agent', 'X-Osaurus-Agent-Id']) {
      const { received } = await ask(other, format, { headers: { [name]: OWNER } })
      expect(received).toContain('jasmine')
    }
  })

  it('[GW5] an agent that nobody knows yet begins with what is said, if the key may act for all', async () => {
    const setup = await setUpGateway()
    const newcomer = { headers: { 'x-recollect-agent': 'newcomer' } }
    const { secret } = await setup.engine.admin.keys.create({
      name: 'all',
      defaultOwner: 'ops',
      role: 'superadmin',
    })
    await ask({ ...setup, key: secret }, format, newcomer, STATEMENT)
    expect((await memoriesOf(setup, { owner: 'newcomer' })).join()).toContain('window seats')
    const body = requestOf(format, [{ role: 'user', content: STATEMENT }])
    const { status } = await refusalOf(setup, format, body, { 'x-recollect-agent': 'another' })
    expect(status).toBe(403)
    expect(await memoriesOf(setup, { owner: 'another' })).toEqual([])
  })

  it('[GW4] in shadow mode the request stays as it was, and the receipt tells', async () => {
    const setup = await setUpGateway('memory on', { settings: { 'gateway.dryRun': true } })
    const { told, received } = await ask(setup, format, {})
    expect(told).toMatch(/^skipped; reason=dry-run\b/)
    expect(received).toBe(JSON.stringify(requestOf(format, [{ role: 'user', content: QUESTION }])))
    const { rows } = await setup.engine.conversations.receipts.list({ owner: OWNER })
    expect(rows[0]?.dryRun?.memories).toHaveLength(1)
  })

  it.each(['x-recollect-session', 'x-omniroute-session-id'])(
    '[GW4] the receipt that the answer names tells what was done in the session of %s',
    async (header) => {
      const setup = await setUpGateway()
      const { told } = await ask(setup, format, { headers: { [header]: 's1' } })
      const id = /receipt=(rcp_\w+)/.exec(told)?.[1] ?? ''
      const receipt = await setup.engine.conversations.receipts.get({ owner: OWNER }, id)
      expect(receipt).toMatchObject({
        format,
        status: 200,
        skipped: null,
        place: { owner: OWNER, session: 's1' },
        injected: { placement: 'turn-end' },
        usage: { input: expect.any(Number), output: 17 },
      })
      expect(receipt?.injected?.memories).toHaveLength(1)
    },
  )

  it('[RC2] the block of the receipt is what the provider got', async () => {
    const setup = await setUpGateway()
    const { told } = await ask(setup, format, {})
    const id = /receipt=(rcp_\w+)/.exec(told)?.[1] ?? ''
    const receipt = await setup.engine.conversations.receipts.get({ owner: OWNER }, id)
    expect(receipt?.block).toContain('jasmine')
    const sent = JSON.stringify(setup.upstream.requests[0]?.body)
    expect(sent).toContain(JSON.stringify(receipt?.block).slice(1, -1))
  })
})

describe('names that are none', () => {
  const LONG = 'x'.repeat(600)

  it.each([
    ['x-recollect-agent', '@system'],
    ['X-Osaurus-Agent-Id', LONG],
    ['x-recollect-user', LONG],
    ['x-recollect-session', LONG],
    ['x-omniroute-session-id', 'a\tb'],
  ])('[GW19] in %s are refused, and nothing is sent', async (name, value) => {
    const setup = await setUpGateway()
    for (const format of PATH_FORMATS) {
      const body = requestOf(format, [{ role: 'user', content: QUESTION }])
      const { status, error } = await refusalOf(setup, format, body, { [name]: value })
      expect([status, error.type]).toEqual([400, 'invalid_request_error'])
      expect(error.message).toMatch(/^`x-recollect-(agent|user|session)` must be a valid name/)
    }
    expect(setup.upstream.requests).toHaveLength(0)
  })

  it.each([
    ['too long', LONG],
    ['with a control character', 'a\u0000b'],
    ['between spaces', ' grace '],
  ])('[GW19] in a body stand for the same user each time: %s', async (_, endUser) => {
    const setup = await setUpGateway()
    const wish = { fields: { user: endUser } }
    await ask(setup, 'chat', wish, 'My favourite tea is rooibos.')
    const { told, received } = await ask(setup, 'chat', wish)
    expect(told).toMatch(/^injected; count=[12]; /)
    expect(received).toContain('rooibos')
    expect(received).not.toContain('jasmine')
    expect(JSON.parse(received).user).toBe(endUser)
  })
})

it.each(PATH_FORMATS)('[GW28.1] memory stays out of a huge request: %s', async (format) => {
  const setup = await setUpGateway()
  const content = `${'The harbour is quiet. '.repeat(200_000)}${QUESTION}`
  const body = requestOf(format, [{ role: 'user', content }])
  const response = await fetch(`${setup.url}${PATHS[format]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${setup.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.headers.get('x-recollect-memory')).toBe('skipped; reason=too-large')
  expect(setup.upstream.last().text).toBe(JSON.stringify(body))
})

describe.each(PATH_FORMATS)('the end user in %s', (format) => {
  it.each([
    [{ safety_identifier: 'grace' }],
    [{ safety_identifier: 'grace', user: 'ben' }],
    [{ user: 'grace', metadata: { user_id: 'ben' } }],
    [{ metadata: { user_id: 'grace' } }],
    [{ user: '', metadata: { user_id: 'grace' }, prompt_cache_key: 'ben' }],
  ])('[GW27.1] is read from %j', async (fields) => {
    const setup = await setUpGateway()
    const scope = { owner: OWNER, user: 'grace' }
    await setup.engine.remember(scope, { content: 'My favourite tea is rooibos' })
    const { received } = await ask(setup, format, { fields })
    expect(received).toContain('rooibos')
    expect(received).not.toContain('jasmine')
  })

  it('[GW27.2] is none in a cache key, and a header goes before the body', async () => {
    const setup = await setUpGateway()
    const scope = { owner: OWNER, user: 'grace' }
    await setup.engine.remember(scope, { content: 'My favourite tea is rooibos' })
    const keyed = await ask(setup, format, { fields: { prompt_cache_key: 'grace' } })
    expect(keyed.received).toContain('jasmine')
    const headers = { 'x-recollect-user': 'grace' }
    const named = await ask(setup, format, { headers, fields: { safety_identifier: 'ben' } })
    expect(named.received).toContain('rooibos')
  })
})

it.each(['2023-06-01', '1999-01-01', 'bogus', '', ' 2023-06-01, 2024-01-01 '])(
  '[GW1] any anthropic-version passes as it is: "%s"',
  async (version) => {
    const setup = await setUpGateway()
    const { told } = await ask(setup, 'messages', { headers: { 'anthropic-version': version } })
    expect(told).toMatch(/^injected; /)
    expect(setup.upstream.last().headers['anthropic-version']).toBe(version.trim())
  },
)

describe('compression', () => {
  const sendFor = (setup: GatewaySetup, encodings: string) =>
    send(`${setup.url}${PATHS.chat}`, {
      headers: {
        ...{ 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
        'accept-encoding': encodings,
      },
      body: JSON.stringify(requestOf('chat', [{ role: 'user', content: QUESTION }])),
    })

  it.each([
    ['memory on', 'gzip, deflate, br', 'gzip, deflate, br'],
    ['memory on', 'zstd, GZIP;q=0.5,*', 'GZIP;q=0.5'],
    ['memory on', 'zstd', 'identity'],
    ['memory off', 'zstd, gzip;q=0.5,*', 'zstd, gzip;q=0.5,*'],
  ] as const)('[GW22] %s: of "%s" a provider is asked for "%s"', async (mode, accepted, asked) => {
    const setup = await setUpGateway(mode)
    await sendFor(setup, accepted)
    expect(setup.upstream.last().headers['accept-encoding']).toBe(asked)
  })

  it('[GW22] what comes in another one all the same is passed on, and the receipt says so', async () => {
    const setup = await setUpGateway()
    const body = Buffer.from('packed in a way that nobody knows')
    const headers = { 'content-type': 'application/json', 'content-encoding': 'zstd' }
    setup.upstream.queue({ headers, body })
    expect((await sendFor(setup, 'zstd')).bytes.equals(body)).toBe(true)
    await setup.engine.conversations.flush()
    const { rows } = await setup.engine.conversations.receipts.list({ owner: OWNER })
    expect(rows).toMatchObject([{ answer: 'unparsed', status: 200 }])
  })
})

it('[GW4] what memory did is told by this server, whatever the provider says of memory', async () => {
  const setup = await setUpGateway()
  const headers = {
    'content-type': 'application/json',
    [MEMORY_HEADER]: 'injected; count=99',
    'x-recollect-request-id': 'another',
    'x-request-id': 'theirs',
  }
  setup.upstream.queue({ headers, body: '{}' })
  const body = requestOf('chat', [{ role: 'user', content: QUESTION }])
  const response = await askFor(setup, PATHS.chat, body)
  expect(response.headers.get(MEMORY_HEADER)).toMatch(/^injected; count=1; /)
  expect(response.headers.get('x-recollect-request-id')).toMatch(/^req_/)
  expect(response.headers.get('x-request-id')).toBe('theirs')
})

it('[PV6] what a client says is about its connection alone goes no further', async () => {
  const setup = await setUpGateway()
  await send(`${setup.url}${PATHS.chat}`, {
    headers: {
      ...{ 'content-type': 'application/json', authorization: `Bearer ${setup.key}` },
      ...{ connection: 'close, X-Hop', 'x-hop': 'one', 'x-further': 'two' },
    },
    body: JSON.stringify(requestOf('chat', [{ role: 'user', content: QUESTION }])),
  })
  expect(setup.upstream.last().headers).toMatchObject({ 'x-further': 'two' })
  expect(setup.upstream.last().headers).not.toHaveProperty('x-hop')
})

it('[GW4] no receipt is named where none is kept', async () => {
  const setup = await setUpGateway('memory on', { settings: { 'retention.receiptsMax': 0 } })
  expect((await ask(setup, 'chat', {})).told).toMatch(/^injected; count=1; tokens=\d+$/)
})

type Refusal = {
  readonly status: number
  readonly error: { readonly type: string; readonly message: string }
}

async function refusalOf(
  setup: GatewaySetup,
  format: PathFormat,
  body: object,
  headers: Readonly<Record<string, string>>,
): Promise<Refusal> {
  const response = await askFor(setup, PATHS[format], body, headers)
  const { error } = (await response.json()) as Pick<Refusal, 'error'>
  return { status: response.status, error }
}
