import { createContext, type ReactNode, useContext, useEffect, useMemo, useState } from 'react'
import { type Catalog, LANGUAGES, type Language, type MessageKey } from './catalog.ts'
import germanUrl from './catalogs/de.json?url'
import englishUrl from './catalogs/en.json?url'
import spanishUrl from './catalogs/es.json?url'
import japaneseUrl from './catalogs/ja.json?url'
import portugueseUrl from './catalogs/pt.json?url'
import chineseUrl from './catalogs/zh.json?url'
import { format, type MessageValues } from './format.ts'

/** Catalogs are fetched when their language is selected. */
const CATALOG_URLS: Record<Language, string> = {
  en: englishUrl,
  de: germanUrl,
  es: spanishUrl,
  pt: portugueseUrl,
  ja: japaneseUrl,
  zh: chineseUrl,
}
const STORAGE_KEY = 'recollect.language'

export type Translate = (key: MessageKey, values?: MessageValues) => string

export type I18n = {
  readonly language: Language
  /** The locale for dates and numbers, such as `de-CH`. */
  readonly region: string
  readonly selectLanguage: (language: Language) => void
  readonly t: Translate
  readonly number: (value: number, options?: Intl.NumberFormatOptions) => string
  readonly day: (at: string | number) => string
  readonly time: (at: string | number) => string
  /** A relative time, such as `3 hours ago`. */
  readonly ago: (at: string | number) => string
}

const Context = createContext<I18n | null>(null)

type LoadedCatalog = { readonly language: Language; readonly catalog: Catalog }

const RETRY_PAUSE_MS = 1_000

/** Falls back to English if the catalog cannot be fetched. Nothing can be shown without English: waits for it. */
async function loadCatalog(language: Language): Promise<LoadedCatalog> {
  for (;;) {
    const loaded = (await fetchCatalog(language)) ?? (await fetchCatalog('en'))
    if (loaded !== null) return loaded
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS))
  }
}

async function fetchCatalog(language: Language): Promise<LoadedCatalog | null> {
  try {
    const response = await fetch(CATALOG_URLS[language])
    if (!response.ok) return null
    return { language, catalog: (await response.json()) as Catalog } // a test compares its keys with English
  } catch {
    return null
  }
}

const FIRST_LANGUAGE = initialLanguage()
/** Requested before the first rendering, which needs it. */
const firstCatalog = loadCatalog(FIRST_LANGUAGE)

/** Renders nothing until the catalog is loaded: text that switches its language while it is read is worse than a delay. */
export function I18nProvider({ children }: { children: ReactNode }) {
  const [language, setLanguage] = useState<Language>(FIRST_LANGUAGE)
  const [loaded, setLoaded] = useState<LoadedCatalog | null>(null)
  useEffect(() => {
    let isStale = false
    void (language === FIRST_LANGUAGE ? firstCatalog : loadCatalog(language)).then((catalog) => {
      if (!isStale) setLoaded(catalog)
    })
    return () => {
      isStale = true
    }
  }, [language])
  return loaded === null ? null : (
    <CatalogProvider loaded={loaded} onSelect={setLanguage}>
      {children}
    </CatalogProvider>
  )
}

function CatalogProvider({
  loaded,
  onSelect,
  children,
}: {
  loaded: LoadedCatalog
  onSelect: (language: Language) => void
  children: ReactNode
}) {
  useEffect(() => {
    document.documentElement.lang = loaded.language
  }, [loaded.language])
  const value = useMemo(
    () => ({
      ...createI18n(loaded),
      selectLanguage: (language: Language) => {
        localStorage.setItem(STORAGE_KEY, language)
        onSelect(language)
      },
    }),
    [loaded, onSelect],
  )
  return <Context value={value}>{children}</Context>
}

export function useI18n(): I18n {
  const i18n = useContext(Context)
  if (i18n === null) throw new Error('useI18n must be called inside I18nProvider.')
  return i18n
}

function initialLanguage(): Language {
  const preferred = [localStorage.getItem(STORAGE_KEY), ...navigator.languages]
  const supported = preferred
    .map((tag) => tag?.split('-')[0])
    .find((tag): tag is Language => tag !== undefined && tag in LANGUAGES)
  return supported ?? 'en'
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** The preferred region of the browser for a language: messages do not depend on the region, dates and numbers do. */
function regionOf(language: Language): string {
  return navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language
}

function createI18n({ language, catalog }: LoadedCatalog): Omit<I18n, 'selectLanguage'> {
  const region = regionOf(language)
  const relative = new Intl.RelativeTimeFormat(region, { numeric: 'auto', style: 'short' })
  const days = new Intl.DateTimeFormat(region, { dateStyle: 'medium' })
  const times = new Intl.DateTimeFormat(region, { dateStyle: 'medium', timeStyle: 'short' })
  const pages: { readonly [page: string]: { readonly [name: string]: string } } = catalog
  return {
    language,
    region,
    t: (key, values = {}) => {
      const [page = '', name = ''] = key.split('.')
      return format(pages[page]?.[name] ?? key, values, language, region)
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
