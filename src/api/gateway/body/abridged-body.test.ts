import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../bench/harness.ts'
import type { Json } from '../../../lib/json.ts'
import { appendToString, insertElement, replaceModel } from '../formats/json-edit.ts'
import { refersToStateOf } from '../formats/provider-references.ts'
import { clipText } from '../formats/text-clip.ts'
import { abridgeBody } from './abridged-body.ts'

const NOTHING_REFERS = () => null

function read(text: string, refers: Parameters<typeof abridgeBody>[1] = NOTHING_REFERS) {
  return abridgeBody(Buffer.from(text), refers)
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}

const STRINGS = [
  '',
  'a',
  '"',
  '\\',
  '\\"',
  'é',
  '日本',
  '😀',
  '\u0000\n',
  '[',
  '{"a":1}',
  ',',
  ':',
  '@@',
]

function randomJson(random: () => number, depth: number): Json {
  const kind = Math.floor(random() * (depth > 3 ? 4 : 6))
  const pick = () => STRINGS[Math.floor(random() * STRINGS.length)] ?? ''
  if (kind === 0) return pick() + pick()
  if (kind === 1) return Math.round(random() * 1_000) / 10
  if (kind === 2) return random() < 0.5
  if (kind === 3) return null
  const items = Array.from({ length: Math.floor(random() * 5) }, () =>
    randomJson(random, depth + 1),
  )
  return kind === 4 ? items : Object.fromEntries(items.map((item, n) => [`${pick()}${n}`, item]))
}

describe('a large body', () => {
  it('[GW29] is read like any other, and comes back byte for byte', async () => {
    const random = seededRandom(7)
    for (let run = 0; run < 500; run++) {
      const members = Array.from({ length: 1 + Math.floor(random() * 4) }, (_, n) => [
        `${STRINGS[Math.floor(random() * STRINGS.length)]}${n}`,
        randomJson(random, 0),
      ])
      const value = Object.fromEntries(members)
      const text = ` ${JSON.stringify(value, null, run % 3)}\n`
      const body = await read(text)
      expect(body.json, text).toEqual(value)
      expect(body.text).toBe(text)
      expect(textOf(body.toBytes(body.text))).toBe(text)
    }
  })

  it('[GW29] is refused where it is no JSON', async () => {
    const random = seededRandom(8)
    const characters = '[]{},:"\\ 1a'
    let refused = 0
    for (let run = 0; run < 2_000; run++) {
      const good = JSON.stringify({
        a: randomJson(random, 0),
        messages: [randomJson(random, 1), 1],
      })
      const at = Math.floor(random() * good.length)
      const other = characters[Math.floor(random() * characters.length)] ?? ''
      // Through bytes, because the change may have split a character.
      const text = textOf(Buffer.from(good.slice(0, at) + other + good.slice(at + 1)))
      let parsed: unknown
      try {
        parsed = JSON.parse(text)
      } catch {
        refused++
        await expect(read(text), text).rejects.toThrow('could not parse')
        continue
      }
      expect((await read(text)).json, text).toEqual(parsed)
    }
    expect(refused).toBeGreaterThan(500)
  })

  it('[GW29] can be edited: what stands in for a long string is its bytes again', async () => {
    const strings = ['x'.repeat(500_000), '\\n\\u00e9"'.repeat(60_000), '日本😀'.repeat(60_000)]
    for (const content of strings) {
      const request = { model: 'm', messages: [{ role: 'user', content }], end: 1 }
      const text = JSON.stringify(request)
      const body = await read(text)
      expect(body.text.length).toBeLessThan(text.length)
      const path = ['messages', 0, 'content'] as const
      const appended = appendToString(body.text, path, '\n<block>') ?? ''
      const added = insertElement(
        replaceModel(appended, 'other'),
        ['messages'],
        0,
        '{"role":"system"}',
      )
      expect(JSON.parse(textOf(body.toBytes(added ?? '')))).toEqual({
        ...request,
        model: 'other',
        messages: [{ role: 'system' }, { role: 'user', content: `${content}\n<block>` }],
      })
      const [message] = body.json.messages as { content: string }[]
      expect(clipText(message?.content ?? '')).toBe(clipText(content))
    }
  })

  it('[GW29] keeps next to nothing of images in memory as text', async () => {
    const data = Buffer.alloc(300_000, 7).toString('base64')
    const content = [
      { type: 'image', source: { type: 'base64', data } },
      { type: 'text', text: 'Hi' },
    ]
    const request = { messages: Array.from({ length: 20 }, () => ({ role: 'user', content })) }
    const body = await read(JSON.stringify(request))
    expect(body.isTooLarge).toBe(false)
    expect(body.text.length).toBeLessThan(200_000)
    expect(textOf(body.toBytes(body.text))).toBe(JSON.stringify(request))
  })

  it('[GW28.2] with too much text keeps what refers to state of the provider', async () => {
    const said = { role: 'user', content: 'The harbour is quiet. '.repeat(50) }
    const file = { role: 'user', content: [{ type: 'file', file: { file_id: 'file_7' } }] }
    const messages = [...Array(3_000).fill(said), file, ...Array(3_000).fill(said)]
    const text = JSON.stringify({ model: 'm', messages, tools: [{ type: 'x' }], stream: true })
    const body = await read(text, refersToStateOf('chat'))
    expect(body).toMatchObject({ isTooLarge: true, isUnread: false })
    expect(body.json).toMatchObject({ model: 'm', tools: [{ type: 'x' }], stream: true })
    expect(body.json.messages).toContainEqual(file)
    expect((body.json.messages as Json[]).length).toBeLessThan(300)
    expect(textOf(body.toBytes(replaceModel(body.text, 'other')))).toBe(
      text.replace('"model":"m"', '"model":"other"'),
    )
  })

  it('[GW28.2] says that it was not searched where one message has too much structure', async () => {
    const content = Array.from({ length: 150_000 }, (_, n) => ({
      type: 'text',
      text: `part ${n}, tea`,
    }))
    const body = await read(JSON.stringify({ messages: [{ role: 'user', content }] }))
    expect(body).toMatchObject({ isTooLarge: true, isUnread: true })
    const nested = `{"metadata":${'{"a":['.repeat(1_200_000)}`
    await expect(read(nested)).rejects.toMatchObject({ code: 'too_large' })
    const lists = `{${Array.from({ length: 2_000 }, (_, n) => `"l${n}":[]`).join(',')}}`
    await expect(read(lists)).rejects.toMatchObject({ code: 'too_large' })
  })
})
