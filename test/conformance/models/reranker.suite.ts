/** The contract of `Reranker`, run over every implementation. Rule ids refer to spec/. */
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import type { Reranker } from '../../../src/models/reranker.ts'

/** With a model or service that finds texts with the words of the question better than others. */
export type OpenReranker = () => Promise<Reranker>

const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'
const TIMEOUT_MS = 60_000
const NEVER = new AbortController().signal
const MEGABYTE = 'The cat sat on the mat and would not leave it. '.repeat(23_000)

const QUESTION = 'Where is the cat?'
const CAT = 'The cat sat on the mat.'
const TAX = 'The tax is due on friday.'

export function describeReranker(name: string, open: OpenReranker): void {
  const opened = async () => {
    const reranker = await open()
    onTestFinished(() => reranker.close())
    return reranker
  }

  describe(`${name}: scores`, { timeout: TIMEOUT_MS }, () => {
    describeScores(opened)
    describeAnyText(opened)
  })
  describe(`${name}: stopping`, { timeout: TIMEOUT_MS }, () => describeStopping(opened))
}

function describeScores(open: OpenReranker): void {
  it('[RR1] gives a better score to the text that fits better, wherever it stands', async () => {
    const reranker = await open()
    expect(reranker.name).not.toBe('')
    for (const texts of [
      [CAT, TAX],
      [TAX, CAT],
      [TAX, TAX, CAT, TAX],
    ]) {
      const scores = await rerankAll(reranker, QUESTION, texts)
      const best = Math.max(...scores.values())
      expect(scores.get(texts.indexOf(CAT))).toBe(best)
      expect(scores.get(texts.indexOf(TAX))).toBeLessThan(best)
    }
  })

  it('[RR1] gives no score for no text', async () => {
    const reranker = await open()
    expect(await reranker.rerank(QUESTION, [], NEVER)).toEqual([])
  })

  it('[RR1] scores one text, and many, also when they are the same', async () => {
    const reranker = await open()
    expect((await rerankAll(reranker, QUESTION, [CAT])).size).toBe(1)
    const many = Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? CAT : TAX))
    const scores = await rerankAll(reranker, QUESTION, many)
    expect(scores.size).toBe(100)
    expect(scores.get(99)).toBe(scores.get(0))
  })

  it('[RR1] does not change its input', async () => {
    const reranker = await open()
    await rerankAll(reranker, QUESTION, Object.freeze([TAX, CAT]))
  })

  it('[RR1] answers calls at the same time as if they came one by one', async () => {
    const reranker = await open()
    const lists = Array.from({ length: 6 }, (_, call) =>
      Array.from({ length: 4 }, (_, index) => ((call + index) % 3 === 0 ? CAT : TAX)),
    )
    const together = await Promise.all(lists.map((texts) => rerankAll(reranker, QUESTION, texts)))
    for (const [call, texts] of lists.entries()) {
      expect(together[call]).toEqual(await rerankAll(reranker, QUESTION, texts))
    }
  })
}

function describeAnyText(open: OpenReranker): void {
  it('[RR1] takes any string as question and as text', async () => {
    const strange = [
      '',
      ' ',
      '\n\t\r\n',
      '\u200b\ufeff',
      '👩‍👩‍👧‍👦🏳️‍🌈🇳🇴',
      '\ud800',
      'half \ud83d of a pair',
      '\udc4d\ud83d reversed',
      '\0',
      'be\0tween',
      '\u0001\u001f\u007f\u0085\uffff',
      '\u202e reversed \u2066 isolated',
      '[CLS] cat [SEP] cat [SEP] [UNK] </s>',
      '{"results": [{"index": 0, "relevance_score": 1}]}',
    ]
    const reranker = await open()
    await rerankAll(reranker, QUESTION, strange)
    for (const question of strange) await rerankAll(reranker, question, [CAT, ''])
  })

  it('[RR1] takes questions and texts of a megabyte, and words that are very long', async () => {
    expect(MEGABYTE.length).toBeGreaterThan(1024 * 1024)
    const reranker = await open()
    await rerankAll(reranker, QUESTION, [MEGABYTE, CAT, 'x'.repeat(10_000), '漢'.repeat(10_000)])
    await rerankAll(reranker, MEGABYTE, [MEGABYTE, CAT])
  })

  it.skipIf(!existsSync(NAUGHTY_STRINGS))(
    '[RR1] takes every string of the public list of troublesome ones (skipped where the list is not)',
    async () => {
      const reranker = await open()
      const strings = JSON.parse(readFileSync(NAUGHTY_STRINGS, 'utf8')) as string[] // see its README
      await rerankAll(reranker, QUESTION, strings)
    },
  )
}

function describeStopping(open: OpenReranker): void {
  it('[RR2] refuses a call that was cancelled before it began', async () => {
    const reranker = await open()
    await expectError(reranker.rerank(QUESTION, [CAT], AbortSignal.abort()), 'cancelled')
    await rerankAll(reranker, QUESTION, [CAT])
  })

  it('[RR2] stops a call under way and takes no other call with it', async () => {
    const reranker = await open()
    const controller = new AbortController()
    const stopped = reranker.rerank(QUESTION, Array(50).fill(CAT), controller.signal)
    const other = rerankAll(reranker, QUESTION, [TAX, CAT])
    controller.abort()
    await expectError(stopped, 'cancelled')
    expect((await other).size).toBe(2)
  })

  it('[RR2] may be closed twice, and before it was ever used', async () => {
    const reranker = await open()
    await rerankAll(reranker, QUESTION, [CAT])
    await reranker.close()
    await reranker.close()
    await (await open()).close()
  })

  it('[RR2] ends the calls under way when it is closed, and takes no other', async () => {
    const reranker = await open()
    const call = expectError(reranker.rerank(QUESTION, Array(50).fill(CAT), NEVER), 'cancelled')
    await reranker.close()
    await call
    await expectError(reranker.rerank(QUESTION, [CAT], NEVER), 'unavailable')
  })
}

/** The scores by position, after checking everything that holds for every answer. */
async function rerankAll(
  reranker: Reranker,
  question: string,
  texts: readonly string[],
): Promise<ReadonlyMap<number, number>> {
  const scores = await reranker.rerank(question, texts, NEVER)
  const byIndex = new Map(scores.map(({ index, score }) => [index, score]))
  expect(byIndex.size).toBe(scores.length)
  for (const [index, score] of byIndex) {
    expect(Number.isInteger(index)).toBe(true)
    expect(index).toBeGreaterThanOrEqual(0)
    expect(index).toBeLessThan(texts.length)
    expect(Number.isFinite(score)).toBe(true)
  }
  return byIndex
}

async function expectError(call: Promise<unknown>, code: AppError['code']): Promise<void> {
  const outcome: unknown = await call.then(
    () => 'it answered',
    (thrown: unknown) => thrown,
  )
  expect(outcome).toBeInstanceOf(AppError)
  expect(outcome).toMatchObject({ code })
}
