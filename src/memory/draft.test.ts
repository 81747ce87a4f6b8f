import { describe, expect, it } from 'vitest'
import { instant } from '../../test/fakes/memories.ts'
import { parseEntryId } from '../domain/ids.ts'
import * as limits from '../domain/limits.ts'
import { parseScope, SHARED_OWNER, SYSTEM_OWNER } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import { type DraftInput, parseDraft, parseEdit } from './draft.ts'

const expectRejected = (action: () => unknown, field: string) => {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'invalid_input', facts: { field } })
    return
  }
  expect.unreachable(`${field} should have been rejected`)
}

describe('parseDraft', () => {
  const draft = (fields: object) =>
    parseDraft({ content: 'x', ...fields } as DraftInput, instant(1))

  it.each([
    ['content', { content: '' }],
    ['content', { content: ' \n\t ' }],
    ['content', { content: 7 }],
    ['content', { content: 'x'.repeat(limits.CONTENT_CHARACTERS_MAX + 1) }],
    ['key', { key: '' }],
    ['key', { key: 'x'.repeat(limits.KEY_CHARACTERS_MAX + 1) }],
    ['type', { type: 'rumour' }],
    ['category', { category: 'Preference' }],
    ['importance', { importance: 0 }],
    ['importance', { importance: 5.5 }],
    ['importance', { importance: '5' }],
    ['salience', { salience: 1.01 }],
    ['salience', { salience: Number.NaN }],
    ['pinned', { pinned: 1 }],
    ['trust', { trust: 'everyone' }],
    ['expiresAt', { expiresAt: '2026-01-01' }],
    ['expiresAt', { expiresAt: 1e20 }],
    ['validUntil', { validFrom: 10, validUntil: 9 }],
    ['entities', { entities: 'Ada' }],
    ['entities', { entities: Array(limits.ENTITIES_MAX + 1).fill('x') }],
    ['language', { language: 'x'.repeat(50) }],
    ['metadata', { metadata: [] }],
    ['metadata', { metadata: { when: new Map([[1, () => 1]]).get(1) } }],
    ['metadata', { metadata: { n: Number.POSITIVE_INFINITY } }],
    ['metadata', { metadata: { long: 'x'.repeat(limits.METADATA_CHARACTERS_MAX) } }],
    ['observedAt', { observedAt: 1.5 }],
    ['colour', { colour: 'blue' }],
  ])('[DM1] rejects a bad %s', (field, fields) => {
    expectRejected(() => draft(fields), field)
  })

  it('[DM1] rejects metadata that is nested too deeply, without overflowing the stack', () => {
    let nested: object = {}
    for (let depth = 0; depth < 10_000; depth++) nested = { nested }
    expectRejected(() => draft({ metadata: nested }), 'metadata')
  })

  it('[DM1] accepts values at their limits unchanged', () => {
    const content = ` ${'x'.repeat(limits.CONTENT_CHARACTERS_MAX - 1)}`
    expect(draft({ content, importance: 10, salience: 0 })).toMatchObject({
      content,
      fields: { importance: 10, salience: 0 },
    })
  })
})

it('[DM1] rejects edits of fields that callers cannot set', () => {
  for (const field of ['id', 'version', 'status', 'sourceCount', '__proto__x']) {
    expectRejected(() => parseEdit({ [field]: 1 }), field)
  }
})

describe('parseScope', () => {
  it('[DM2] accepts ordinary names and rejects blank, padded, long or unprintable ones', () => {
    expect(parseScope({ owner: 'ada@example.com', user: null, session: '今日' })).toEqual({
      owner: 'ada@example.com',
      user: null,
      session: '今日',
    })
    for (const name of ['', ' ', ' a', 'a ', 'a\u0000b', 'a\nb', '\ud800', 'x'.repeat(201)]) {
      expectRejected(() => parseScope({ owner: name }), 'owner')
      expectRejected(() => parseScope({ owner: 'a', user: name }), 'user')
      expectRejected(() => parseScope({ owner: 'a', session: name }), 'session')
    }
  })

  it('[DM2] reserves owners that begin with @, except the shared one', () => {
    expect(parseScope({ owner: '@shared' }).owner).toBe(SHARED_OWNER)
    expect(parseScope({ owner: 'a', user: '@ada', session: '@' })).toMatchObject({ user: '@ada' })
    for (const owner of [SYSTEM_OWNER, '@', '@ada', '@shared2']) {
      expectRejected(() => parseScope({ owner }), 'owner')
    }
  })
})

it('[ST30] accepts short and plain entry ids and rejects others', () => {
  for (const id of ['key_01k3x', 'set_9f:a.b@c-d', 'x'.repeat(200)]) {
    expect(parseEntryId(id)).toBe(id)
  }
  for (const id of ['', 'a b', 'ä', "'", 'x'.repeat(201), 'a\n', 7, null]) {
    expect(() => parseEntryId(id)).toThrow(/^An entry id must be/)
  }
})
