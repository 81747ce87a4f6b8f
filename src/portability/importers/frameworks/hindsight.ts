/** Hindsight: the documents and facts of a bank, from its transfer archive or its list of memories. */
import { sha256 } from '../../../lib/hash.ts'
import { type Fields, filterObjects, isList, isObject } from '../../../lib/json.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  parseImportItem,
  readMetadata,
  readNumber,
  readText,
  readTextList,
  readTime,
  requireObject,
  requireText,
} from '../foreign-record.ts'
import type { ZipEntry } from '../zip-archive.ts'

const MANIFEST = 'manifest.json'

export function isHindsightArchive(entries: readonly ZipEntry[]): boolean {
  return entries.some(({ name }) => name === MANIFEST)
}

/** The files of an archive: a manifest, one file for each document, and the observations of the bank. */
export function* readHindsightArchive(entries: readonly ZipEntry[]): Generator<ImportRecord> {
  const manifest = parseEntry(entries.find(({ name }) => name === MANIFEST))
  const bank = isObject(manifest) ? readText(manifest, 'source_bank_id') : null
  let at = 0
  for (const entry of entries) {
    const isDocument = /^documents\/.*\.json$/.test(entry.name)
    if (!isDocument && !/^observations(?:\/.*)?\.json$/.test(entry.name)) continue
    const value = parseEntry(entry)
    const document = isObject(value) ? value : {}
    const facts = isList(value) ? value : getOwnField(document, 'facts', 'observations')
    for (const fact of isList(facts) ? facts : []) {
      at++
      const number = at
      yield* parseImportItem(number, () =>
        parseFact(requireObject(fact, 'A fact'), {
          bank,
          document: readText(document, 'id'),
          at: number,
        }),
      )
    }
  }
}

function parseEntry(entry: ZipEntry | undefined): unknown {
  return entry === undefined ? null : JSON.parse(Buffer.from(entry.read()).toString('utf8'))
}

/** A list of memories from its REST API. */
export function* readHindsight(value: unknown): Generator<ImportRecord> {
  const list = isObject(value) ? getOwnField(value, 'items', 'memories', 'results') : value
  const bank = isObject(value) ? readText(value, 'bank_id') : null
  for (const [index, fact] of filterObjects(list).entries()) {
    const document = readText(fact, 'document_id')
    yield* parseImportItem(index + 1, () => parseFact(fact, { bank, document, at: index + 1 }))
  }
}

type FactOrigin = {
  readonly bank: string | null
  readonly document: string | null
  readonly at: number
}

/** `experience` facts tell what the agent did, `observation` facts are consolidated. */
function parseFact(fact: Fields, { bank, document, at }: FactOrigin): ImportedMemory {
  const content = requireText(fact, 'text')
  const kind = readText(fact, 'fact_type', 'type') ?? 'world'
  const context = readText(fact, 'context')
  const tags = readTextList(fact, 'tags')
  const mentionedAt = readTime(fact, 'mentioned_at', 'event_date', 'created_at')
  return {
    kind: 'memory',
    system: 'hindsight',
    at,
    name: readText(fact, 'source_id', 'id') ?? sha256(JSON.stringify([document, content])),
    owner: readText(fact, 'bank_id') ?? bank,
    content,
    type: kind === 'experience' ? 'episodic' : kind === 'observation' ? 'semantic' : 'factual',
    category: kind === 'experience' ? 'event' : 'fact',
    entities: readTextList(fact, 'entities'),
    sourceCount: Math.max(1, readNumber(fact, 'proof_count') ?? 1),
    metadata: {
      ...readMetadata(fact, 'metadata'),
      factType: kind,
      ...(document === null ? {} : { document }),
      ...(context === null ? {} : { context }),
      ...(tags.length === 0 ? {} : { tags }),
    },
    validFrom: readTime(fact, 'occurred_start'),
    createdAt: mentionedAt,
  }
}
