/** The message catalogs: completeness, placeholders, plurals, and that the source code uses every key. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Catalog, Language } from '../../studio/src/i18n/catalog.ts'
import german from '../../studio/src/i18n/catalogs/de.json'
import english from '../../studio/src/i18n/catalogs/en.json'
import spanish from '../../studio/src/i18n/catalogs/es.json'
import japanese from '../../studio/src/i18n/catalogs/ja.json'
import portuguese from '../../studio/src/i18n/catalogs/pt.json'
import chinese from '../../studio/src/i18n/catalogs/zh.json'
import { format } from '../../studio/src/i18n/format.ts'

const CATALOGS: Record<Language, Catalog> = {
  en: english,
  de: german,
  es: spanish,
  pt: portuguese,
  ja: japanese,
  zh: chinese,
}
const LANGUAGES = Object.keys(CATALOGS) as Language[] // the keys of the table
const TRANSLATIONS = LANGUAGES.filter((language) => language !== 'en')
const SOURCE_FOLDER = join(import.meta.dirname, '../../studio/src')

/** Product names, loanwords, and texts that happen to be the same in both languages. */
const SAME_AS_ENGLISH: ReadonlySet<string> = new Set([
  'A: {rank}',
  'API',
  'Boost',
  'Budget',
  'Chat',
  'Client',
  'Details',
  'Embedding',
  'Engine',
  'Error',
  'Format',
  'Fusion',
  'Gate',
  'Gate: {section} ({by}). {reason}',
  'Gateway',
  'Gemini',
  'Hooks',
  'Hybrid',
  'Job',
  'Jobs',
  'Menu',
  'Messages',
  'Name',
  'No',
  'Playground',
  'Polling',
  'Position: {placement}',
  'Problem',
  'Rerank',
  'Reranker',
  'Responses',
  'Score',
  'Server',
  'Status',
  'System',
  'Text',
  'Tokens',
  'URL',
  'Vector',
  'Version {version}',
  'factual',
  'gateway',
  'general',
  'hybrid',
  'hybrid (RRF)',
  'optional',
  'pgvector',
  'vector',
  '{count, plural, one {# token} other {# tokens}}',
  '{count} tokens',
  '{model}: {kind}',
  '{ms} ms',
  '{section} ({by}). {reason}',
])

const PLACEHOLDER = /\{(\w+)\}/g
const PLURAL = /\{(\w+), plural,((?: (?:=\d+|[a-z]+) \{(?:[^{}]|\{\w+\})*\})+)\}/g
const PLURAL_FORM = / (=\d+|[a-z]+) \{((?:[^{}]|\{\w+\})*)\}/g

type Plural = { readonly name: string; readonly forms: ReadonlyMap<string, string> }

function messagesOf(language: Language): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(CATALOGS[language]).flatMap(([page, messages]) =>
      Object.entries<string>(messages).map(([name, text]) => [`${page}.${name}`, text] as const),
    ),
  )
}

function pluralsIn(message: string): Plural[] {
  return [...message.matchAll(PLURAL)].map(([, name = '', forms = '']) => ({
    name,
    forms: new Map(
      [...forms.matchAll(PLURAL_FORM)].map(([, form = '', text = '']) => [form, text]),
    ),
  }))
}

function placeholdersIn(message: string): string[] {
  return [...message.replaceAll(PLURAL, '').matchAll(PLACEHOLDER)].map(([, name = '']) => name)
}

/** The distinct values that a message needs, sorted. */
function parametersOf(message: string): string[] {
  const fromPlurals = pluralsIn(message).flatMap(({ name, forms }) => [
    `${name}, plural`,
    ...[...forms.values()].flatMap(placeholdersIn),
  ])
  return [...new Set([...fromPlurals, ...placeholdersIn(message)])].sort()
}

/** The plural form of a count: `=1` if the message defines it, otherwise a category such as `one`. */
function pluralFormOf(count: number, { forms }: Plural, language: Language): string {
  return forms.has(`=${count}`) ? `=${count}` : new Intl.PluralRules(language).select(count)
}

/** The messages that `check` rejects, each with the reason. */
function findFaults(language: Language, check: (message: string, key: string) => string | null) {
  return [...messagesOf(language)].flatMap(([key, message]) => {
    const fault = check(message, key)
    return fault === null ? [] : [`${key}: ${fault}`]
  })
}

const SOURCES = readdirSync(SOURCE_FOLDER, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(SOURCE_FOLDER, name), 'utf8') }))

const KEY_LITERAL = /'([a-z]\w*\.[a-z]\w*)'/gi

/** The argument lists of all `t(…)` calls in a source text. */
function translateCallsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w.])t\(/g)].map(({ index }) => {
    const start = index + 2
    let depth = 1
    let at = start
    for (; at < text.length && depth > 0; at++) {
      if (text[at] === '(') depth++
      if (text[at] === ')') depth--
    }
    return text.slice(start, at - 1)
  })
}

describe('message keys', () => {
  const keys = messagesOf('en')

  it('are all used by the source code', () => {
    const literals = new Set(
      SOURCES.flatMap(({ text }) => [...text.matchAll(KEY_LITERAL)].map(([, key]) => key)),
    )
    expect([...keys.keys()].filter((key) => !literals.has(key))).toEqual([])
  })

  it('exist for every t() call', () => {
    const calls = SOURCES.flatMap(({ name, text }) =>
      translateCallsIn(text).map((call) => ({ name, call })),
    )
    expect(calls.length).toBeGreaterThan(500)
    const missing = calls.flatMap(({ name, call }) =>
      [...call.matchAll(KEY_LITERAL)]
        .map(([, key = '']) => key)
        .filter((key) => (key.split('.')[0] ?? '') in english && !keys.has(key))
        .map((key) => `${name}: ${key}`),
    )
    expect(missing).toEqual([])
  })

  it('are literals, so that unused ones can be found', () => {
    const dynamic = SOURCES.flatMap(({ name, text }) =>
      translateCallsIn(text)
        .filter((call) => /^\s*`/.test(call))
        .map((call) => `${name}: ${call}`),
    )
    expect(dynamic).toEqual([])
  })
})

describe.each(LANGUAGES)('the %s catalog', (language) => {
  it('has balanced braces and well-formed plurals', () => {
    const wrong = findFaults(language, (message) => {
      const rest = message.replaceAll(PLURAL, '').replaceAll(PLACEHOLDER, '')
      return /[{}#]/.test(rest) ? `unparsed: ${rest}` : null
    })
    expect(wrong).toEqual([])
  })

  it('has exactly the plural forms of the language', () => {
    const rules = new Intl.PluralRules(language)
    const required = [
      ...new Set(['other', ...[0, 1, 2, 5].map((count) => rules.select(count))]),
    ].sort()
    const wrong = findFaults(language, (message) => {
      for (const { forms } of pluralsIn(message)) {
        const defined = [...forms.keys()].filter((form) => !form.startsWith('=')).sort()
        if (defined.join() !== required.join()) return `has ${defined}, not ${required}`
      }
      return null
    })
    expect(wrong).toEqual([])
  })

  it('shows the number in each plural form that covers several numbers', () => {
    const counts = Array.from({ length: 30 }, (_, count) => count)
    const wrong = findFaults(language, (message) => {
      for (const plural of pluralsIn(message)) {
        // A plural without a number in `other` only agrees with a number that precedes it.
        if (!plural.forms.get('other')?.includes('#')) continue
        for (const [form, text] of plural.forms) {
          const covered = counts.filter((count) => pluralFormOf(count, plural, language) === form)
          if (!text.includes('#') && covered.length > 1) return `${form} {${text}}`
        }
      }
      return null
    })
    expect(wrong).toEqual([])
  })

  it('formats completely for any count', () => {
    const wrong = [0, 1, 2, 5, 1_000_000].flatMap((count) =>
      findFaults(language, (message) => {
        const placeholders = placeholdersIn(message)
        const counts = pluralsIn(message).map(({ name }) => [name, count] as const)
        const values = Object.fromEntries([
          ...placeholders.map((name) => [name, `<${name}>`]),
          ...counts,
        ])
        const text = format(message, values, language)
        const isComplete = text.trim() !== '' && !/[{}#]/.test(text)
        return isComplete && placeholders.every((name) => text.includes(`<${name}>`)) ? null : text
      }),
    )
    expect(wrong).toEqual([])
  })
})

it('[SU18] formats numbers for the region of the language', () => {
  const message = '{count, plural, one {# Zeile} other {# Zeilen}}, {size}'
  const values = { count: 12_345, size: 0.5 }
  expect(format(message, values, 'de')).toBe('12.345 Zeilen, 0,5')
  expect(format(message, values, 'de', 'de-CH')).toMatch(/^12['’]345 Zeilen, 0\.5$/)
})

describe.each(TRANSLATIONS)('the %s translation', (language) => {
  const inEnglish = messagesOf('en')

  it('has the keys of the English catalog in the same order', () => {
    expect([...messagesOf(language).keys()]).toEqual([...inEnglish.keys()])
  })

  it('has the placeholders of the English messages', () => {
    const wrong = findFaults(language, (message, key) => {
      const required = parametersOf(inEnglish.get(key) ?? '').join('; ')
      const used = parametersOf(message).join('; ')
      return used === required ? null : `uses ${used}, not ${required}`
    })
    expect(wrong).toEqual([])
  })

  it('contains no untranslated messages', () => {
    const wrong = findFaults(language, (message, key) =>
      message === inEnglish.get(key) && !SAME_AS_ENGLISH.has(message) ? message : null,
    )
    expect(wrong).toEqual([])
  })
})
