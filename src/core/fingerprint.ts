/**
 * The fingerprint of a statement: equal for texts that differ only in case, width, spacing or the marks around
 * them. It finds exact restatements without reading every memory. It is kept short because every row carries it.
 */
import { sha256 } from './sha256.ts'

const FINGERPRINT_CHARACTERS = 32

export function fingerprint(content: string): string {
  return sha256(foldStatement(content)).slice(0, FINGERPRINT_CHARACTERS)
}

function foldStatement(content: string): string {
  const folded = content.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()
  const bare = folded.replace(/[.!。！\s]+$/u, '')
  // A text of nothing but such marks is still told apart from another one.
  return bare === '' ? folded : bare
}
