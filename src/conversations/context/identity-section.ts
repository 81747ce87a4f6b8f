/** Who a person is, as far as every message needs it: what is always said, and the names that a message may drop. */

import { hasEnded, type Memory } from '../../domain/memory.ts'
import { addMs, DAY_MS, type Instant } from '../../lib/time.ts'
import { listLeadingWords } from '../../memory/contradiction/attributes.ts'
import { USER_WORDS } from '../../memory/contradiction/persons.ts'
import { parseStatement } from '../../memory/contradiction/statements.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { UNSPACED_SCRIPT } from '../../text/search/cjk-terms.ts'
import { STOP_WORDS } from '../../text/search/stopwords.ts'
import { UserMemoryCache, type UserScope } from './user-cache.ts'

/** Of those that are looked at, the most important are always said. */
const OVERRIDES_LOOKED_AT = 100
const OVERRIDES_MAX = 12
const EPISODES_MAX = 25
const EPISODE_DAYS = 90

/** Shorter words say little about anybody. */
const WORD_CHARACTERS_MIN = 4

export function createIdentityCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, {
    category: 'identity',
    limit: OVERRIDES_LOOKED_AT,
    // What is told about a person as a whole is not pinned: it is there for those who ask.
    where: () => ({ pinned: true }),
  })
}

export function createEpisodeCache(ports: MemoryDependencies): UserMemoryCache {
  return new UserMemoryCache(ports, {
    category: 'episode',
    limit: EPISODES_MAX,
    where: (now) => ({ createdFrom: addMs(now, -EPISODE_DAYS * DAY_MS) }),
  })
}

/** In the order in which they were learned, which gives the same bytes whichever was touched last. */
export async function getIdentityMemories(
  overrides: UserMemoryCache,
  home: UserScope,
  now: Instant,
): Promise<readonly Memory[]> {
  const known = await overrides.of(home)
  const inForce = known.filter(
    (memory) => !hasEnded(memory, now) && (memory.validFrom === null || memory.validFrom <= now),
  )
  return inForce
    .toSorted((a, b) => b.importance - a.importance || compareByAge(b, a))
    .slice(0, OVERRIDES_MAX)
    .sort(compareByAge)
}

/** Names from recent conversations, and words that say who the person is. */
export async function collectKnownNames(
  episodes: UserMemoryCache,
  home: UserScope,
  identity: readonly Memory[],
): Promise<readonly string[]> {
  // Names help to decide; a message is decided about without them as well.
  const recent = await episodes.of(home).catch((): readonly Memory[] => [])
  const named = [...recent, ...identity].flatMap(({ entities }) => entities)
  return [...new Set([...named, ...identity.flatMap(({ content }) => listContentWords(content))])]
}

/** Not the words that lead to what is said of the person: "the user is called" stands before many names. */
function listContentWords(content: string): readonly string[] {
  const words = content.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  const { attribute } = parseStatement(content)
  // Where no blanks part the words, only the value of an attribute is known to be one.
  const value = attribute !== null && UNSPACED_SCRIPT.test(attribute.value) ? [attribute.value] : []
  const telling = words.filter(
    (word) => [...word].length >= WORD_CHARACTERS_MIN && !LEADING.has(foldWord(word)),
  )
  return [...telling, ...value]
}

const LEADING: ReadonlySet<string> = new Set([
  ...STOP_WORDS,
  ...[...listLeadingWords(), ...USER_WORDS].map(foldWord),
])

function foldWord(word: string): string {
  return word.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
}

function compareByAge(a: Memory, b: Memory): number {
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}
