/** The languages of the Studio and the types of their messages, which follow from the English catalog. */
import type english from './catalogs/en.json'

/** The messages of one language by page and name. Each language has a JSON file in `catalogs/`. */
export type Catalog = typeof english

export type MessageKey = {
  [Page in keyof Catalog]: `${Page}.${keyof Catalog[Page] & string}`
}[keyof Catalog]

export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  zh: '中文',
} as const
export type Language = keyof typeof LANGUAGES
