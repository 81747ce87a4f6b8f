/** Looks for gold turns in an injected block: as a passage of the turn, or as a memory that was learned from it. */

import { toSingleLine } from '../../src/domain/context-block.ts'
import type { Memory } from '../../src/domain/memory.ts'

export type GoldTurn = { readonly id: string; readonly text: string; readonly at: number }

export type Evidence = {
  readonly gold: GoldTurn
  /** `memory`: no passage of the turn is in the block, but a memory whose provenance names the turn. */
  readonly source: 'passage' | 'memory' | null
  /** False for a passage that other turns hold as well, in a block that does not quote this one. */
  readonly isOwn: boolean
  /** Offset of its first occurrence in the block; null when it is not there. */
  readonly position: number | null
}

/** A memory of the block, with the documents that its provenance leads to. */
export type InjectedMemory = {
  readonly content: Memory['content']
  readonly documents: ReadonlySet<string>
}

export type SearchedBlock = {
  readonly block: string | null
  readonly memories: readonly InjectedMemory[]
  /** Documents whose turns the block quotes, as its receipt says. */
  readonly quoted: ReadonlySet<string>
}

/** Of a shorter turn, all of it must be there. */
export const PASSAGE_CHARACTERS_MIN = 40

/** `isShared`: whether a passage stands in other turns of the group as well. */
export function findEvidence(
  { block, memories, quoted }: SearchedBlock,
  golds: readonly GoldTurn[],
  isShared: (passage: string) => boolean = () => false,
): readonly Evidence[] {
  const find = createPassageFinder(block ?? '')
  return golds.map((gold): Evidence => {
    const passages = find(gold.text)
    const unshared = passages.filter(({ text }) => !isShared(text))
    // Where a block quotes the turn, a passage that others hold as well may stand in one of theirs first.
    const own = unshared.length === 0 && quoted.has(gold.id) ? passages : unshared
    const learned = memories.filter(({ documents }) => documents.has(gold.id))
    // A memory of the receipt stands in the block even where its own text can't be located.
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

/** Tells which passages of the gold turns other texts hold as well. */
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

/** Finds the passages of a text that stand in a block, each where it stands first. */
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

/** All stretches of `PASSAGE_CHARACTERS_MIN` characters, in order; of a shorter text, all of it. */
function passagesOf(text: string): readonly string[] {
  const count = Math.max(1, text.length - PASSAGE_CHARACTERS_MIN + 1)
  return Array.from({ length: count }, (_, at) => text.slice(at, at + PASSAGE_CHARACTERS_MIN))
}

const WORD_CHARACTER = /[\p{L}\p{M}\p{N}]/u

/** Not inside of a longer word: a short turn may be a single one. */
function findWhole(searched: string, wanted: string): readonly Passage[] {
  for (let at = searched.indexOf(wanted); at >= 0; at = searched.indexOf(wanted, at + 1)) {
    const before = searched[at - 1] ?? ''
    const after = searched[at + wanted.length] ?? ''
    if (!WORD_CHARACTER.test(before) && !WORD_CHARACTER.test(after)) return [{ text: wanted, at }]
  }
  return []
}

/** One line of text, without the escaping of the block. */
export function normalize(text: string): string {
  return toSingleLine(text).replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
}
