/** Where a context block goes, and inserting it into the content of a message. Shared by all formats. */

import type { BlockPlacement } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import type { Json } from '../../../lib/json.ts'
import type { SystemRole } from '../../../models/provider.ts'
import { appendToString, insertElement, type JsonPath, prependToString } from './json-edit.ts'

/** Separates a block from the text of the client. */
const BLOCK_SEPARATOR = '\n\n'

type ContentLocation = { readonly path: JsonPath; readonly value: Json | undefined }

/** Inserts a block after the content: at the end of its string, or as the last part. */
export function appendBlock(text: string, content: ContentLocation, block: string, part: string) {
  const { path, value } = content
  if (typeof value === 'string') {
    return appendToString(text, path, value === '' ? block : BLOCK_SEPARATOR + block)
  }
  return Array.isArray(value) ? insertElement(text, path, value.length, part) : null
}

/** Inserts a block before the content, or before the part at `index`. */
export function prependBlock(
  text: string,
  content: ContentLocation,
  block: string,
  part: string,
  index = 0,
): string | null {
  const { path, value } = content
  if (typeof value === 'string') {
    return prependToString(text, path, value === '' ? block : block + BLOCK_SEPARATOR)
  }
  return Array.isArray(value) ? insertElement(text, path, index, part) : null
}

/** The placement for the owner's setting and the system roles that the model supports. */
export function selectPlacement(
  position: Settings['gateway.contextPosition'],
  systemRole: SystemRole,
): BlockPlacement {
  if (position === 'auto') return 'turn-end'
  if (position === 'user') return 'turn-start'
  return SYSTEM_PLACEMENTS[systemRole]
}

const SYSTEM_PLACEMENTS: Readonly<Record<SystemRole, BlockPlacement>> = {
  any: 'system',
  leading: 'system-merged',
  none: 'message',
}
