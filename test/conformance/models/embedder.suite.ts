/**
 * The contract of `Embedder`, run over every implementation and every wrapper. Rule ids refer to spec/.
 */
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import type { Embedder, EmbeddingPurpose } from '../../../src/models/embedder.ts'

export type OpenEmbedder = () => Promise<Embedder>

export type EmbedderSuiteOptions = {
  /**
   * How far two vectors of one text may be apart in any number. Local models give the same bits; services may differ
   * in the last digits from one call to the next.
   */
  readonly tolerance?: number
  /** Texts that must not show up in a report, such as keys. */
  readonly secrets?: readonly string[]
  /** For models that take their time. */
  readonly timeoutMs?: number
  /** Opens one for all tests that look at vectors only, and shows it a third of the listed strings, others each time. */
  readonly isSlow?: boolean
}

const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'
const TIMEOUT_MS = 60_000
const BATCH = 64
const UNIT_TOLERANCE = 1e-4
const MEGABYTE = 'All work and no play makes Jack a dull boy. '.repeat(23_832)

const CATS = 'The cat sat on the mat.'
const ALSO_CATS = 'A cat is sitting on a mat.'
const TAXES = 'Quarterly tax filings are due on Friday.'

export function describeEmbedder(
  name: string,
  open: OpenEmbedder,
  options: EmbedderSuiteOptions = {},
): void {
  const { tolerance = 0, secrets = [], timeoutMs = TIMEOUT_MS, isSlow = false } = options
  const opened = async () => {
    const embedder = await open()
    onTestFinished(() => embedder.close())
    return embedder
  }
  const usual = isSlow ? openedOnce(open) : opened

  describe(`${name}: vectors`, { timeout: timeoutMs }, () => {
    describeVectors(usual, opened)
    describeAnyText(usual, isSlow ? 3 : 1)
  })
  describe(`${name}: sameness`, { timeout: timeoutMs }, () =>
    describeSameness(usual, opened, tolerance),
  )
  describe(`${name}: stopping`, { timeout: timeoutMs }, () => describeStopping(opened))
  describe(`${name}: reports`, { timeout: timeoutMs }, () => describeReports(opened, secrets))
}

function openedOnce(open: OpenEmbedder): OpenEmbedder {
  let opening: Promise<Embedder> | undefined
  afterAll(async () => (await opening)?.close())
  return () => {
    opening ??= open()
    return opening
  }
}

function describeVectors(open: OpenEmbedder, openAnew: OpenEmbedder): void {
  it('[EM1] gives one unit vector for each text, of the dimension it describes', async () => {
    const embedder = await open()
    for (const purpose of ['query', 'document'] as const) {
      await embedsAll(embedder, [CATS, TAXES, ALSO_CATS], purpose)
    }
  })

  it('[EM1] gives vectors in the order of the texts, closer ones to closer texts', async () => {
    const embedder = await open()
    const [cats, taxes, alsoCats] = await embedsAll(embedder, [CATS, TAXES, ALSO_CATS])
    expect(inner(cats, alsoCats)).toBeGreaterThan(inner(cats, taxes))
    expect(inner(alsoCats, cats)).toBeGreaterThan(inner(alsoCats, taxes))
    const [taxesAlone] = await embedsAll(embedder, [TAXES])
    expect(inner(taxes, taxesAlone)).toBeGreaterThan(0.999)
  })

  it('[EM1] gives no vector for no text', async () => {
    const embedder = await open()
    expect(await embedder.embed([], { purpose: 'document' })).toEqual([])
  })

  it('[EM1] always describes the same model', async () => {
    const embedder = await open()
    const [model, same] = await Promise.all([embedder.describe(), embedder.describe()])
    expect(same).toEqual(model)
    expect(model.dimensions).toBeGreaterThan(0)
    expect(Number.isInteger(model.dimensions)).toBe(true)
    await embedsAll(embedder, [CATS])
    expect(await embedder.describe()).toEqual(model)
  })

  it('[EM1] embeds before it is described', async () => {
    const embedder = await openAnew()
    const [vector] = await embedder.embed([CATS], { purpose: 'query' })
    expect(vector?.length).toBe((await embedder.describe()).dimensions)
  })
}

function describeAnyText(open: OpenEmbedder, everyNth: number): void {
  it('[EM1] gives blank texts a vector as well', async () => {
    await embedsAll(await open(), ['', ' ', '\n\t\r\n', '\u00a0\u3000', '\u200b', '\ufeff'])
  })

  it('[EM1] embeds emoji, halves of surrogate pairs, NUL and other odd characters', async () => {
    await embedsAll(await open(), [
      '👍',
      '👩‍👩‍👧‍👦🏳️‍🌈🇳🇴',
      '\ud800',
      '\udc00',
      'half \ud83d of a pair',
      '\udc4d\ud83d reversed',
      '\0',
      'be\0tween',
      '\u0001\u001f\u007f\u0085',
      '\uffff\ufffe\ufdd0',
      'a\u0301\u0302\u0303\u0304'.repeat(50),
      '\u202e reversed \u2066 isolated',
    ])
  })

  it('[EM1] embeds a text of a megabyte', async () => {
    expect(MEGABYTE.length).toBeGreaterThan(1024 * 1024)
    await embedsAll(await open(), [CATS, MEGABYTE])
  })

  it('[EM1] embeds a word that is very long', async () => {
    await embedsAll(await open(), ['x'.repeat(10_000), '漢'.repeat(10_000)])
  })

  it.skipIf(!existsSync(NAUGHTY_STRINGS))(
    '[EM1] embeds any string of the public list of troublesome ones (skipped where the list is not)',
    async () => {
      const embedder = await open()
      const all = JSON.parse(readFileSync(NAUGHTY_STRINGS, 'utf8')) as string[] // see its README
      const first = Math.floor(Math.random() * everyNth)
      const strings = all.filter((_, index) => index % everyNth === first)
      for (let start = 0; start < strings.length; start += BATCH) {
        await embedsAll(embedder, strings.slice(start, start + BATCH))
      }
    },
  )
}

function describeSameness(open: OpenEmbedder, openAnew: OpenEmbedder, tolerance: number): void {
  it('[EM2] embeds a text to the same vector alone and in a batch', async () => {
    const embedder = await open()
    const texts = [CATS, 'Hm.', '', `${TAXES} `.repeat(30), CATS, '漢字', TAXES]
    const together = await embedsAll(embedder, texts)
    for (const [index, text] of texts.entries()) {
      const [alone] = await embedsAll(embedder, [text])
      expectSame(alone, together[index], tolerance)
    }
    expectSame(together[0], together[4], tolerance)
  })

  it('[EM2] gives a text the same vector from another instance', async () => {
    const [one] = await embedsAll(await open(), [CATS])
    const [other] = await embedsAll(await openAnew(), [CATS])
    expectSame(one, other, tolerance)
  })

  it('[EM2] answers calls at the same time as if they came one by one', async () => {
    const embedder = await open()
    const lists = Array.from({ length: 8 }, (_, call) =>
      Array.from({ length: 3 }, (_, index) => `Note ${(call + index) % 5} about ${CATS}`),
    )
    const answers = await Promise.all(lists.map((texts) => embedsAll(embedder, texts)))
    for (const [call, texts] of lists.entries()) {
      const expected = await embedsAll(embedder, texts)
      for (const [index, vector] of expected.entries()) {
        expectSame(answers[call]?.[index], vector, tolerance)
      }
    }
  })

  it('[EM2] is not touched by what callers do to their vectors', async () => {
    const embedder = await open()
    const [vector] = await embedsAll(embedder, [CATS])
    const before = vector?.slice()
    vector?.fill(0)
    const [again] = await embedsAll(embedder, [CATS])
    expectSame(again, before, tolerance)
  })
}

function describeStopping(open: OpenEmbedder): void {
  it('[EM3] refuses a call that was cancelled before it began', async () => {
    const embedder = await open()
    const signal = AbortSignal.abort()
    await expectCancelled(embedder.embed([CATS], { purpose: 'query', signal }))
    await expectCancelled(embedder.describe(signal))
    await embedsAll(embedder, [CATS])
  })

  it('[EM3] stops a call under way', async () => {
    const embedder = await open()
    const controller = new AbortController()
    const texts = Array.from({ length: 50 }, (_, index) => `${CATS} Number ${index}.`)
    const call = embedder.embed(texts, { purpose: 'document', signal: controller.signal })
    controller.abort()
    await expectCancelled(call)
  })

  it('[EM3] takes no other call with it', async () => {
    const embedder = await open()
    const controller = new AbortController()
    const { signal } = controller
    const stopped = embedder.embed([CATS, TAXES], { purpose: 'document', signal })
    const others = [embedsAll(embedder, [CATS, TAXES]), embedsAll(embedder, [TAXES, ALSO_CATS])]
    controller.abort()
    await expectCancelled(stopped)
    await Promise.all(others)
    await embedsAll(embedder, [CATS])
  })

  it('[EM4] may be closed twice, and before it was ever used', async () => {
    const embedder = await open()
    await embedsAll(embedder, [CATS])
    await embedder.close()
    await embedder.close()
    await (await open()).close()
  })
}

function describeReports(open: OpenEmbedder, secrets: readonly string[]): void {
  it('[EM4] reports what it is and how it does, at any time and without secrets', async () => {
    const embedder = await open()
    const before = embedder.report()
    const model = await embedder.describe()
    await embedsAll(embedder, [CATS])
    const after = embedder.report()
    for (const report of [before, after]) {
      expect({ source: report.source, model: report.model }).toEqual({
        source: model.source,
        model: model.model,
      })
      for (const fact of Object.values(report.facts)) {
        expect(['string', 'number', 'boolean']).toContain(typeof fact)
      }
      for (const secret of [...secrets, CATS]) {
        expect(JSON.stringify(report)).not.toContain(secret)
      }
    }
    expect(after.state).toEqual({ kind: 'ready' })
  })
}

/** Embeds and checks everything that holds for every answer. */
async function embedsAll(
  embedder: Embedder,
  texts: readonly string[],
  purpose: EmbeddingPurpose = 'document',
): Promise<readonly Float32Array[]> {
  const vectors = await embedder.embed(texts, { purpose })
  const { dimensions } = await embedder.describe()
  expect(vectors.length).toBe(texts.length)
  for (const [index, vector] of vectors.entries()) {
    const about = JSON.stringify(texts[index]?.slice(0, 80))
    expect(vector, about).toBeInstanceOf(Float32Array)
    expect(vector.length, about).toBe(dimensions)
    expect(vector.every(Number.isFinite), about).toBe(true)
    expect(Math.abs(inner(vector, vector) - 1), about).toBeLessThan(UNIT_TOLERANCE)
  }
  return vectors
}

async function expectCancelled(call: Promise<unknown>): Promise<void> {
  const outcome: unknown = await call.then(
    () => 'it answered',
    (thrown: unknown) => thrown,
  )
  expect(outcome).toBeInstanceOf(AppError)
  expect(outcome).toMatchObject({ code: 'cancelled' })
}

function expectSame(
  one: Float32Array | undefined,
  other: Float32Array | undefined,
  tolerance: number,
): void {
  expect(one).toBeDefined()
  expect(one?.length).toBe(other?.length)
  const apart = Math.max(
    ...Array.from(one ?? [], (value, at) => Math.abs(value - numberAt(other, at))),
  )
  expect(apart).toBeLessThanOrEqual(tolerance)
}

function numberAt(vector: Float32Array | undefined, index: number): number {
  return vector?.[index] ?? Number.NaN
}

function inner(one: Float32Array | undefined, other: Float32Array | undefined): number {
  let sum = 0
  for (let index = 0; index < (one?.length ?? 0); index++) {
    sum += numberAt(one, index) * numberAt(other, index)
  }
  return sum
}
