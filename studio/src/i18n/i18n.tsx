import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { type Catalogue, LANGUAGES, type Language, type MessageKey } from './catalogue.ts'
import { messages as english } from './en/index.ts'
import { format, type Values } from './messages.ts'

/** Those that are not English come when they are chosen. */
const CATALOGUES: Record<Language, () => Promise<Catalogue>> = {
  en: async () => english,
  de: async () => (await import('./de/index.ts')).messages,
  es: async () => (await import('./es/index.ts')).messages,
  pt: async () => (await import('./pt/index.ts')).messages,
  ja: async () => (await import('./ja/index.ts')).messages,
  zh: async () => (await import('./zh/index.ts')).messages,
}
const KEPT_AS = 'recollect.language'

export type Translate = (key: MessageKey, values?: Values) => string

export type I18n = {
  readonly language: Language
  /** The language as a country writes its dates and numbers. */
  readonly region: string
  readonly choose: (language: Language) => void
  readonly t: Translate
  readonly number: (value: number, options?: Intl.NumberFormatOptions) => string
  readonly day: (at: string | number) => string
  readonly time: (at: string | number) => string
  /** As `3 hours ago`. */
  readonly ago: (at: string | number) => string
}

const Context = createContext<I18n | null>(null)

export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(firstLanguage)
  const [loaded, setLoaded] = useState<{ language: Language; catalogue: Catalogue }>({
    language: 'en',
    catalogue: english,
  })
  useEffect(() => {
    let isStale = false
    void CATALOGUES[language]().then((catalogue) => {
      if (!isStale) setLoaded({ language, catalogue })
    })
    return () => {
      isStale = true
    }
  }, [language])
  useEffect(() => {
    document.documentElement.lang = loaded.language
  }, [loaded.language])
  const value = useMemo(
    () => ({
      ...speaking(loaded.language, loaded.catalogue),
      choose: (chosen: Language) => {
        localStorage.setItem(KEPT_AS, chosen)
        setLanguage(chosen)
      },
    }),
    [loaded],
  )
  return <Context value={value}>{children}</Context>
}

export function useI18n(): I18n {
  const i18n = useContext(Context)
  if (i18n === null) throw new Error('Outside of I18nProvider.')
  return i18n
}

function firstLanguage(): Language {
  const wanted = [localStorage.getItem(KEPT_AS), ...navigator.languages]
  const known = wanted
    .map((tag) => tag?.split('-')[0])
    .find((tag): tag is Language => tag !== undefined && tag in LANGUAGES)
  return known ?? 'en'
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** Words are the same in every country, dates are not. */
function regional(language: Language): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language
}

function speaking(language: Language, catalogue: Catalogue): Omit<I18n, 'choose'> {
  const region = regional(language)
  const relative = new Intl.RelativeTimeFormat(region, { numeric: 'auto', style: 'short' })
  const days = new Intl.DateTimeFormat(region, { dateStyle: 'medium' })
  const times = new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short' })
  return {
    language,
    region,
    t: (key, values = {}) => {
      const [page = '', ...name] = key.split('.')
      const pages: { readonly [page: string]: { readonly [name: string]: string } } = catalogue
      return format(pages[page]?.[name.join('.')] ?? key, values, language, region)
    },
    number: (value, options) => new Intl.NumberFormat(region, options).format(value),
    day: (at) => days.format(new Date(at)),
    time: (at) => times.format(new Date(at)),
    ago: (at) => {
      const seconds = (new Date(at).getTime() - Date.now()) / 1_000
      const [unit, length] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? ['second', 1]
      return relative.format(Math.round(seconds / length), unit)
    },
  }
}
