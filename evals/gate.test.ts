import { describe, expect, it } from 'vitest'
import { evaluateGate, readMessages } from './gate.ts'

describe('[GA7] the labelled messages', () => {
  it('cover every language', async () => {
    const messages = await readMessages()
    const count = (language: string) => messages.filter((each) => each.language === language).length
    expect(count('en')).toBeGreaterThanOrEqual(120)
    for (const language of ['de', 'es', 'fr', 'pt', 'zh', 'ja']) {
      expect(count(language), language).toBeGreaterThanOrEqual(30)
    }
    expect(new Set(messages.map(({ text }) => text)).size).toBe(messages.length)
  })

  it('are classified at least as well as the floors, including the held-out ones', async () => {
    const { floors, metrics } = await evaluateGate({ data: '', explain: false })
    expect(floors.filter(({ holds }) => !holds)).toEqual([])
    expect(metrics['precision.heldOut']).toBeGreaterThanOrEqual(0.95)
    expect(metrics['recall.heldOut']).toBeGreaterThanOrEqual(0.9)
  })
})
