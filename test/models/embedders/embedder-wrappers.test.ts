/** Retries, batches, rates and time limits, each around the reference embedder. */
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/app/system-clock.ts'
import { AppError } from '../../../src/lib/errors.ts'
import {
  estimateBilledTokens,
  truncateToTokens,
} from '../../../src/models/embedders/billed-tokens.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { withRequestBatches } from '../../../src/models/embedders/request-batcher.ts'
import {
  withEmbedderTimeouts,
  withRateLimits,
  withRetries,
} from '../../../src/models/embedders/resilient-embedder.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { scriptedEmbedder, untilAborted } from '../../fakes/embedder.ts'
import {
  embedAll,
  errorOf,
  expected,
  notes,
  PausingClock,
  refused,
  unavailable,
} from './embedder-support.ts'

const MIDDLE = () => 0.5

describeEmbedder('retrying', async () =>
  withRetries(createHashingEmbedder(), { clock: new PausingClock() }),
)
describeEmbedder('batching', async () =>
  withRequestBatches(createHashingEmbedder(), { textsMax: 2, tokensMax: 100 }),
)
describeEmbedder('rate-limited', async () =>
  withRateLimits(createHashingEmbedder(), {
    clock: new PausingClock(),
    requestsPerMinute: 10,
    tokensPerMinute: 1_000,
  }),
)
describeEmbedder('limited in time', async () =>
  withEmbedderTimeouts(createHashingEmbedder(), { clock: systemClock }),
)

describe('retrying', () => {
  it('[EM6] tries three times again, with pauses that double', async () => {
    const clock = new PausingClock()
    const source = scriptedEmbedder(() => {
      throw unavailable()
    })
    const embedder = withRetries(source, { clock, random: MIDDLE })
    const error = await errorOf(embedAll(embedder, ['kites']))
    expect(error.message).toBe('Out for lunch.')
    expect(source.calls.length).toBe(4)
    expect(clock.pauses).toEqual([500, 1_000, 2_000])
    expect(embedder.report().facts.retries).toBe(3)
  })

  it('[EM6] spreads the pauses by a fifth either way', async () => {
    for (const [random, pause] of [
      [0, 400],
      [1, 600],
    ] as const) {
      const clock = new PausingClock()
      const source = scriptedEmbedder((_, number) => {
        if (number === 1) throw unavailable()
      })
      const embedder = withRetries(source, { clock, random: () => random })
      expect(await embedAll(embedder, ['kites'])).toEqual(await expected(['kites']))
      expect(clock.pauses.map(Math.round)).toEqual([pause])
    }
  })

  it('[EM6] waits as long as the service demands, and not at all when that exceeds a minute', async () => {
    const clock = new PausingClock()
    const source = scriptedEmbedder((_, number) => {
      if (number === 1) throw unavailable({ retryAfterMs: 60_000 })
      if (number === 2) throw unavailable({ retryAfterMs: 60_001 })
    })
    const error = await errorOf(embedAll(withRetries(source, { clock, random: MIDDLE }), ['kites']))
    expect(error.facts.retryAfterMs).toBe(60_001)
    expect(clock.pauses).toEqual([60_000])
  })

  it.each([
    ['a refused text', refused()],
    ['a key that was refused', unavailable({ status: 401, retryable: false })],
    ['a missing package', new AppError('missing_part', 'Not installed.')],
    ['a bug', new TypeError('oops')],
  ])('[EM6] does not try again after %s', async (_, error) => {
    const source = scriptedEmbedder(() => {
      throw error
    })
    const embedder = withRetries(source, { clock: new PausingClock() })
    await expect(embedAll(embedder, ['kites'])).rejects.toBe(error)
    expect(source.calls.length).toBe(1)
  })

  it('[EM6] describes the model as stubbornly', async () => {
    let requests = 0
    const inner = createHashingEmbedder()
    const source = {
      ...inner,
      describe: () => {
        requests++
        if (requests < 4) throw unavailable()
        return inner.describe()
      },
    }
    const embedder = withRetries(source, { clock: new PausingClock() })
    expect((await embedder.describe()).dimensions).toBe(64)
  })

  it('[EM3] ends a pause when the call is cancelled', async () => {
    const source = scriptedEmbedder(() => {
      throw unavailable()
    })
    const controller = new AbortController()
    class StuckClock extends FakeClock {
      override sleep(_ms: number, signal?: AbortSignal): Promise<void> {
        queueMicrotask(() => controller.abort())
        return untilAborted(signal)
      }
    }
    const embedder = withRetries(source, { clock: new StuckClock() })
    const call = embedder.embed(['kites'], { purpose: 'query', signal: controller.signal })
    expect((await errorOf(call)).code).toBe('cancelled')
    expect(source.calls.length).toBe(1)
  })
})

describe('batching', () => {
  it('[EM7] keeps to the limits of texts and tokens, and to the order', async () => {
    const texts = notes(11)
    const source = scriptedEmbedder()
    const embedder = withRequestBatches(source, { textsMax: 4, tokensMax: 15 })
    expect(await embedAll(embedder, texts)).toEqual(await expected(texts))
    expect(source.texts()).toEqual(texts)
    for (const { texts: batch } of source.calls) {
      expect(batch.length).toBeLessThanOrEqual(4)
      const tokens = batch.reduce((sum, text) => sum + estimateBilledTokens(text), 0)
      expect(tokens).toBeLessThanOrEqual(15)
    }
    expect(source.calls.length).toBe(6)
  })

  it('[EM7] fills a batch with 8,000 tokens by default', async () => {
    const source = scriptedEmbedder()
    const texts = Array.from({ length: 10 }, () => 'x'.repeat(8_000))
    await embedAll(withRequestBatches(source), texts)
    expect(source.calls.map((call) => call.texts.length)).toEqual([4, 4, 2])
  })

  it('[EM7] sends the beginning of a text that is too long', async () => {
    const source = scriptedEmbedder()
    await embedAll(withRequestBatches(source, { textTokensMax: 10 }), ['k'.repeat(100), 'short'])
    expect(source.texts()).toEqual(['k'.repeat(40), 'short'])
  })

  it('[EM7] finds the texts that are to blame and names them, after the others were embedded', async () => {
    const texts = notes(30).map((text, index) => ([7, 21].includes(index) ? 'bad' : text))
    const source = scriptedEmbedder(({ texts: batch }) => {
      if (batch.includes('bad')) throw refused()
    })
    const error = await errorOf(embedAll(withRequestBatches(source), texts))
    expect(error.code).toBe('invalid_input')
    expect(error.facts).toMatchObject({ index: 7, refused: '7,21' })
    expect(error.message).toContain('number 8, 22')
    expect(source.calls.length).toBeLessThan(25)
  })

  it('[EM7] blames no text when any text is refused', async () => {
    const refusal = refused()
    const source = scriptedEmbedder(() => {
      throw refusal
    })
    await expect(embedAll(withRequestBatches(source), notes(50))).rejects.toBe(refusal)
    expect(source.calls.length).toBe(2)
  })

  it('[EM7] tries less and less of a long text that is refused', async () => {
    const long = 'kites '.repeat(4_000)
    const source = scriptedEmbedder(({ texts }) => {
      if (texts.some((text) => text.length > 10_000)) throw refused()
    })
    const [before, vector, after] = await embedAll(withRequestBatches(source), ['one', long, 'two'])
    expect([before, vector, after]).toEqual(await expected(['one', 'kites', 'two']))
  })

  it('[EM7] does not split a batch for other failures', async () => {
    const source = scriptedEmbedder(() => {
      throw unavailable()
    })
    expect((await errorOf(embedAll(withRequestBatches(source), notes(5)))).code).toBe('unavailable')
    expect(source.calls.length).toBe(1)
  })

  it('[EM3] stops between batches', async () => {
    const controller = new AbortController()
    const source = scriptedEmbedder((_, number) => {
      if (number === 2) controller.abort()
    })
    const { signal } = controller
    const call = withRequestBatches(source, { textsMax: 1 }).embed(notes(9), {
      purpose: 'document',
      signal,
    })
    expect((await errorOf(call)).code).toBe('cancelled')
    expect(source.calls.length).toBe(2)
  })
})

describe('the guess at tokens', () => {
  it('[EM7] grows with the bytes of a text and never cuts a character in half', () => {
    expect(estimateBilledTokens('')).toBe(0)
    expect(estimateBilledTokens('word')).toBe(1)
    expect(estimateBilledTokens('ж')).toBe(1)
    expect(estimateBilledTokens('漢字')).toBe(3)
    expect(estimateBilledTokens('👍')).toBe(2)
    expect(truncateToTokens('word word', 1)).toBe('word')
    expect(truncateToTokens('👍👍👍', 3)).toBe('👍')
    expect(truncateToTokens('漢字漢字', 3)).toBe('漢字')
    expect(truncateToTokens('short', 100)).toBe('short')
    for (const tokensMax of [1, 5, 50]) {
      const cut = truncateToTokens('a漢👍ж'.repeat(30), tokensMax)
      expect(estimateBilledTokens(cut)).toBeLessThanOrEqual(tokensMax)
    }
  })
})

describe('rate-limited', () => {
  it('[EM8] admits a minute of requests at once and spreads the rest', async () => {
    const clock = new PausingClock()
    const source = scriptedEmbedder()
    const embedder = withRateLimits(source, { clock, requestsPerMinute: 6 })
    for (let request = 0; request < 9; request++) await embedAll(embedder, ['kites'])
    expect(clock.pauses).toEqual([10_000, 10_000, 10_000])
    expect(source.calls.length).toBe(9)
    expect(embedder.report().facts.rateLimitWaitMs).toBe(30_000)
  })

  it('[EM8] counts tokens as well, and lets a call through that is larger than the limit', async () => {
    const clock = new PausingClock()
    const embedder = withRateLimits(createHashingEmbedder(), { clock, tokensPerMinute: 100 })
    await embedAll(embedder, ['x'.repeat(400)])
    await embedAll(embedder, ['x'.repeat(200)])
    expect(clock.pauses).toEqual([30_000])
    await embedAll(embedder, ['x'.repeat(4_000)])
    expect(clock.pauses).toEqual([30_000, 60_000])
  })

  it('[EM8] refills while idle', async () => {
    const clock = new PausingClock()
    const embedder = withRateLimits(createHashingEmbedder(), { clock, requestsPerMinute: 2 })
    for (let round = 0; round < 3; round++) {
      await embedAll(embedder, ['kites'])
      await embedAll(embedder, ['boats'])
      clock.advance(60_000)
    }
    expect(clock.pauses).toEqual([])
  })

  it('[EM8] gives back what a cancelled call had taken', async () => {
    let stuck: AbortController | null = new AbortController()
    class Clock extends PausingClock {
      override sleep(ms: number, signal?: AbortSignal): Promise<void> {
        if (stuck === null) return super.sleep(ms, signal)
        stuck.abort()
        return untilAborted(signal)
      }
    }
    const clock = new Clock()
    const embedder = withRateLimits(createHashingEmbedder(), { clock, requestsPerMinute: 1 })
    await embedAll(embedder, ['kites'])
    const { signal } = stuck
    const call = embedder.embed(['boats'], { purpose: 'query', signal })
    expect((await errorOf(call)).code).toBe('cancelled')
    stuck = null
    await embedAll(embedder, ['boats'])
    expect(clock.pauses).toEqual([60_000])
  })

  it('[EM8] survives a clock that is set back', async () => {
    const clock = new PausingClock()
    const embedder = withRateLimits(createHashingEmbedder(), { clock, requestsPerMinute: 60 })
    await embedAll(embedder, ['kites'])
    clock.advance(-10_000_000)
    await embedAll(embedder, ['kites'])
    expect(clock.pauses).toEqual([])
  })
})

describe('limited in time', () => {
  const hanging = () => scriptedEmbedder(() => new Promise<never>(() => {}))

  it('[EM9] ends a call that hangs, even when the source does not listen', async () => {
    const embedder = withEmbedderTimeouts(hanging(), {
      clock: new FakeClock(),
      queryTimeoutMs: 7_000,
    })
    const error = await errorOf(embedder.embed(['kites'], { purpose: 'query' }))
    expect(error.code).toBe('unavailable')
    expect(error.message).toBe('reference did not answer within 7 seconds.')
    expect(error.facts).toEqual({ timeoutMs: 7_000 })
  })

  it('[EM9] gives queries a minute and documents two', async () => {
    const embedder = withEmbedderTimeouts(hanging(), { clock: new FakeClock() })
    const limitOf = async (purpose: 'query' | 'document') =>
      (await errorOf(embedder.embed(['kites'], { purpose }))).facts.timeoutMs
    expect(await limitOf('query')).toBe(60_000)
    expect(await limitOf('document')).toBe(120_000)
  })

  it('[EM9] aborts the source', async () => {
    const source = scriptedEmbedder(({ signal }) => untilAborted(signal))
    const embedder = withEmbedderTimeouts(source, { clock: new FakeClock() })
    expect((await errorOf(embedAll(embedder, ['kites']))).code).toBe('unavailable')
    expect(source.calls[0]?.signal?.aborted).toBe(true)
  })

  it('[EM9] passes on a failure as it is', async () => {
    const source = scriptedEmbedder(() => {
      throw refused()
    })
    const embedder = withEmbedderTimeouts(source, {
      clock: new PausingClock(),
      documentTimeoutMs: 3_600_000,
    })
    expect((await errorOf(embedAll(embedder, ['kites']))).code).toBe('invalid_input')
  })
})
