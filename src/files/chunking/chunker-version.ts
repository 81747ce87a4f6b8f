import type { FileOptions } from '../file-options.ts'

/** Rises when the same settings make other chunks of the same file. */
const CUTTING_VERSION = 1
/** The same of what is taken out of transcripts before. */
const REDACTION_VERSION = 1

/** How chunks are made: another recipe makes another generation. */
export function buildChunkerVersion(settings: FileOptions): string {
  const { chunkTokens, chunkOverlap, chunkBytesMax, redactsEmails: redactsMails } = settings
  return `${CUTTING_VERSION}:${chunkTokens}:${chunkOverlap}:${chunkBytesMax}:${REDACTION_VERSION}:${redactsMails}`
}
