/** Finds gold turns in a context block: as a passage of the turn, or as a memory learned from it. */

import { toSingleLine } from '../../src/domain/context-block.ts'
import type { Memory } from '../../src/domain/memory.ts'

export type GoldTurn = { readonly id: string; readonly text: string; readonly at: number }

export type Evidence = {
  readonly gold: GoldTurn
  /** `memory`: no passage of the turn is in the block, but a memory whose provenance names the turn. */
  readonly source: 'passage' | 'memory' | null
  /** False for a passage that other turns contain, too, in a block that does not quote this one. */
  readonly isOwn: boolean
  /** Offset of its first occurrence in the block; null when it is not there. */
  readonly position: number | null
}

/** A memory of the block with the documents of its provenance. */
export type InjectedMemory = {
  readonly content: Memory['content']
  readonly documents: ReadonlySet<string>
}

export type SearchedBlock = {
  readonly block: string | null
  readonly memories: readonly InjectedMemory[]
  /** Documents whose turns the block quotes, by its receipt. */
  readonly quoted: ReadonlySet<string>
}

/** A shorter turn must be contained completely. */
export const PASSAGE_CHARACTERS_MIN = 40

/** `isShared`: whether other turns of the group contain the passage, too. */
export function findEvidence(
  { block, memories, quoted }: SearchedBlock,
  golds: readonly GoldTurn[],
  isShared: (passage: string) => boolean = () => false,
): readonly Evidence[] {
  const find = createPassageFinder(block ?? '')
  return golds.map((gold): Evidence => {
    const passages = find(gold.text)
    const unshared = passages.filter(({ text }) => !isShared(text))
    // If the block quotes the turn, its first shared passage may belong to another turn.
    const own = unshared.length === 0 && quoted.has(gold.id) ? passages : unshared
    const learned = memories.filter(({ documents }) => documents.has(gold.id))
    // A memory of the receipt is in the block even if its text cannot be located.
    const positions = learned.map(({ content }) => first(find(content)) ?? Number.MAX_SAFE_INTEGER)
    const position = first(own.length === 0 ? passages : own)
    if (position !== null) {
      const isOwn = own.length > 0 || learned.length > 0
      return { gold, source: 'passage', isOwn, position: Math.min(position, ...positions) }
    }
    if (positions.length === 0) return { gold, source: null, isOwn: false, position: null }
    return { gold, source: 'memory', isOwn: true, position: Math.min(...positions) }
  })
}

/** Finds the passages of gold turns that other texts contain, too. */
export function findSharedPassages(
  golds: readonly GoldTurn[],
  texts: readonly { readonly id: string; readonly text: string }[],
): (passage: string) => boolean {
  const owners = new Map<string, string>()
  const shared = new Set<string>()
  const mark = (passage: string, id: string) => {
    const owner = owners.get(passage)
    if (owner !== undefined && owner !== id) shared.add(passage)
  }
  for (const { id, text } of golds) {
    for (const passage of passagesOf(normalize(text))) {
      mark(passage, id)
      owners.set(passage, id)
    }
  }
  if (owners.size === 0) return () => false
  for (const { id, text } of texts)
    for (const passage of passagesOf(normalize(text))) mark(passage, id)
  return (passage) => shared.has(passage)
}

/**
 * Whether the newest gold turn stands above all older ones. False when only older ones are in the block; null when none
 * is, or when all are of the same date.
 */
export function isNewestFirst(evidence: readonly Evidence[]): boolean | null {
  const dates = evidence.map(({ gold }) => gold.at)
  const newest = Math.max(...dates)
  if (evidence.length === 0 || dates.every((at) => at === newest)) return null
  const topmost = (isWanted: (at: number) => boolean) =>
    Math.min(
      ...evidence
        .filter(({ gold }) => isWanted(gold.at))
        .map(({ position }) => position ?? Number.POSITIVE_INFINITY),
    )
  const [above, below] = [topmost((at) => at === newest), topmost((at) => at < newest)]
  if (above === Number.POSITIVE_INFINITY && below === Number.POSITIVE_INFINITY) return null
  return above < below
}

type Passage = { readonly text: string; readonly at: number }

function first(passages: readonly Passage[]): number | null {
  return passages.reduce<number | null>(
    (topmost, { at }) => (topmost === null ? at : Math.min(topmost, at)),
    null,
  )
}

/** The passages of a text that occur in a block, each at its first occurrence. */
function createPassageFinder(block: string): (text: string) => readonly Passage[] {
  const searched = normalize(block)
  const known = new Map<string, number>()
  let at = 0
  for (const passage of passagesOf(searched)) {
    if (!known.has(passage)) known.set(passage, at)
    at++
  }
  return (text) => {
    const wanted = normalize(text)
    if (wanted === '') return []
    if (wanted.length < PASSAGE_CHARACTERS_MIN) return findWhole(searched, wanted)
    return passagesOf(wanted).flatMap((passage) => {
      const found = known.get(passage)
      return found === undefined ? [] : [{ text: passage, at: found }]
    })
  }
}

/** All substrings of `PASSAGE_CHARACTERS_MIN` characters, in order, or the whole text if it is shorter. */
function passagesOf(text: string): readonly string[] {
  const count = Math.max(1, text.length - PASSAGE_CHARACTERS_MIN + 1)
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PASSAGE_CHARACTERS_MIN))
}

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u

/** Whether a match lies at word boundaries: a short turn may be a single word. */
function findWhole(searched: string, wanted: string): readonly Passage[] {
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + 1)) {
    const before = searched[at - 1] ?? ''
    const after = searched[at + wanted.length] ?? ''
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return [{ text: wanted, at }]
  }
  return []
}

/** The text on one line, without the escaping of the block. */
export function normalize(text: string): string {
  return toSingleLine(text).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
