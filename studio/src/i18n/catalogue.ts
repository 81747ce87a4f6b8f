import type { messages } from './en/index.ts'

type English = typeof messages

/** What every language must say. English is where messages are made; a page's messages have a file for each language. */
export type Catalogue = {
  readonly [Page in keyof English]: { readonly [Name in keyof English[Page]]: string }
}

export type MessageKey = {
  [Page in keyof English]: `${Page & string}.${keyof English[Page] & string}`
}[keyof English]

export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
  zh: '中文',
} as const
export type Language = keyof typeof LANGUAGES
