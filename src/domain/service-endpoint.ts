/** Validates the address and the API key of a remote service. */
import { AppError } from '../lib/errors.ts'

/**
 * Checks the key here because the platform repeats an invalid header value in its error. Undefined stays undefined:
 * local services need no key.
 */
export function parseApiKey(apiKey: string | undefined, source: string): string | undefined {
  const key = apiKey?.trim()
  if (key === undefined || key === '') return undefined
  if (/^[\x21-\x7e]+$/.test(key)) return key
  throw new AppError(
    'invalid_input',
    `The API key for ${source} must hold printable ASCII characters without spaces. Copy it again.`,
    { source },
  )
}

/** Returns the URL without a trailing slash. */
export function parseBaseUrl(text: string, source: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === ''
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new AppError(
      'invalid_input',
      `The URL of ${source} must begin with http:// or https:// and contain no credentials and no query.`,
      { source },
    )
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
