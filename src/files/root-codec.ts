/** A root as it comes out of an export, checked before it goes back in: it says what may be read on a machine. */

import type { EntryOf } from '../domain/entries/entry.ts'
import type { FileRootBody } from '../domain/entries/file-entries.ts'
import { parseEntryId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import { AppError } from '../lib/errors.ts'
import type { Instant } from '../lib/time.ts'
import { ROOT_KINDS } from './file.ts'

type Fields = { readonly [field: string]: unknown }

const TEXTS_MAX = 100
const TEXT_CHARACTERS_MAX = 4_000

/** On any platform: an export may come from another one. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/

export function parseRootEntry(value: unknown): EntryOf<'file-root'> {
  const { id, place, at, version, body } = toFields('entry', value)
  const { owner } = parseScope({ owner: parseText('owner', toFields('place', place).owner) })
  return {
    id: parseEntryId(parseText('id', id)),
    place: { owner, user: null, session: null },
    kind: 'file-root',
    about: owner,
    at: parseInteger('at', at) as Instant, // a whole number of milliseconds
    expiresAt: null,
    version: Math.max(1, parseInteger('version', version)),
    body: parseBody(toFields('body', body)),
  }
}

function parseBody({ kind, path, include, exclude, name }: Fields): FileRootBody {
  const known = ROOT_KINDS.find((each) => each === kind)
  if (known === undefined)
    throw createInvalidInputError('kind', `A root is one of ${ROOT_KINDS.join(', ')}.`)
  const where = parseText('path', path)
  if (!ABSOLUTE.test(where) || where.includes('\0')) {
    throw createInvalidInputError('path', 'The path of a root is absolute.')
  }
  const called = parseText('name', name)
  if ((called === '') !== (known === 'workspace')) {
    throw createInvalidInputError('name', 'Every root has a name but the workspace.')
  }
  return {
    ...{ kind: known, path: where, name: called },
    include: parseTextList('include', include),
    exclude: parseTextList('exclude', exclude),
  }
}

function toFields(field: string, value: unknown): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Fields // an object, whatever is in it
  }
  throw createInvalidInputError(field, `${field} is an object.`)
}

function parseText(field: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= TEXT_CHARACTERS_MAX) return value
  throw createInvalidInputError(
    field,
    `${field} is a text of at most ${TEXT_CHARACTERS_MAX} characters.`,
  )
}

function parseTextList(field: string, value: unknown): readonly string[] {
  if (!Array.isArray(value) || value.length > TEXTS_MAX) {
    throw createInvalidInputError(field, `${field} is a list of at most ${TEXTS_MAX} texts.`)
  }
  return value.map((each) => parseText(field, each))
}

function parseInteger(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw createInvalidInputError(field, `${field} is a whole number.`)
}

function createInvalidInputError(field: string, message: string): AppError {
  return new AppError('invalid_input', message, { field })
}
