import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { patternRules } from '../src/learning/patterns/extractor.ts'
import { listContradictionPatterns } from '../src/memory/contradiction/pattern-warmup.ts'
import { mayMatch } from '../src/text/regex-prefilter.ts'

const STRIDE = 23

/** Sentences of the tests of whatever reads statements, in all languages. */
function listSentences(): readonly string[] {
  const folders = [
    'src/learning/patterns',
    'src/memory/contradiction',
    'src/conversations',
    'test/learning',
  ]
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => join(folder, name)),
  )
  const sentences = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/(["'`])((?:(?!\1)[^\\\n]){3,300})\1/g)].map(
      ([, , text = '']) => text,
    ),
  )
  const own = patternRules().map(({ source }) =>
    source.replace(/[\\()?:|[\]^$*+{}]+/g, ' ').slice(0, 400),
  )
  return [...new Set([...sentences, ...sentences.map((text) => text.toUpperCase()), ...own])]
}

describe('the prefilter of regular expressions', () => {
  it('rules out no match of the patterns that read messages', () => {
    const sentences = listSentences()
    expect(sentences.length).toBeGreaterThan(500)
    const patterns = [...patternRules(), ...listContradictionPatterns()]
    const wrong: string[] = []
    let [tried, ruledOut] = [0, 0]
    for (const [number, text] of sentences.entries()) {
      for (const [index, pattern] of patterns.entries()) {
        // All of them would take a minute.
        if ((number + index) % STRIDE > 0) continue
        tried++
        if (mayMatch(pattern, text)) continue
        ruledOut++
        pattern.lastIndex = 0
        if (pattern.test(text)) wrong.push(`${pattern.source.slice(0, 80)} in "${text}"`)
      }
    }
    expect(wrong).toEqual([])
    expect(ruledOut).toBeGreaterThan(tried * 0.5)
  })
})
