/** What the Studio says in each language, against what it says in English. */
import { describe, expect, it } from 'vitest'
import type { Catalogue, Language } from '../../studio/src/i18n/catalogue.ts'
import { messages as german } from '../../studio/src/i18n/de/index.ts'
import { messages as english } from '../../studio/src/i18n/en/index.ts'
import { messages as spanish } from '../../studio/src/i18n/es/index.ts'
import { messages as japanese } from '../../studio/src/i18n/ja/index.ts'
import { format } from '../../studio/src/i18n/messages.ts'
import { messages as portuguese } from '../../studio/src/i18n/pt/index.ts'
import { messages as chinese } from '../../studio/src/i18n/zh/index.ts'

const CATALOGUES: Record<Language, Catalogue> = {
  en: english,
  de: german,
  es: spanish,
  pt: portuguese,
  ja: japanese,
  zh: chinese,
}
const LANGUAGES = Object.keys(CATALOGUES) as Language[]
const TRANSLATIONS = LANGUAGES.filter((language) => language !== 'en')

/** Names, words that a language has from English, and what is the same in both by chance. */
const SAME_AS_ENGLISH: ReadonlySet<string> = new Set([
  'Recollect',
  'pgvector',
  'API',
  'Responses',
  'Messages',
  'Reranker',
  'Embedding',
  'Engine',
  'Server',
  'System',
  'Name',
  'Status',
  'Schema',
  'Block',
  'Error',
  'No',
  'Vector',
  'Tokens',
  'optional',
  '{count} tokens',
  '{count, plural, one {# token} other {# tokens}}',
  '{ms} ms',
  'A: {rank}',
  '{section} ({by}). {because}',
])

const PLACE = /\{(\w+)\}/g
const PLURAL = /\{(\w+), plural,((?: (?:=\d+|[a-z]+) \{(?:[^{}]|\{\w+\})*\})+)\}/g
const FORM = / (=\d+|[a-z]+) \{((?:[^{}]|\{\w+\})*)\}/g

type Plural = { readonly name: string; readonly forms: ReadonlyMap<string, string> }

function messagesOf(language: Language): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(CATALOGUES[language]).flatMap(([page, messages]) =>
      Object.entries<string>(messages).map(([name, text]) => [`${page}.${name}`, text] as const),
    ),
  )
}

function pluralsIn(message: string): Plural[] {
  return [...message.matchAll(PLURAL)].map(([, name = '', forms = '']) => ({
    name,
    forms: new Map([...forms.matchAll(FORM)].map(([, form = '', text = '']) => [form, text])),
  }))
}

function placesIn(message: string): string[] {
  return [...message.replaceAll(PLURAL, '').matchAll(PLACE)].map(([, name = '']) => name)
}

/** What has to be given to a message, once each. */
function argumentsOf(message: string): string[] {
  const counted = pluralsIn(message).flatMap(({ name, forms }) => [
    `${name}, plural`,
    ...[...forms.values()].flatMap(placesIn),
  ])
  return [...new Set([...counted, ...placesIn(message)])].sort()
}

/** The form that a language takes for a count, as `one`, or as `=1` where that is written out. */
function formFor(count: number, { forms }: Plural, language: Language): string {
  return forms.has(`=${count}`) ? `=${count}` : new Intl.PluralRules(language).select(count)
}

/** Every message that has something wrong with it, with what that is. */
function faults(language: Language, faultIn: (message: string, key: string) => string | null) {
  return [...messagesOf(language)].flatMap(([key, message]) => {
    const fault = faultIn(message, key)
    return fault === null ? [] : [`${key}: ${fault}`]
  })
}

describe.each(LANGUAGES)('the messages in %s', (language) => {
  it('are written with brackets that close, and plurals that can be read', () => {
    const wrong = faults(language, (message) => {
      const rest = message.replaceAll(PLURAL, '').replaceAll(PLACE, '')
      return /[{}#]/.test(rest) ? `left over: ${rest}` : null
    })
    expect(wrong).toEqual([])
  })

  it('have the forms of plurals that the language has, and no others', () => {
    const rules = new Intl.PluralRules(language)
    const wanted = [
      ...new Set(['other', ...[0, 1, 2, 5].map((count) => rules.select(count))]),
    ].sort()
    const wrong = faults(language, (message) => {
      for (const { forms } of pluralsIn(message)) {
        const had = [...forms.keys()].filter((form) => !form.startsWith('=')).sort()
        if (had.join() !== wanted.join()) return `has ${had}, not ${wanted}`
      }
      return null
    })
    expect(wrong).toEqual([])
  })

  it('say the number in every form that stands for several numbers', () => {
    const counts = Array.from({ length: 30 }, (_, count) => count)
    const wrong = faults(language, (message) => {
      for (const plural of pluralsIn(message)) {
        // Where no form says the number, the words only agree with a number that was said before.
        if (!plural.forms.get('other')?.includes('#')) continue
        for (const [form, text] of plural.forms) {
          const standsFor = counts.filter((count) => formFor(count, plural, language) === form)
          if (!text.includes('#') && standsFor.length > 1) return `${form} {${text}}`
        }
      }
      return null
    })
    expect(wrong).toEqual([])
  })

  it('are filled whole, whatever the count', () => {
    const wrong = [0, 1, 2, 5, 1_000_000].flatMap((count) =>
      faults(language, (message) => {
        const places = placesIn(message)
        const counts = pluralsIn(message).map(({ name }) => [name, count] as const)
        const values = Object.fromEntries([...places.map((name) => [name, `<${name}>`]), ...counts])
        const said = format(message, values, language)
        const isWhole = said.trim() !== '' && !/[{}#]/.test(said)
        return isWhole && places.every((name) => said.includes(`<${name}>`)) ? null : said
      }),
    )
    expect(wrong).toEqual([])
  })
})

it('[SU18] numbers are written as in a region of the language', () => {
  const said = '{count, plural, one {# Zeile} other {# Zeilen}}, {size}'
  const values = { count: 12_345, size: 0.5 }
  expect(format(said, values, 'de')).toBe('12.345 Zeilen, 0,5')
  expect(format(said, values, 'de', 'de-CH')).toMatch(/^12['’]345 Zeilen, 0\.5$/)
})

describe.each(TRANSLATIONS)('the translation to %s', (language) => {
  const inEnglish = messagesOf('en')

  it('says all that English says, and nothing else', () => {
    expect([...messagesOf(language).keys()].sort()).toEqual([...inEnglish.keys()].sort())
  })

  it('takes the same names and counts as English', () => {
    const wrong = faults(language, (message, key) => {
      const wanted = argumentsOf(inEnglish.get(key) ?? '').join('; ')
      const taken = argumentsOf(message).join('; ')
      return taken === wanted ? null : `takes ${taken}, not ${wanted}`
    })
    expect(wrong).toEqual([])
  })

  it('leaves nothing in English', () => {
    const wrong = faults(language, (message, key) =>
      message === inEnglish.get(key) && !SAME_AS_ENGLISH.has(message) ? message : null,
    )
    expect(wrong).toEqual([])
  })
})
