/**
 * Any string can be stored, found and read back unchanged. The public list of troublesome strings is used where
 * it is present; random ones always.
 */
import { existsSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Store } from '../../../src/storage/store.ts'
import { extractQueryTerms } from '../../../src/text/search/terms.ts'
import { ADA, memory } from '../../fakes/memories.ts'
import { repetitions } from '../../support/thoroughness.ts'
import { create, type OpenStore } from './store.suite.ts'

const NAUGHTY_STRINGS = '../shared/evals/adversarial/naughty-strings.json'
const RANDOM_STRINGS = repetitions({ usual: 2_000, thorough: 10_000 })
const BATCH = 500

export function describeAnyText(open: OpenStore): void {
  it.skipIf(!existsSync(NAUGHTY_STRINGS))(
    '[ST17] keeps and finds every string of the public list of troublesome ones (skipped where the list is not)',
    async () => {
      const strings: unknown = JSON.parse(readFileSync(NAUGHTY_STRINGS, 'utf8'))
      await keepsAll(await open(), strings as string[]) // a list of strings, see its README
    },
  )

  it('[ST17] keeps and finds thousands of random strings', async () => {
    const strings = [
      ...fc.sample(fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }), RANDOM_STRINGS / 2),
      ...fc.sample(
        fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }),
        RANDOM_STRINGS / 4,
      ),
      ...fc.sample(halves, RANDOM_STRINGS / 4),
    ]
    await keepsAll(await open(), strings)
  }, 120_000)
}

/** Any sequence of UTF-16 units, halves of surrogate pairs and NUL included. */
const halves = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 20 })
  .map((units) => String.fromCharCode(...units))

async function keepsAll(store: Store, strings: readonly string[]): Promise<void> {
  const rows = strings.map((content) => memory({ content, metadata: { [content]: content } }))
  for (let start = 0; start < rows.length; start += BATCH) {
    const outcome = await store.commit(rows.slice(start, start + BATCH).map(create))
    expect(outcome).toEqual({ kind: 'committed' })
  }
  for (let start = 0; start < rows.length; start += BATCH) {
    const batch = rows.slice(start, start + BATCH)
    const ids = batch.map((row) => row.id)
    const found = await store.find('memory', ADA, { where: { ids }, limit: BATCH, order: 'oldest' })
    expect(found.rows).toEqual(batch)
  }
  // Looking up a sample keeps the run short; which ones changes with every run of the random strings.
  for (const row of rows.filter((_, index) => rows.length < 1_000 || index % 20 === 0)) {
    if (extractQueryTerms(row.content).length === 0) continue
    const where = { ids: [row.id] }
    const { hits } = await store.searchText(ADA, { text: row.content, limit: 1, where })
    expect(
      hits.map((hit) => hit.id),
      JSON.stringify(row.content),
    ).toEqual([row.id])
  }
}
