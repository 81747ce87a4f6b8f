import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { type Catalogue, LANGUAGES, type Language, type MessageKey } from './catalogue.ts'
import { address as german } from './de/index.ts?catalogue'
import { messages as english } from './en/index.ts'
import { address as spanish } from './es/index.ts?catalogue'
import { address as japanese } from './ja/index.ts?catalogue'
import { format, type Values } from './messages.ts'
import { address as portuguese } from './pt/index.ts?catalogue'
import { address as chinese } from './zh/index.ts?catalogue'

/** Where those that are not English come from when they are chosen. */
const ADDRESSES: Record<Exclude<Language, 'en'>, string> = {
  de: german,
  es: spanish,
  pt: portuguese,
  ja: japanese,
  zh: chinese,
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

type Loaded = { readonly language: Language; readonly catalogue: Catalogue }

const ENGLISH: Loaded = { language: 'en', catalogue: english }

/** A language that can't be had is spoken English for. */
async function load(language: Language): Promise<Loaded> {
  if (language === 'en') return ENGLISH
  try {
    const answer = await fetch(ADDRESSES[language])
    if (!answer.ok) return ENGLISH
    return { language, catalogue: (await answer.json()) as Catalogue } // made from one, see `studio/catalogues.ts`
  } catch {
    return ENGLISH
  }
}

/** Shows nothing until the language is there: a page that changes its words while it is read is worse than a moment. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(firstLanguage)
  const [loaded, setLoaded] = useState<Loaded | null>(language === 'en' ? ENGLISH : null)
  useEffect(() => {
    let isStale = false
    void load(language).then((it) => {
      if (!isStale) setLoaded(it)
    })
    return () => {
      isStale = true
    }
  }, [language])
  return loaded === null ? null : (
    <Speaking loaded={loaded} choose={setLanguage}>
      {children}
    </Speaking>
  )
}

function Speaking({
  loaded,
  choose,
  children,
}: {
  loaded: Loaded
  choose: (language: Language) => void
  children: ReactNode
}) {
  useEffect(() => {
    document.documentElement.lang = loaded.language
  }, [loaded.language])
  const value = useMemo(
    () => ({
      ...speaking(loaded.language, loaded.catalogue),
      choose: (chosen: Language) => {
        localStorage.setItem(KEPT_AS, chosen)
        choose(chosen)
      },
    }),
    [loaded, choose],
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
