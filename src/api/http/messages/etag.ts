/** Conditional requests: `ETag`, `If-Match` and `If-None-Match` carry row versions. */
import { AppError } from '../../../lib/errors.ts'

/**
 * Proxies mark compressed responses as weak. Only the version counts, so weak tags compare equal.
 */
const TAG = /^(?:W\/)?"([^"]*)"$/

export function toETag(version: number): string {
  return `"${version}"`
}

/** The entity tags of a header without quotes, or `any`. */
export function parseETags(header: string, name: string): readonly string[] | 'any' {
  if (header.trim() === '*') return 'any'
  return header.split(',').map((part) => {
    const tag = TAG.exec(part.trim())?.[1]
    if (tag === undefined) {
      throw new AppError('invalid_input', `\`${name}\` must be a quoted version, such as "3".`, {
        field: name,
      })
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
      ? 'The current version does not match `If-Match`.'
      : `The current version is ${version}, which does not match \`If-Match\`.`,
    { field: 'If-Match', ...(version === null ? {} : { version }) },
  )
}

/** The current version from the engine's version-conflict error. */
export function conflictVersion(error: unknown): number | null {
  if (!(error instanceof AppError) || error.code !== 'conflict') return null
  const { version } = error.facts
  return typeof version === 'number' ? version : null
}
