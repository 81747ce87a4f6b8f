import { describe, expect, it } from 'vitest'
import { STOP_WORDS } from './stopwords.ts'
import { extractQueryTerms, extractTerms } from './terms.ts'

describe('stop words', () => {
  it('are spelled like terms before stemming', () => {
    for (const word of STOP_WORDS) {
      expect(word).toMatch(/^[a-z]+$/)
      expect(extractTerms(word)).toHaveLength(1)
    }
  })

  it('contain no first-person word and no noun of another language', () => {
    for (const word of ['i', 'my', 'me', 'ich', 'je', 'die', 'war', 'son', 'us', 'c']) {
      expect(STOP_WORDS.has(word), word).toBe(false)
    }
  })

  it('contain the German article "die" only in German text', () => {
    expect(extractQueryTerms('Was ist die Ableitung?')).not.toContain('die')
    expect(extractQueryTerms('Did many people die in the war?')).toContain('die')
  })
})
