import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { type EvalDocument, loadSet } from './datasets.ts'
import { toConversations } from './e2e/conversations.ts'
import { openDirectReplay } from './e2e/direct-replay.ts'
import { findEvidence, findSharedPassages, isNewestFirst } from './e2e/evidence.ts'
import { openGatewayReplay } from './e2e/gateway-replay.ts'
import { type Measurement, measureGroup } from './e2e/measure.ts'
import { scoreEvidence, scoreNewestFirst, scoreUnrelated } from './e2e/metrics.ts'
import type { InjectedContext, OpenReplay } from './e2e/replay.ts'
import { toReport } from './e2e/report.ts'

const OLDER = 'I keep my bicycle in the cellar of the house, next to the old boiler.'
const NEWER = 'By the way, the bicycle stands in the garden shed now, behind the mower.'
const NONE = { memories: [], quoted: new Set<string>() }

function document(id: string, fields: Partial<EvalDocument> = {}): EvalDocument {
  const rest = { group: 'g', session: 's1', ts: '2024-01-01T10:00', caption: null }
  return { id, speaker: 'user', text: id, ...rest, ...fields }
}

function gold(id: string, text: string, at: number) {
  return { id, text, at }
}

describe('evidence in a block', () => {
  const older = gold('older', OLDER, 1)
  const newer = gold('newer', NEWER, 2)
  const sources = (block: string, ...turns: readonly ReturnType<typeof gold>[]) =>
    findEvidence({ block, ...NONE }, turns).map(({ source }) => source)

  it('is a passage of forty characters, regardless of spacing and escaping', () => {
    expect(sources(`- user: …${OLDER.slice(10, 50)}… (2024-01-01)`, older)).toEqual(['passage'])
    expect(sources(`- user: …${OLDER.slice(10, 49)}… (2024-01-01)`, older)).toEqual([null])
    const code = gold(
      'code',
      'Use <section class="a">\n\n  and close it with </section> & more.',
      1,
    )
    expect(
      sources('- user: Use &lt;section class="a"> and close it with &lt;/section> & more.', code),
    ).toEqual(['passage'])
    expect(sources('', older)).toEqual([null])
  })

  it('is the whole of a shorter turn', () => {
    const short = gold('short', 'Rex', 1)
    expect(sources('- user: Rex (2024-01-01)', short)).toEqual(['passage'])
    expect(sources('- user: A Rexroth pump (2024-01-01)', short)).toEqual([null])
  })

  it('is a memory whose provenance names the turn', () => {
    const memories = [{ content: 'The bicycle is in the cellar', documents: new Set(['older']) }]
    const block = '- The bicycle is in the cellar (2024-01-01)'
    const found = findEvidence({ block, memories, quoted: new Set() }, [older, newer])
    expect(found.map(({ source }) => source)).toEqual(['memory', null])
  })

  it('does not count when the quoted passage belongs to another turn', () => {
    const phrase = 'Do you have any tips on how to look after it in winter?'
    const golds = [gold('a', `My tent is green. ${phrase}`, 1)]
    const isShared = findSharedPassages(golds, [...golds, { id: 'b', text: `A canoe. ${phrase}` }])
    const block = `- user: A canoe. ${phrase} (2024-01-01)`
    const own = (quoted: string) =>
      findEvidence({ block, memories: [], quoted: new Set([quoted]) }, golds, isShared)
    expect(own('b')).toMatchObject([{ source: 'passage', isOwn: false }])
    expect(own('a')).toMatchObject([{ source: 'passage', isOwn: true }])
  })

  it('has the newest first when it precedes all older ones or is the only one', () => {
    const first = (...lines: readonly string[]) =>
      isNewestFirst(findEvidence({ block: lines.join('\n'), ...NONE }, [older, newer]))
    expect(first(NEWER, OLDER)).toBe(true)
    expect(first(OLDER, NEWER)).toBe(false)
    expect(first(NEWER)).toBe(true)
    expect(first(OLDER)).toBe(false)
    expect(first('something else')).toBeNull()
    const sameDay = [older, { ...newer, at: 1 }]
    expect(isNewestFirst(findEvidence({ block: NEWER, ...NONE }, sameDay))).toBeNull()
  })
})

describe('conversations of a set', () => {
  it('pair turns, merge answers, and insert a blank user turn where the assistant begins', () => {
    const turn = (id: string, speaker: string) => document(id, { speaker })
    const [conversation] = toConversations([
      ...[turn('greeting', 'assistant'), turn('a', 'user'), turn('b', 'user')],
      ...[turn('c', 'assistant'), turn('d', 'assistant'), document('blank', { text: ' ' })],
    ])
    const exchanges = conversation?.exchanges.map(({ user, assistant }) => [
      user.documents,
      assistant?.documents ?? null,
    ])
    expect(exchanges).toEqual([
      [[], ['greeting']],
      [['a'], null],
      [['b'], ['c', 'd']],
    ])
  })

  it('take the first of two named speakers for the user, and sessions by date', () => {
    const conversations = toConversations([
      document('late', { session: 's2', ts: '2024-02-01T10:00', speaker: 'Ann' }),
      document('early', { session: 's1', ts: '2024-01-01T10:00', speaker: 'Bob' }),
    ])
    expect(conversations.map(({ exchanges }) => exchanges[0]?.user.documents)).toEqual([
      [],
      ['late'],
    ])
  })
})

describe('a small set', () => {
  const folder = mkdtempSync(join(tmpdir(), 'eval-e2e-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const row = (id: string, session: string, ts: string, speaker: string, text: string) => ({
    ...{ id, group: 'g', session, ts, speaker, text },
  })
  const files = {
    docs: [
      row('1', 's1', '2024/01/02 (Tue) 10:00', 'user', OLDER),
      row('2', 's1', '2024/01/02 (Tue) 10:00', 'assistant', 'A dry cellar is a good place.'),
      row('3', 's2', '2024/03/04 (Mon) 10:00', 'user', NEWER),
      row('4', 's2', '2024/03/04 (Mon) 10:00', 'assistant', 'Lock the shed at night.'),
      row('5', 's2', '2024/03/04 (Mon) 10:00', 'user', 'I prefer jasmine tea over coffee.'),
      row('6', 's2', '2024/03/04 (Mon) 10:00', 'assistant', 'Jasmine it is.'),
    ],
    queries: [
      {
        ...{ id: 'q1', group: 'g', question: 'Where is my bicycle?', gold: ['1', '3'] },
        ...{ category: 'knowledge-update', question_date: '2024/05/06 (Mon) 10:00' },
      },
      {
        ...{ id: 'q2', group: 'g', question: 'Which tea do I prefer over coffee?', gold: ['5'] },
        ...{ category: 'single-session-user', question_date: '2024/05/06 (Mon) 10:00' },
      },
    ],
  }
  mkdirSync(join(folder, 'longmemeval-s'))
  for (const [name, rows] of Object.entries(files)) {
    const text = rows.map((each) => `${JSON.stringify(each)}\n`).join('')
    writeFileSync(join(folder, 'longmemeval-s', `${name}.jsonl.gz`), gzipSync(text))
  }
  const unrelated = [
    { kind: 'general', text: 'How deep is the Mariana trench?' },
    { kind: 'small talk', text: 'Thanks!' },
  ] as const
  const measured = async (open: OpenReplay): Promise<Measurement> =>
    measureGroup(await loadSet(folder, 'longmemeval-s'), {
      ...{ open, embedder: null, budgets: [400, 800], unrelated },
    })

  /** Answers every question with the same context. */
  const scripted = (fields: Partial<InjectedContext>): OpenReplay => {
    const context = { block: null, tokens: 0, items: 0, ...NONE, skipped: null, degraded: [] }
    return async () => ({
      write: async () => {},
      ask: async () => ({ ...context, prepareMs: 1, ...fields }),
      close: async () => {},
    })
  }

  it('counts evidence, order and unrelated blocks by what the blocks hold', async () => {
    const block = `- user: ${OLDER} (2024-01-02)\n- user: ${NEWER} (2024-03-04)`
    const found = await measured(scripted({ block, items: 2, tokens: 60 }))
    const at800 = found.questions.filter(({ budget }) => budget === 800)
    expect(scoreEvidence(at800)).toMatchObject({
      ...{ questions: 2, any: 0.5, all: 0.5, ownAny: 0.5, memoryOnly: 0, tokens: 60 },
    })
    expect(scoreNewestFirst(at800)).toEqual({ count: 0, of: 1 })
    expect(scoreUnrelated(found, ['general'])).toEqual({ count: 1, of: 1 })
    const { floors, metrics } = toReport([['longmemeval-s', found]], { explain: true })
    expect(metrics['longmemeval-s newest first']).toBe(0)
    expect(floors.every(({ holds }) => !holds)).toBe(true)
  })

  it('does not count a block with only the identity of the user', async () => {
    const found = await measured(scripted({ block: '- My name is Ada (2024-01-02)', items: 0 }))
    expect(scoreUnrelated(found, ['general', 'small talk'])).toEqual({ count: 0, of: 2 })
  })

  it.each([
    ['the engine', openDirectReplay],
    ['the HTTP gateway', openGatewayReplay],
  ] as const)('goes through %s, from the conversation to the prompt', async (_, open) => {
    const { questions, unrelated: unrelatedResults, turns } = await measured(open)
    expect(turns).toBe(6)
    const tea = questions.find(({ query, budget }) => query.id === 'q2' && budget === 800)
    expect(tea?.context.block).toContain('jasmine tea')
    expect(tea?.context.tokens).toBeGreaterThan(0)
    expect(tea?.context.tokens).toBeLessThanOrEqual(800)
    expect(tea?.evidence).toMatchObject([{ isOwn: true }])
    expect(unrelatedResults.map(({ context }) => context.items)).toEqual([0, 0])
  })
})
