import fc from 'fast-check'
import { expect, it } from 'vitest'
import { computeIdf, scoreTermCounts } from '../../../text/search/bm25.ts'
import { PostingLists } from './posting-lists.ts'

const term: fc.Arbitrary<string> = fc.constantFrom('tea', 'rome', 'dog', 'blue', 'bike')
const rows = fc.array(
  fc.record({ terms: fc.array(term, { maxLength: 12 }), isRemoved: fc.boolean() }),
  { maxLength: 40 },
)
const query = fc.uniqueArray(fc.oneof(term, fc.constant('unknown')), { minLength: 1 })

it('[ST13] scores rows term by term exactly as row by row', () => {
  fc.assert(
    fc.property(rows, fc.array(query, { minLength: 1, maxLength: 3 }), (given, queries) => {
      const postings = new PostingLists()
      for (const [slot, { terms }] of given.entries()) {
        postings.add(slot, terms.join(' '), terms.length)
      }
      for (const [slot, { terms, isRemoved }] of given.entries()) {
        if (isRemoved) postings.remove(slot, terms.length)
      }
      const live = given.flatMap((row, slot) => (row.isRemoved ? [] : [{ slot, ...row }]))
      const averageLength = live.length === 0 ? 0 : postings.termCount / live.length
      for (const words of queries) {
        const { slots, scores, idfs } = postings.score(words, live.length)
        const expected = words.map((word) =>
          computeIdf(live.filter(({ terms }) => terms.includes(word)).length, live.length),
        )
        expect(idfs).toEqual(expected)
        const found = live.flatMap(({ slot, terms }) => {
          const counts = words.map((word) => terms.filter((each) => each === word).length)
          if (counts.every((count) => count === 0)) return []
          expect(postings.countTerms(words, slot)).toEqual(counts)
          const length = averageLength > 0 ? terms.length / averageLength : 1
          return [[slot, scoreTermCounts(counts, expected, length)] as const]
        })
        expect(new Map([...slots].map((slot, index) => [slot, scores[index]]))).toEqual(
          new Map(found),
        )
      }
    }),
  )
})
