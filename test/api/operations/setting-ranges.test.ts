/** Settings that other systems move into their range instead of refusing them. */
import { expect, it, onTestFinished } from 'vitest'
import { findOperation } from '../../../src/api/operations/index.ts'
import { performOperation } from '../../../src/api/operations/operation.ts'
import { createEngineWith } from '../../../src/engine/engine.ts'
import { createInMemoryStore } from '../../../src/storage/in-memory/in-memory-store.ts'
import { countingIds, FakeClock } from '../../fakes/clock.ts'

function openSettings() {
  const clock = new FakeClock()
  const store = createInMemoryStore()
  const engine = createEngineWith({ store, clock, ids: countingIds(), settings: {} })
  onTestFinished(() => engine.close())
  const call = async (name: string, input: object) => {
    const operation = findOperation(name)
    const context = {
      engine,
      version: '1.2.3',
      signal: new AbortController().signal,
      embeddingProviders: [],
      caller: { key: null, role: 'superadmin', home: 'ada', actsFor: [] },
    } as const
    return operation.output.parse(await performOperation(operation, context, input)) as {
      readonly [name: string]: unknown
    }
  }
  return { change: (input: object) => call('settings.change', input), call }
}

it.each([
  ['memoryBudgetTokens', 99, 100],
  ['memoryBudgetTokens', 4_001, 4_000],
  ['summaryDebounceSeconds', 0, 10],
  ['summaryDebounceSeconds', 1_000_000, 3_600],
  ['consolidationIntervalHours', -7, 1],
  ['consolidationIntervalHours', 169, 168],
  ['salienceFloor', -0.1, 0],
  ['salienceFloor', 1e300, 1],
  ['episodeRetentionDays', -1, 0],
  ['episodeRetentionDays', 3_651, 3_650],
])('[PL10] %s: %d is set to %d, and the answer says so', async (name, given, used) => {
  const { change } = openSettings()
  expect(await change({ [name]: given })).toMatchObject({
    [name]: used,
    clamped: [{ name, given, used }],
  })
  for (const level of ['system', 'owner']) {
    expect((await change({ level, [name]: given })).clamped).toHaveLength(1)
  }
  expect(await change({ [name]: used })).not.toHaveProperty('clamped')
})

it('[PL10] refuses numbers out of range, and every other setting', async () => {
  const { change } = openSettings()
  for (const wrong of [
    { summaryDebounceSeconds: 10.5 },
    { summaryDebounceSeconds: '60' },
    { salienceFloor: Number.NaN },
    { memoryBudgetTokens: true },
    { 'recall.limit': 0 },
    { 'gateway.contextTokensMax': 16_001 },
    { maxTokens: -1 },
  ]) {
    await expect(change(wrong)).rejects.toMatchObject({ code: 'invalid_input' })
  }
})

it('[PL7] the budget has two names, and is one setting', async () => {
  const { change, call } = openSettings()
  expect(await call('settings.get', {})).toMatchObject({
    memoryBudgetTokens: 800,
    'gateway.contextTokensMax': 800,
  })
  expect(await change({ memoryBudgetTokens: 300 })).toMatchObject({
    'gateway.contextTokensMax': 300,
  })
  const wide = await change({ 'gateway.contextTokensMax': 16_000 })
  expect(wide).toMatchObject({ memoryBudgetTokens: 16_000 })
  // Sent back as it was told, it is not another value.
  expect(await change(wide)).toEqual(wide)
  expect(await change({ memoryBudgetTokens: null })).toMatchObject({
    'gateway.contextTokensMax': 800,
  })
})
