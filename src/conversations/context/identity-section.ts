/** Who the user is, as far as every message needs it: the identity section of a block, and names known to the gate. */

import { hasEnded, type Memory } from '../../domain/memory.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { listLeadingWords } from '../../memory/contradiction/attributes.ts'
import { USER_WORDS } from '../../memory/contradiction/persons.ts'
import { parseStatement } from '../../memory/contradiction/statements.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { extractInnerNames } from '../../recall/question/names.ts'
import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { foldWord } from '../gate/topic-detection.ts'
import { UserMemoryCache } from './user-cache.ts'

/** Of the cached identity memories, the most important are in every block. */
const IDENTITY_CACHED_MAX = 100
const IDENTITY_SHOWN_MAX = 12
const INSTRUCTIONS_CACHED_MAX = 20
const RELATIONSHIPS_CACHED_MAX = 100
const EPISODES_MAX = 25
const EPISODE_DAYS = 90

/** Shorter words do not identify anybody. */
const WORD_CHARACTERS_MIN = 4

export function createIdentityCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, {
    category: 'identity',
    limit: IDENTITY_CACHED_MAX,
    // The identity narrative is not pinned: it is retrieved for messages that ask for it.
    where: () => ({ pinned: true }),
  })
}

/** Standing instructions, which are part of every context as well. */
export function createInstructionCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, {
    category: 'preference',
    limit: INSTRUCTIONS_CACHED_MAX,
    where: () => ({ pinned: true, types: ['procedural'] }),
  })
}

/** Relatives, friends and pets, whose names the gate has to know. */
export function createRelationshipCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, { category: 'relationship', limit: RELATIONSHIPS_CACHED_MAX })
}

export function createEpisodeCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, {
    category: 'episode',
    limit: EPISODES_MAX,
    where: (now) => ({ createdFrom: addMs(now, -EPISODE_DAYS * DAY_MS) }),
  })
}

/** The identity memories in force, in order of creation: a stable order keeps the bytes of the block stable. */
export function selectIdentityMemories(
  memories: readonly Memory[],
  now: Instant,
): readonly Memory[] {
  return memories
    .filter(
      (memory) => !hasEnded(memory, now) && (memory.validFrom === null || memory.validFrom <= now),
    )
    .toSorted((a, b) => b.importance - a.importance || compareByAge(b, a))
    .slice(0, IDENTITY_SHOWN_MAX)
    .sort(compareByAge)
}

/**
 * Names in recent episodes and relationships, and words that say who the user is. Memories that no model wrote have no
 * entities; their names are the capitalized words inside of their sentences.
 */
export function collectKnownNames(
  others: readonly Memory[],
  identity: readonly Memory[],
): readonly string[] {
  const entities = [...others, ...identity].flatMap(({ entities, content }) =>
    entities.length > 0
      ? entities
      : extractInnerNames(content).filter((name) => !LEADING_WORDS.has(foldWord(name))),
  )
  return [
    ...new Set([...entities, ...identity.flatMap(({ content }) => listContentWords(content))]),
  ]
}

/** Without the words that introduce a statement about the user, such as "the user is called". */
function listContentWords(content: string): readonly string[] {
  const words = content.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const { attribute } = parseStatement(content)
  // Without spaces between words, only the value of an attribute is known to be one word.
  const value = attribute !== null && UNSPACED_SCRIPT.test(attribute.value) ? [attribute.value] : []
  const contentWords = words.filter(
    (word) => [...word].length >= WORD_CHARACTERS_MIN && !LEADING_WORDS.has(foldWord(word)),
  )
  return [...contentWords, ...value]
}

const LEADING_WORDS: ReadonlySet<string> = new Set([
  ...STOP_WORDS,
  ...[...listLeadingWords(), ...USER_WORDS].map(foldWord),
])

function compareByAge(a: Memory, b: Memory): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
