/** What goes into a request to a service, checked: its address, its key and the texts. */
import { AppError } from '../lib/errors.ts'

/**
 * Checked here because the platform puts a header it refuses into its error. Undefined stays undefined: services on
 * one's own machine need no key.
 */
export function parseApiKey(apiKey: string | undefined, source: string): string | undefined {
  const key = apiKey?.trim()
  if (key === undefined || key === '') return undefined
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new AppError(
    'invalid_input',
    `The API key for ${source} holds characters that no key has. Copy it again.`,
    { source },
  )
}

/** Without a slash at its end. */
export function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === ''
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError(
      'invalid_input',
      `The address of ${source} must begin with http:// or https:// and hold no password and no query.`,
      { source },
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
