/** Validates imported roots, which grant read access to files of this machine. */

import type { EntryOf } from '../domain/entries/entry.ts'
import type { FileRootBody } from '../domain/entries/file-entries.ts'
import {
  createInvalidInputError,
  parseChoice,
  parseInstant,
  parseInteger,
  parseObject,
  parseText,
} from '../domain/field-parsers.ts'
import { parseEntryId } from '../domain/ids.ts'
import { parseScope } from '../domain/scope.ts'
import type { Fields } from '../lib/json.ts'
import { ROOT_KINDS } from './file.ts'

const TEXTS_MAX = 100
const TEXT_CHARACTERS_MAX = 4_000

/** On any platform, because an export may come from another one. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/

export function parseRootEntry(value: unknown): EntryOf<'file-root'> {
  const { id, place, at, version, body } = parseObject('entry', value)
  const { owner } = parseScope({
    owner: parseText('owner', parseObject('place', place).owner, TEXT_CHARACTERS_MAX),
  })
  return {
    id: parseEntryId(parseText('id', id, TEXT_CHARACTERS_MAX)),
    place: { owner, user: null, session: null },
    kind: 'file-root',
    about: owner,
    at: parseInstant('at', at),
    expiresAt: null,
    version: Math.max(1, parseInteger('version', version, 0, Number.MAX_SAFE_INTEGER)),
    body: parseBody(parseObject('body', body)),
  }
}

function parseBody({ kind, path, include, exclude, name }: Fields): FileRootBody {
  const known = parseChoice('kind', kind, ROOT_KINDS)
  const where = parseText('path', path, TEXT_CHARACTERS_MAX)
  if (!ABSOLUTE.test(where) || where.includes('\0')) {
    throw createInvalidInputError('path', '`path` of a root must be absolute.')
  }
  const called = parseText('name', name, TEXT_CHARACTERS_MAX)
  if ((called === '') !== (known === 'workspace')) {
    throw createInvalidInputError('name', '`name` is required for every root except the workspace.')
  }
  return {
    ...{ kind: known, path: where, name: called },
    include: parsePatterns('include', include),
    exclude: parsePatterns('exclude', exclude),
  }
}

/** Patterns may be empty. */
function parsePatterns(field: string, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.length <= TEXTS_MAX) {
    return value.map((each) => parseText(field, each, TEXT_CHARACTERS_MAX))
  }
  throw createInvalidInputError(field, `\`${field}\` must be a list of at most ${TEXTS_MAX} texts.`)
}
