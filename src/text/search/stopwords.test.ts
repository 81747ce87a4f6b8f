import { describe, expect, it } from 'vitest'
import { STOP_WORDS } from './stopwords.ts'
import { extractQueryTerms, extractTerms } from './terms.ts'

describe('stop words', () => {
  it('are written the way words are compared', () => {
    for (const word of STOP_WORDS) {
      expect(word).toMatch(/^[a-z]+$/)
      expect(extractTerms(word)).toHaveLength(1)
    }
  })

  it('hold no word for the asker and nothing that is a thing in another language', () => {
    for (const word of ['i', 'my', 'me', 'ich', 'je', 'die', 'war', 'son', 'us', 'c']) {
      expect(STOP_WORDS.has(word), word).toBe(false)
    }
  })

  it('hold an article of German where the words around it are German', () => {
    expect(extractQueryTerms('Was ist die Ableitung?')).not.toContain('die')
    expect(extractQueryTerms('Did many people die in the war?')).toContain('die')
  })
})
