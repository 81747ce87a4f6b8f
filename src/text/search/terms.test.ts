import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CONTENT_CHARACTERS_MAX } from '../../domain/limits.ts'
import { TERM_CHARACTERS_MAX } from './term.ts'
import { extractQueryTerms, extractTerms, extractTermText, QUERY_TERMS_MAX } from './terms.ts'

/** Whether a search for `query` would meet `text`. */
function finds(query: string, text: string): boolean {
  const index = new Set(extractTerms(text))
  return extractQueryTerms(query).some((term) => index.has(term))
}

const EAST_ASIAN = fc.string({
  unit: fc.constantFrom(
    ...'容器存活探针のをにはがぱヴアンーヶ一龠，。、：；（）「」！？aPod-/.1,0#_',
  ),
  minLength: 1,
  maxLength: 60,
})

const FORBIDDEN = /[\s\p{Cc}\p{Cs}A-Z]/u

const AWKWARD = [
  'C++',
  'C#',
  '.NET',
  '--flag',
  '¯\\_(ツ)_/¯',
  '(╯°□°）╯︵ ┻━┻)',
  '!!!',
  '-',
  '"',
  "'",
  '* OR NOT NEAR( "',
  "'; DROP TABLE memories; --",
  '🎉',
  '👨‍👩‍👧',
  '1️⃣',
  '🇩🇪',
  'مرحبا بالعالم',
  'שָׁלוֹם',
  'Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮',
  'สวัสดีชาวโลก',
  'नमस्ते',
  '\ue000\uf8ff',
  '\u0301',
  '\ud800',
  'a\udc00b',
  '\ufdfa',
  '¨',
  'to be or not to be',
  'THE',
]

const INVISIBLE = ['\u0000\u0001', '\u0085', '\u200b', '\u200d\ufe0f', '\u3164']

describe('any text', () => {
  it.each(AWKWARD)('[TX1] %j finds itself', (text) => {
    expect(finds(text, text)).toBe(true)
    expect(finds(text, `before ${text} after`)).toBe(true)
  })

  it.each(INVISIBLE)('[TX1] invisible %j finds itself', (text) => {
    expect(finds(text, text)).toBe(true)
  })

  it('[TX1] every text that is not blank finds itself, with terms that every store accepts', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 80 }),
      fc.string({ unit: 'grapheme', maxLength: 80 }),
      // Code units at random: mostly unpaired surrogates and unassigned characters.
      fc
        .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 80 })
        .map((units) => String.fromCharCode(...units)),
      fc
        .array(fc.constantFrom(...AWKWARD, ...INVISIBLE, ..." '.-가東かé7", 'foo_Bar', "l'Homme"))
        .map((all) => all.join('')),
    )
    fc.assert(
      fc.property(anything, (text) => {
        const index = extractTerms(text)
        const query = extractQueryTerms(text)
        for (const term of index) {
          expect(term).not.toMatch(FORBIDDEN)
          expect(term.length).toBeGreaterThan(0)
          expect(term.length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX)
        }
        expect(index).toEqual(expect.arrayContaining([...query]))
        expect(query.length > 0).toBe(text.trim() !== '')
        expect(query.length).toBeLessThanOrEqual(QUERY_TERMS_MAX)
      }),
      { numRuns: 2_000 },
    )
  })

  it('[TX1] gives the same terms after cache eviction', () => {
    const text = 'Caroline’s kids read foo_bar in 東京'
    const first = extractTerms(text)
    for (let count = 0; count < 20_000; count += 1) extractTerms(`w${count}`)
    expect(extractTerms(text)).toEqual(first)
  })

  it('blank text has no terms', () => {
    expect(extractTerms('')).toEqual([])
    expect(extractQueryTerms(' \n\t\u00a0')).toEqual([])
  })
})

describe('English', () => {
  it('[TX2] finds other forms of a word', () => {
    expect(finds('hiking', 'She hikes every Sunday.')).toBe(true)
    expect(finds('allergies', 'has an allergy to nuts')).toBe(true)
    expect(finds('children’s', 'two children')).toBe(true)
  })

  it('keeps order and repetitions in the index', () => {
    expect(extractTerms('The dogs saw the dog.')).toEqual(['the', 'dog', 'saw', 'the', 'dog'])
  })

  it('drops question phrases, also in scripts without spaces', () => {
    expect(extractQueryTerms('端口是什么？')).toEqual(['端口', '口是'])
    expect(extractQueryTerms('什么')).toEqual(['什么'])
    expect(extractQueryTerms('監査ですか')).not.toContain('です')
    expect(finds('什么', '这是什么')).toBe(true)
  })

  it('drops stop words from a query while other terms remain', () => {
    expect(extractQueryTerms('What is the name of the dog?')).toEqual(['name', 'dog'])
    expect(extractQueryTerms('¿Cuál es el nombre?')).toEqual(['nombr'])
    expect(extractQueryTerms('who are you')).toEqual(['who', 'ar', 'you'])
    expect(extractQueryTerms('- why? &')).toEqual(['-', 'why', '&'])
  })

  it('keeps first-person words', () => {
    expect(extractQueryTerms('Where did I park my car?')).toEqual(['i', 'park', 'my', 'car'])
  })

  it('handles all apostrophes', () => {
    expect(extractTerms("I'm sure Mel's dog doesn't bite")).toEqual([
      'i',
      'sure',
      'mel',
      'dog',
      'doesnt',
      'bite',
    ])
    expect(finds('OBrien', "Pat O'Brien")).toBe(true)
    expect(finds('homme', "l'homme")).toBe(true)
  })

  it('matches numbers with and without separators', () => {
    expect(finds('$1000', 'It cost 1,000 dollars')).toBe(true)
    expect(finds('3.5%', 'rose by 3.5%.')).toBe(true)
  })
})

describe('identifiers', () => {
  it.each([
    ['foo_bar', ['foo_bar', 'foo', 'bar']],
    ['a.b.c', ['a.b.c', 'a', 'b', 'c']],
    ['src/core/terms.ts', ['src/core/terms.ts', 'src', 'core', 'term', 'ts']],
    ['user@example.com', ['user@example.com', 'user', 'exampl', 'com']],
    ['camelCase', ['camelcas', 'camel', 'case']],
    ['HTTPServer', ['httpserver', 'http', 'server']],
    ['node.js', ['node.js', 'node', 'js']],
    ['C++', ['c++', 'c']],
    ['C#', ['c#', 'c']],
    ['.NET', ['.net', 'net']],
    ['--dry-run', ['--dry-run', 'dry', 'run']],
    ['gpt-4', ['gpt-4', 'gpt', '4']],
    ['std::vector', ['std::vector', 'std', 'vector']],
  ])('[TX3] indexes %s as a whole and in parts', (name, terms) => {
    expect(extractTerms(name)).toEqual(terms)
    // Punctuation of the sentence around it is no part of it.
    expect(extractTerms(`(${name}),`)).toEqual(terms)
    expect(extractTerms(`"${name}".`)).toEqual(terms)
  })

  it('[TX3] finds a name by its parts and by its words written separately', () => {
    expect(finds('bar', 'call foo_bar()')).toBe(true)
    expect(finds('fooBar', 'the foo bar option')).toBe(true)
    expect(finds('foo_bar', 'the fooBar option')).toBe(true)
  })

  it('treats a hyphen between words as a space', () => {
    expect(extractTerms('well-known')).toEqual(extractTerms('well known'))
  })
})

describe('accents and width', () => {
  it.each([
    ['cafe', 'Café'],
    ['uber', 'ÜBER'],
    ['strasse', 'Straße'],
    ['smorrebrod', 'smørrebrød'],
    ['ｆｕｌｌ', 'full'],
    ['ﬁne', 'fine'],
    ['еще', 'Ещё'],
    ['σοφοσ', 'Σοφός'],
    ['istanbul', 'İSTANBUL'],
    ['ｶﾞｽ', 'ガス'],
    ['cafe\u0301', 'caf\u00e9'],
    ['שלום', 'שָׁלוֹם'],
    ['soft\u00adware', 'software'],
  ])('[TX4] %s and %s find each other', (a, b) => {
    expect(finds(a, b)).toBe(true)
    expect(finds(b, a)).toBe(true)
  })

  it('[TX4] keeps marks that make another letter', () => {
    expect(finds('が', 'か')).toBe(false)
    expect(finds('мой', 'мои')).toBe(false)
    expect(finds('दिन', 'दान')).toBe(false)
  })
})

describe('scripts without spaces', () => {
  it.each([
    ['猫', '我有一只猫。'],
    ['东京', '我去年搬到东京工作'],
    ['他什么时候搬到东京？', '我去年搬到东京工作'],
    ['犬', '犬を飼っている'],
    ['寿司', '昨日寿司を食べた'],
    ['すし', 'すしが好き'],
    ['コーヒー', '毎朝コーヒーを飲む'],
    ['강', '한강 근처에 산다'],
    ['서울', '서울에서 태어났다'],
    ['서울은 어디에 있나?', '서울에서 태어났다'],
    ['กาแฟ', 'ฉันชอบดื่มกาแฟ'],
    ['iPhone', '我的iPhone手机坏了'],
  ])('[TX5] %s finds %s', (query, text) => {
    expect(finds(query, text)).toBe(true)
  })

  it('[TX5] queries bigrams rather than single characters', () => {
    expect(extractQueryTerms('東京タワー')).toEqual(['東京', '京タ', 'タワ', 'ワー'])
    expect(finds('東大', '東の京')).toBe(false)
  })
})

describe('bounds', () => {
  it('[TX7] finds overlong words by their beginning', () => {
    const link = `https://example.com/${'x'.repeat(200)}`
    for (const term of extractTerms(link))
      expect(term.length).toBeLessThanOrEqual(TERM_CHARACTERS_MAX)
    expect(finds(link, `see ${link}`)).toBe(true)
    expect(extractTerms(`${'a'.repeat(TERM_CHARACTERS_MAX - 1)}𝒳𐐷`)[0]).not.toMatch(FORBIDDEN)
  })

  it('[TX7] limits the query terms, longest first', () => {
    const many = Array.from({ length: 500 }, (_, index) => `w${index}`).join(' ')
    expect(extractQueryTerms(many)).toHaveLength(QUERY_TERMS_MAX)
    expect(extractQueryTerms(`${many} pneumonia`)).toContain('pneumonia')
  })

  it('[TX7] drops hiragana first from long Japanese questions', () => {
    const content = Array.from({ length: 60 }, (_, index) => String.fromCharCode(0x4e00 + index))
    const query = extractQueryTerms(`ということですか ${content.join('')}`)
    expect(query).toHaveLength(QUERY_TERMS_MAX)
    expect(query.join('')).not.toMatch(/\p{Script=Hiragana}/u)
  })

  it('[TX7] spreads query terms over a long text without spaces', () => {
    const text = Array.from({ length: 200 }, (_, index) =>
      String.fromCharCode(0x4e00 + index),
    ).join('')
    const query = extractQueryTerms(text)
    expect(query).toHaveLength(QUERY_TERMS_MAX)
    const positions = query.map((term) => text.indexOf(term))
    for (const [index, position] of positions.entries()) {
      expect(position - (positions[index - 1] ?? 0)).toBeLessThan(10)
    }
  })

  it('[TX1] extractTermText gives the terms of extractTerms, cached or not', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom(...AWKWARD), EAST_ASIAN)
    fc.assert(
      fc.property(fc.array(text), (texts) => {
        const whole = texts.join(' ')
        const { terms, count } = extractTermText(whole)
        expect(terms.split(' ').filter((term) => term !== '')).toEqual(extractTerms(whole))
        expect(count).toBe(extractTerms(whole).length)
      }),
    )
  })

  it('[TX5] the fast path for plain CJK gives the same terms', () => {
    fc.assert(
      fc.property(EAST_ASIAN, (text) => {
        // A joiner is folded away, and what holds one is folded.
        expect(extractTerms(`${text}\u2060`)).toEqual(extractTerms(text))
        expect(extractQueryTerms(`${text}\u2060`)).toEqual(extractQueryTerms(text))
      }),
    )
  })

  // Generous, and in time of the processor, which others do not share: what is to be caught is work that grows with the square of the length, which takes minutes.
  it.each(['a', 'a.', '.', "a'", 'aB', 'a-', '~/', '战国', '한국', 'ก\u0e34', '🎉', '1,000', ' '])(
    '[TX7] stays fast when %j is repeated',
    (unit) => {
      const text = unit.repeat(CONTENT_CHARACTERS_MAX / unit.length)
      const began = process.cpuUsage()
      extractTerms(text)
      extractTerms(`a${text}`)
      extractQueryTerms(`${'a\u0301'}${'\u0301'.repeat(CONTENT_CHARACTERS_MAX)}${text}`)
      const { user, system } = process.cpuUsage(began)
      expect(user + system).toBeLessThan(3_000_000)
    },
  )
})
