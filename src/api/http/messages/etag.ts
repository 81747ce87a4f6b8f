/** Conditions on versions: `ETag` tells one, `If-Match` and `If-None-Match` ask for one. */
import { AppError } from '../../../lib/errors.ts'

/** Several proxies mark compressed answers as weak; the version is the same, and it is all that counts here. */
const TAG = /^(?:W\/)?"([^"]*)"$/

export function toETag(version: number): string {
  return `"${version}"`
}

/** The tags of a header, without quotes, or `any`. */
export function parseETags(header: string, name: string): readonly string[] | 'any' {
  if (header.trim() === '*') return 'any'
  return header.split(',').map((part) => {
    const tag = TAG.exec(part.trim())?.[1]
    if (tag === undefined) {
      throw new AppError('invalid_input', `${name} is written as "3", in quotes.`, { field: name })
    }
    return tag
  })
}

/** Whether the client already has this version. */
export function hasMatchingETag(header: string | undefined, version: number): boolean {
  if (header === undefined) return false
  const tags = parseETags(header, 'If-None-Match')
  return tags === 'any' || tags.includes(String(version))
}

export function preconditionFailed(version: number | null): AppError {
  return new AppError(
    'precondition_failed',
    version === null
      ? 'It is not at the version that If-Match names.'
      : `It is at version ${version}, not at the one that If-Match names.`,
    { field: 'If-Match', ...(version === null ? {} : { version }) },
  )
}

/** The version of an engine's refusal to change what has changed since. */
export function conflictVersion(error: unknown): number | null {
  if (!(error instanceof AppError) || error.code !== 'conflict') return null
  const { version } = error.facts
  return typeof version === 'number' ? version : null
}
