/**
 * The stored form of receipts. Databases of earlier versions hold receipts under their first field names and values, and
 * new receipts are stored in the same form, so that every reader needs only one.
 */
import type { Entry } from '../../domain/entry.ts'
import type { ReceiptId } from '../../domain/ids.ts'
import { AppError } from '../../lib/errors.ts'
import type { JsonObject } from '../../lib/json.ts'
import type { CitedLine } from './line-citations.ts'
import {
  NO_TOOL_MEMORY_IDS,
  type Receipt,
  type ReceiptCitation,
  type ReceiptGate,
  type ReceiptMemory,
} from './receipt.ts'

type Names = Readonly<Record<string, string>>

const STORED_SKIP_REASONS: Names = {
  'memory-disabled': 'no-memory',
  'context-disabled': 'no-inject',
  'no-user-message': 'no-question',
  'no-relevant-memories': 'nothing-relevant',
  'no-insertion-point': 'no-place',
  'dry-run': 'shadow',
  timeout: 'late',
}
const STORED_STAGES: Names = {
  vector: 'meaning',
  fusion: 'fuse',
  'question-match': 'match',
  boost: 'weigh',
  diversity: 'diversify',
  threshold: 'floor',
}
const STORED_RETRIEVERS: Names = { vector: 'meaning' }
const STORED_ANSWERS: Names = {
  complete: 'whole',
  truncated: 'cut',
  interrupted: 'broken',
  unparsed: 'unread',
}

const SKIP_REASONS = invert(STORED_SKIP_REASONS)
const STAGES = invert(STORED_STAGES)
const RETRIEVERS = invert(STORED_RETRIEVERS)
const ANSWERS = invert(STORED_ANSWERS)

/** Fields that earlier versions did not write are optional. */
type StoredReceipt = Pick<
  Receipt,
  | 'requestId'
  | 'format'
  | 'model'
  | 'provider'
  | 'status'
  | 'error'
  | 'injected'
  | 'turns'
  | 'extracted'
  | 'toolCalls'
  | 'usage'
  | 'timings'
> & {
  readonly skipped: string | null
  readonly recalled: readonly ReceiptMemory[]
  readonly shadow: Receipt['dryRun']
  readonly degraded?: readonly string[]
  readonly gate?: (Omit<ReceiptGate, 'reason'> & { readonly because: string }) | null
  readonly identity?: Receipt['identityIds']
  readonly quoted?: Receipt['excerptIds']
  readonly pieces?: readonly (Omit<ReceiptCitation, 'lineKey'> & {
    readonly line: string | null
  })[]
  readonly frame?: string | null
  readonly toolMemories?: Receipt['memoryToolResults']
  readonly answer?: string | null
}

/** The body of the entry of a receipt. `lines` carry the keys under which their texts are stored. */
export function encodeReceipt(receipt: Receipt, lines: readonly ReceiptCitation[]): JsonObject {
  const { gate, results, identityIds, excerptIds, dryRun, memoryToolResults, ...rest } = receipt
  const { id: _id, place: _place, at: _at, lines: _lines, ...same } = rest
  return {
    ...same,
    skipped: renameNullable(STORED_SKIP_REASONS, receipt.skipped),
    degraded: receipt.degraded.map((name) => rename(STORED_RETRIEVERS, name)),
    gate: gate && encodeGate(gate),
    recalled: results.map((result) => renameStages(STORED_STAGES, result)),
    identity: identityIds,
    quoted: excerptIds,
    shadow: dryRun,
    pieces: lines.map(({ lineKey, ...citation }) => ({ ...citation, line: lineKey })),
    toolMemories: memoryToolResults,
    answer: renameNullable(STORED_ANSWERS, receipt.answer),
  } satisfies StoredReceipt satisfies JsonObject
}

export function decodeReceipt({ id, place, at, body }: Entry): Receipt {
  if (typeof body.requestId !== 'string') {
    throw new AppError('damaged', 'A receipt is not in the form that it was written in.', { id })
  }
  const stored = body as unknown as StoredReceipt // as written by `encodeReceipt`
  const { skipped, recalled, shadow, degraded, gate, identity, quoted, ...rest } = stored
  const { pieces, frame, toolMemories, answer, ...same } = rest
  return {
    ...same,
    ...{ id: id as ReceiptId, place, at }, // the id of an entry of kind `receipt`
    skipped: renameNullable(SKIP_REASONS, skipped),
    degraded: (degraded ?? []).map((name) => rename(RETRIEVERS, name)),
    gate: gate == null ? null : decodeGate(gate),
    results: recalled.map((result) => renameStages(STAGES, result)),
    identityIds: identity ?? [],
    excerptIds: quoted ?? [],
    dryRun: shadow,
    lines: (pieces ?? []).map(({ line, ...citation }) => ({ ...citation, lineKey: line })),
    frame: frame ?? null,
    memoryToolResults: toolMemories ?? NO_TOOL_MEMORY_IDS,
    answer: renameNullable(ANSWERS, answer ?? null) as Receipt['answer'], // `encodeReceipt` wrote one of them
  }
}

type StoredLine = Omit<CitedLine, 'expiresAt'> & { readonly until: CitedLine['expiresAt'] }

/** The body of the entry that holds the lines of one memory or turn. */
export function encodeLines(lines: readonly CitedLine[]): JsonObject {
  const texts = lines.map(
    ({ key, text, expiresAt }): StoredLine => ({ key, text, until: expiresAt }),
  )
  return { texts } satisfies JsonObject
}

export function decodeLines({ body }: Entry): readonly CitedLine[] {
  const texts = body.texts as unknown as readonly StoredLine[] // as written by `encodeLines`
  return texts.map(({ key, text, until }) => ({ key, text, expiresAt: until }))
}

function encodeGate({ reason, ...gate }: ReceiptGate): NonNullable<StoredReceipt['gate']> {
  return { ...gate, because: reason }
}

function decodeGate({ because, ...gate }: NonNullable<StoredReceipt['gate']>): ReceiptGate {
  return { ...gate, reason: because }
}

function renameStages(names: Names, result: ReceiptMemory): ReceiptMemory {
  return {
    ...result,
    trail: result.trail.map(({ stage, score }) => ({ stage: rename(names, stage), score })),
  }
}

function rename(names: Names, name: string): string {
  return Object.hasOwn(names, name) ? (names[name] ?? name) : name
}

function renameNullable(names: Names, name: string | null): string | null {
  return name === null ? null : rename(names, name)
}

function invert(names: Names): Names {
  return Object.fromEntries(Object.entries(names).map(([current, stored]) => [stored, current]))
}
