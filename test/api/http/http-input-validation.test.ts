/** Bad input of every kind, for every operation: refused with its fields named, and nothing changed. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { clampingRange } from '../../../src/api/operations/admin/settings-operations.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import type { Operation } from '../../../src/api/operations/operation.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { type Answer, type Client, start } from './http-support.ts'

const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'
const OWN_STRINGS = [
  '\0',
  "'; DROP TABLE memory; --",
  '<script>alert(1)</script>',
  '../../../etc/passwd',
  '%00%ff%s%n',
  '\ud800',
  '\u202etxet',
  '{{7*7}}',
  '👩‍👩‍👧‍👦'.repeat(50),
  'NULL',
  '1e999',
  '-0',
]

function naughtyStrings(): readonly string[] {
  if (!existsSync(NAUGHTY_STRINGS)) return OWN_STRINGS
  const listed = JSON.parse(readFileSync(NAUGHTY_STRINGS, 'utf8')) as string[] // see its README
  return [...OWN_STRINGS, ...listed]
}

type Schema = {
  readonly type?: string
  readonly enum?: readonly string[]
  readonly anyOf?: readonly Schema[]
  readonly properties?: { readonly [name: string]: Schema }
  readonly required?: readonly string[]
}

const schemaOf = (operation: Operation) =>
  z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }) as Schema
const isStream = ({ http }: Operation) => http.stream !== undefined && http.stream !== 'out'
const jsonOperations = OPERATIONS.filter((operation) => !isStream(operation))
const fieldsOf = (operation: Operation) => Object.entries(schemaOf(operation).properties ?? {})
const isInPath = ({ http }: Operation, name: string) => http.path.includes(`{${name}}`)
const isInQuery = ({ http }: Operation) => http.method === 'GET'

/** Sends fields where the operation wants them. */
function send(
  client: Client,
  operation: Operation,
  fields: { readonly [name: string]: unknown },
): Promise<Answer> {
  const { method, path } = operation.http
  const address = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(wellFormed(String(fields[name] ?? 'mem_nobody'))),
  )
  const rest = Object.entries(fields).filter(([name]) => !isInPath(operation, name))
  if (!isInQuery(operation)) {
    return client.call(method, address, { body: Object.fromEntries(rest) })
  }
  const query = rest.map(
    ([name, value]) =>
      `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(String(value)))}`,
  )
  return client.call(method, `${address}?${query.join('&')}`)
}

/** Half a character can't be written in an address. */
const wellFormed = (text: string) => Buffer.from(text).toString()

async function everything(engine: Engine): Promise<readonly string[]> {
  const lines: string[] = []
  for await (const line of engine.admin.export(null)) lines.push(line)
  return lines.slice(1)
}

async function filled() {
  const started = await start()
  const { engine } = started
  await engine.remember({ owner: 'default' }, { content: 'I prefer tea over coffee', key: 'drink' })
  await engine.remember({ owner: 'ada', user: 'u' }, { content: 'The cat is called Momo' })
  return { ...started, before: await everything(engine) }
}

const faultyFields = ({ body }: Answer): readonly string[] =>
  body.error.details.map(({ field }: { field: string }) => field)

describe('every operation', () => {
  it('[HT30] refuses a field it does not know, and names it', async () => {
    const { client, engine, before } = await filled()
    for (const operation of jsonOperations) {
      const answer = await send(client, operation, { surprise: 1 })
      expect([operation.name, answer.status]).toEqual([operation.name, 400])
      expect(faultyFields(answer)).toContain('surprise')
    }
    expect(await everything(engine)).toEqual(before)
  })

  it('[HT30] refuses to go without a field it needs, and names it', async () => {
    const { client, engine, before } = await filled()
    for (const operation of jsonOperations) {
      const required = (schemaOf(operation).required ?? []).filter(
        (name) => !isInPath(operation, name),
      )
      if (required.length === 0) continue
      const answer = await send(client, operation, {})
      expect([operation.name, answer.status]).toEqual([operation.name, 400])
      expect(faultyFields(answer)).toEqual(expect.arrayContaining(required))
    }
    expect(await everything(engine)).toEqual(before)
  })

  it('[HT30] refuses each field with a value of the wrong type, and names it', async () => {
    const { client, engine, before } = await filled()
    for (const operation of jsonOperations) {
      for (const [name, schema] of fieldsOf(operation)) {
        if (isInPath(operation, name)) continue
        const wrong = isInQuery(operation)
          ? wrongText(schema)
          : schema.type === 'object'
            ? ['text', 5, [1]]
            : [{ a: 1 }, [[{}]], ...(takes(schema, 'string') ? [] : ['text'])]
        for (const value of wrong) {
          // Clients of other systems send these blank when they are not given.
          if (value === '' && ['type', 'apiKeyId'].includes(name)) continue
          const answer = await send(client, operation, { [name]: value })
          expect([operation.name, name, answer.status]).toEqual([operation.name, name, 400])
          const isNamed = (field: string) => field === name || field.startsWith(`${name}.`)
          expect(faultyFields(answer).filter(isNamed), name).not.toEqual([])
        }
      }
    }
    expect(await everything(engine)).toEqual(before)
  })

  it('[HT30] refuses values that are too long, too large or out of range', async () => {
    const { client, engine, before } = await filled()
    const long = 'x'.repeat(300_000)
    for (const operation of jsonOperations) {
      if (isInQuery(operation)) continue
      for (const [name, schema] of fieldsOf(operation)) {
        if (isInPath(operation, name) || name === 'query') continue
        const value = takes(schema, 'string') ? long : takes(schema, 'array') ? [long] : 1e300
        if (schema.type === 'boolean' || schema.type === 'object') continue
        // Some settings are moved into their range instead, and that is said: see PL10.
        if (operation.name === 'settings.change' && clampingRange(name) !== null) continue
        const answer = await send(client, operation, { [name]: value })
        expect([operation.name, name, answer.status]).toEqual([operation.name, name, 400])
      }
      const whole = await send(client, operation, { surprise: 'x'.repeat(1_100_000) })
      expect([operation.name, whole.status]).toEqual([operation.name, 413])
    }
    expect(await everything(engine)).toEqual(before)
  })

  it('[HT31] lives through hostile text in any field', async () => {
    const { client } = await filled()
    for (const [index, text] of naughtyStrings().entries()) {
      const operation = jsonOperations[index % jsonOperations.length]
      if (operation === undefined) continue
      const texts = fieldsOf(operation).filter(
        ([name, schema]) =>
          takes(schema, 'string') && schema.enum === undefined && name !== 'level',
      )
      const [name] = texts[index % texts.length] ?? []
      if (name === undefined) continue
      const answer = await send(client, operation, { ...needed(operation), [name]: text })
      const what = `${operation.name} ${name} ${JSON.stringify(text)}: ${answer.status}`
      expect(answer.status === 501 || answer.status < 500, what).toBe(true)
    }
  })
})

function takes(schema: Schema, type: string): boolean {
  return schema.type === type || (schema.anyOf?.some((each) => takes(each, type)) ?? false)
}

/** In an address everything is text; these are texts that no number, switch or choice accepts. */
function wrongText(schema: Schema): readonly string[] {
  if (takes(schema, 'integer') && takes(schema, 'string')) return ['soon', '2026-13-45']
  if (takes(schema, 'integer') || takes(schema, 'number')) return ['many', '', '0x10', '1e400']
  if (takes(schema, 'boolean')) return ['maybe', '']
  const choices = schema.enum ?? schema.anyOf?.find((each) => each.enum !== undefined)?.enum
  return choices === undefined ? [] : ['nonsense', '']
}

/** The least that the schema of an operation asks for. */
function needed(operation: Operation): { readonly [name: string]: unknown } {
  const { required = [], properties = {} } = schemaOf(operation)
  return Object.fromEntries(
    required.map((name) => [name, takes(properties[name] ?? {}, 'integer') ? 1 : 'something']),
  )
}

describe('addresses', () => {
  it('[HT32] lists come repeated or with commas, anything else once', async () => {
    const { client } = await filled()
    for (const query of ['type=factual,episodic', 'type=factual&type=episodic']) {
      expect((await client.get(`/api/memory?${query}`)).body.total).toBe(1)
    }
    for (const query of ['limit=1&limit=2', 'q=a&q=a', 'owner=a&owner=b']) {
      const answer = await client.get(`/api/memory?${query}`)
      expect([answer.status, faultyFields(answer)]).toEqual([400, [query.split('=')[0]]])
    }
    expect((await client.get('/api/memory?q=tea+over&&limit=%31')).body.limit).toBe(1)
    expect((await client.get('/api/memory?q=I%20prefer')).body.total).toBe(1)
  })

  it('[HT32] what stands in address and body must agree', async () => {
    const { client, engine } = await filled()
    const [id] = (await engine.list({ owner: 'default' })).rows.map((memory) => memory.id)
    const put = (body: object) => client.call('PUT', `/api/memory/${id}`, { body })
    expect((await put({ id, importance: 3 })).status).toBe(200)
    expect(faultyFields(await put({ id: 'mem_other', importance: 3 }))).toEqual(['id'])
    const misplaced = await client.post('/api/memory?content=x', {})
    expect([misplaced.status, faultyFields(misplaced)]).toEqual([400, ['content']])
    const remove = (query: string, body: object) =>
      client.call('DELETE', `/api/memory?${query}`, { body })
    expect((await remove('dryRun=true', { all: true })).body.matched).toBe(1)
    expect((await remove('all=true', { all: false })).status).toBe(400)
    const bodied = await client.call('GET', '/health/live')
    expect(bodied.status).toBe(200)
  })

  it('[HT33] badly encoded and strange addresses are refused', async () => {
    const { client } = await filled()
    const statuses = {
      '/api/memory/%FF': 400,
      '/api/memory/%E0%A4%A': 400,
      '/api/memory/%00': 400,
      '/api/memory/..%2f..%2fetc': 400,
      '/api/memory?q=%FF': 400,
      '/api/memory?%FF=1': 400,
      '/api/memory?__proto__=1': 400,
      '/api/memory?constructor=1': 400,
      '/api/memory/': 404,
      '//api/memory': 404,
      '/api/memory%2Fhealth': 404,
      '/API/memory': 404,
    }
    for (const [path, status] of Object.entries(statuses)) {
      expect([path, (await client.get(path)).status]).toEqual([path, status])
    }
    expect(Object.prototype).not.toHaveProperty('polluted')
  })
})

describe('bodies', () => {
  const bodies: {
    readonly [what: string]: [status: number, raw: string | Uint8Array<ArrayBuffer>]
  } = {
    'no JSON': [400, '{"content": }'],
    'half of it': [400, '{"content": "x"'],
    'a list': [400, '[]'],
    'a text': [400, '"x"'],
    null: [400, 'null'],
    'a NUL byte': [400, '{"content": "a\0b"}'],
    'invalid UTF-8': [400, Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    'an overlong character': [400, Buffer.from('{"content":"\xc0\xaf"}', 'latin1')],
    'a prototype': [400, '{"content": "x", "__proto__": {"polluted": true}}'],
    'a deep prototype': [400, '{"content": "x", "metadata": {"a": [{"constructor": {}}]}}'],
    'a thousand levels': [
      400,
      `{"content": "x", "metadata": ${'{"a":'.repeat(1_000)}1${'}'.repeat(1_001)}`,
    ],
    'half a million levels': [400, '['.repeat(500_000)],
    'ten megabytes': [413, `{"content": "${'x'.repeat(10_000_000)}"}`],
    'ten thousand strange fields': [
      400,
      JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`f${n}`, n]))),
    ],
  }

  it.each(Object.entries(bodies))('[HT34] %s', async (_, [status, raw]) => {
    const { client, engine, before } = await filled()
    const answer = await client.call('POST', '/api/memory', { raw })
    expect(answer.status).toBe(status)
    expect(JSON.stringify(answer.body).length).toBeLessThan(20_000)
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    expect(await everything(engine)).toEqual(before)
  })

  it('[HT34] returns any JSON text unchanged', async () => {
    const { client } = await filled()
    const content = 'a\0b \u{1f469}\u200d\u{1f680} \u202e end'
    const { body } = await client.post('/api/memory', { content })
    expect((await client.get(`/api/memory/${body.id}`)).body.memory.content).toBe(content)
  })

  it('[HT34] only JSON in UTF-8 is read', async () => {
    const { client } = await filled()
    const post = (type: string, more: { readonly [name: string]: string } = {}) =>
      client.call('POST', '/api/memory', {
        raw: '{"content":"x"}',
        headers: { 'content-type': type, ...more },
      })
    for (const type of ['application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"']) {
      expect([type, (await post(type)).status]).toEqual([type, 201])
    }
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'application/json; charset=latin1',
    ]) {
      expect([type, (await post(type)).status]).toEqual([type, 415])
    }
    expect((await post('application/json', { 'content-encoding': 'gzip' })).status).toBe(415)
  })
})
