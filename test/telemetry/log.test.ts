import fs, { openSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import { AppError } from '../../src/lib/errors.ts'
import { createJsonLog, toLogLine } from '../../src/telemetry/json-log.ts'
import {
  LOG_EVENTS,
  LOG_FIELDS,
  LOG_LEVELS,
  type LogEvent,
  type LogFields,
} from '../../src/telemetry/telemetry.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const SECRET = 'the safe opens with 9-1-7'
const KEY = `rc_01k3x9q2v7_${'aB3-_xYz'.repeat(5)}`

/** A log that keeps its lines. */
function kept(level: 'silent' | 'debug' | 'info' | 'warn' | 'error' = 'debug') {
  const lines: string[] = []
  const log = createJsonLog({ level, destination: { write: (line) => lines.push(line) } })
  return { log, lines, text: () => lines.join(''), parsed: () => lines.map(parse) }
}

function parse(line: string): Record<string, unknown> {
  return JSON.parse(line)
}

/** As somebody would pass it who has not read the types. */
function carelessly(fields: object): LogFields {
  return fields as LogFields
}

it('[TE1] every event is one line of JSON with its level, time and fields', () => {
  const { log, lines, parsed } = kept()
  log.write('info', 'request', { method: 'GET', route: '/v1/memories/:id', status: 200 })
  log.write('warn', 'retriever_failed', { retriever: 'vector', reasons: ['a', 'b'] })
  expect(lines.every((line) => line.endsWith('\n') && line.trim().split('\n').length === 1)).toBe(
    true,
  )
  expect(parsed()).toMatchObject([
    { level: 'info', event: 'request', method: 'GET', route: '/v1/memories/:id', status: 200 },
    { level: 'warn', event: 'retriever_failed', retriever: 'vector', reasons: ['a', 'b'] },
  ])
  expect(parsed()[0]?.time).toMatch(/^\d{4}-\d\d-\d\dT/)
})

it('[TE1] lines below the chosen level are not written, and none when it is silent', () => {
  for (const [position, level] of LOG_LEVELS.entries()) {
    const { log, parsed } = kept(level)
    for (const each of LOG_LEVELS) log.write(each, 'job_finished')
    expect(parsed().map((line) => line.level)).toEqual(LOG_LEVELS.slice(position))
  }
  const { log, lines } = kept('silent')
  for (const each of LOG_LEVELS) log.write(each, 'job_finished')
  expect(lines).toEqual([])
})

it('[TE1] writes lines to a file descriptor, and flushes on close', async () => {
  const path = temporaryFile('log.jsonl')
  const log = createJsonLog({ destination: openSync(path, 'w') })
  for (let count = 0; count < 100; count++) log.write('info', 'job_finished', { count })
  await log.close()
  const lines = readFileSync(path, 'utf8').trim().split('\n')
  expect(lines.map((line) => parse(line).count)).toEqual(Array.from({ length: 100 }, (_, n) => n))
})

it('[TE1] lines reach their file soon, and where there are none nothing is written', async () => {
  const writes = vi.spyOn(fs, 'write')
  onTestFinished(() => writes.mockRestore())
  const path = temporaryFile('quiet.log')
  const log = createJsonLog({ destination: openSync(path, 'w') })
  const writtenLines = () => readFileSync(path, 'utf8').split('\n').slice(0, -1)
  for (const count of [1, 2, 3]) {
    log.write('info', 'job_finished', { count })
    await expect.poll(() => writtenLines().length).toBe(count)
  }
  expect(writes).toHaveBeenCalledTimes(3)
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(writes).toHaveBeenCalledTimes(3)
  await log.close()
})

it('[TE2] omits fields that are not in the table', () => {
  const hostile = {
    content: SECRET,
    text: SECRET,
    query: { text: SECRET },
    memory: { content: SECRET },
    memories: [{ content: SECRET }],
    body: SECRET,
    headers: { authorization: `Bearer ${KEY}`, cookie: SECRET, 'x-api-key': KEY },
    authorization: KEY,
    apiKey: KEY,
    key: KEY,
    secret: SECRET,
    passphrase: SECRET,
    password: SECRET,
    url: `/v1/search?q=${SECRET}`,
    msg: SECRET,
    time: SECRET,
    level: SECRET,
    event: SECRET,
    err: new Error(SECRET),
    [SECRET]: 1,
    toJSON: () => SECRET,
    __proto__: { content: SECRET },
  }
  for (const level of LOG_LEVELS) {
    const { log, text, parsed } = kept()
    log.write(level, 'request', carelessly({ ...hostile, status: 500 }))
    log.write(level, 'request', carelessly(JSON.parse(`{"__proto__":{"content":"${SECRET}"}}`)))
    expect(text()).not.toContain(SECRET)
    expect(text()).not.toContain(KEY)
    expect(parsed()[0]).toMatchObject({ event: 'request', status: 500 })
    expect(parsed()[0]?.leftOut).toBeGreaterThan(10)
  }
})

it('[TE2] fields of the table hold short plain values only', () => {
  for (const name of Object.keys(LOG_FIELDS)) {
    const nested = toLogLine('request', carelessly({ [name]: { content: SECRET } }))
    expect(nested).toEqual({ event: 'request', leftOut: 1 })
    const list = toLogLine('request', carelessly({ [name]: [{ content: SECRET }, [SECRET]] }))
    expect(JSON.stringify(list)).not.toContain(SECRET)
    const long = toLogLine('request', carelessly({ [name]: 'x'.repeat(10_000) }))
    expect(String(long[name]).length).toBeLessThanOrEqual(200)
  }
})

it('[TE2] a secret inside a permitted value is hidden', () => {
  const values = [
    KEY,
    `Bearer ${SECRET.replaceAll(' ', '')}`,
    `Authorization: Basic ${SECRET.replaceAll(' ', '')}`,
    `https://ada:${SECRET.replaceAll(' ', '')}@example.org/`,
    `https://example.org/x?q=${SECRET.replaceAll(' ', '')}`,
    `password=${SECRET.replaceAll(' ', '')}`,
    `{"apiKey":"${SECRET.replaceAll(' ', '')}"}`,
    'sk-proj-abcdefghijklmnopqrstuvwxyz',
    'a '.repeat(95) + KEY,
    '0123456789abcdef'.repeat(4),
  ]
  for (const value of values) {
    const shown = JSON.stringify(toLogLine('started', { host: value }))
    expect(shown).toContain('[hid')
    for (const secret of [SECRET.replaceAll(' ', ''), 'rc_01', 'sk-proj', '0123456789abcdef']) {
      expect(shown).not.toContain(secret)
    }
  }
  expect(toLogLine('request', { actor: 'key_01k3x9q2v7h8m4n5p6r7s8t9v0' })).toMatchObject({
    actor: 'key_01k3x9q2v7h8m4n5p6r7s8t9v0',
  })
})

it('[TE2] no value of any kind makes logging fail, or gets in where it must not', () => {
  const { log, lines } = kept()
  fc.assert(
    fc.property(fc.object({ withBigInt: true, withSparseArray: true }), (fields) => {
      lines.length = 0
      log.write('info', 'request', carelessly({ ...fields, error: fields }))
      const [line = '{}'] = lines
      const known = ['level', 'time', 'event', 'error', 'leftOut', ...Object.keys(LOG_FIELDS)]
      expect(Object.keys(parse(line)).filter((name) => !known.includes(name))).toEqual([])
    }),
  )
  const circular: Record<string, unknown> = { status: 200 }
  circular.self = circular
  const thrower = {
    get status(): number {
      throw new Error(SECRET)
    },
  }
  log.write('info', 'request', carelessly(circular))
  expect(() => log.write('info', 'request', carelessly(thrower))).not.toThrow()
  expect(toLogLine(SECRET as LogEvent, {})).toEqual({ event: 'unknown' })
  expect(Object.keys(LOG_EVENTS)).not.toContain('unknown')
})

it('[TE3] logs the code and the origin of an error, and no foreign message', () => {
  const foreign = Object.assign(new TypeError(`cannot bind '${SECRET}'`), { code: 'ERR_BIND' })
  const wrapped = new AppError('unavailable', 'The store can’t be reached.', {}, foreign)
  const { log, text, parsed } = kept()
  log.write('error', 'operation_failed', { error: wrapped })
  log.write('error', 'operation_failed', { error: SECRET })
  log.write('error', 'operation_failed', { error: { message: SECRET, code: SECRET } })
  expect(text()).not.toContain(SECRET)
  expect(parsed()[0]?.error).toMatchObject({
    name: 'AppError',
    code: 'unavailable',
    message: 'The store can’t be reached.',
    stack: expect.arrayContaining([expect.stringContaining('log.test.ts')]),
    cause: { name: 'TypeError', code: 'ERR_BIND' },
  })
  expect(parsed()[0]).not.toHaveProperty('error.cause.message')
})

it('[TE3] our own messages are left out where they quote what was sent', () => {
  for (const code of ['invalid_input', 'internal'] as const) {
    const line = toLogLine('request_failed', { error: new AppError(code, `"${SECRET}" is no id.`) })
    expect(JSON.stringify(line)).not.toContain(SECRET)
    expect(line).toMatchObject({ error: { code } })
  }
})

it('[TE3] a message that looks like a stack does not get in with it', () => {
  const forged = new Error(`no\n    at ${SECRET} (file:///x.js:1:1)\n    at b (y.js:2:2)`)
  const endless = new Error('outer')
  endless.cause = endless
  const odd = Object.assign(new Error('x'), { stack: 7, name: SECRET, code: SECRET })
  for (const error of [forged, endless, odd]) {
    expect(JSON.stringify(toLogLine('request_failed', { error }))).not.toContain(SECRET)
  }
})
