/**
 * Caches what the composition of a block finds out about the text of a document. Consecutive requests recall many of the
 * same documents, and rendering, checking and counting their lines took a tenth of a request's processor time.
 */

import { getEventTime } from '../../domain/memory.ts'
import type { SearchDocument } from '../../domain/search-document.ts'
import { LruCache } from '../../lib/lru-cache.ts'
import type { Change } from '../../storage/store.ts'
import type { CountTokens } from '../../text/tokens.ts'

const DOCUMENTS_MAX = 10_000
/** Of all texts together. With their lines and words they take about five times as many bytes. */
const CHARACTERS_MAX = 2_000_000

/** The line of a document whose whole text is quoted, filled in field by field as it is needed. */
export type LineAnalysis = {
  isInformative?: boolean
  isPromptInjection?: boolean
  /** Null when nothing readable is left of the text. */
  line?: string | null
  words?: ReadonlySet<string>
  tokens?: number
  /** Counted the tokens: models have different tokenizers. */
  countedBy?: CountTokens
}

type CachedLine = { readonly document: SearchDocument; readonly analysis: LineAnalysis }

export class LineCache {
  readonly #lines = new LruCache<string, CachedLine>({
    entriesMax: DOCUMENTS_MAX,
    weightMax: CHARACTERS_MAX,
    weigh: ({ document }) => document.content.length,
  })

  get(document: SearchDocument): LineAnalysis {
    const key = buildKey(document.place.owner, document.id)
    const known = this.#lines.get(key)
    if (known !== undefined && isSameText(known.document, document)) return known.analysis
    const analysis = {}
    this.#lines.set(key, { document, analysis })
    return analysis
  }

  /** Drops the text of removed documents. Must receive every commit. */
  onCommit(changes: readonly Change[]): void {
    for (const change of changes) {
      if (change.op !== 'remove') continue
      if (change.table !== 'memory' && change.table !== 'turn') continue
      this.#lines.delete(buildKey(change.scope.owner, change.id))
    }
  }

  clear(): void {
    this.#lines.clear()
  }
}

function buildKey(owner: string, id: string): string {
  return `${id} ${owner}`
}

/** Compares what a line renders. An import may bring another text under the same id and version. */
function isSameText(a: SearchDocument, b: SearchDocument): boolean {
  return (
    a.version === b.version &&
    a.content === b.content &&
    a.provenance.speaker === b.provenance.speaker &&
    getEventTime(a) === getEventTime(b)
  )
}
