/**
 * Maps the documents of a set to conversations between a user and an assistant.
 *
 * A session becomes one conversation, an exchange is a user turn with its answer:
 * - Speakers named `user` and `assistant` keep these roles. In sets of two named people, the one who speaks first in the
 *   group is the user and everybody else the assistant.
 * - Consecutive assistant turns are merged into one answer; consecutive user turns become exchanges without an answer.
 * - A session that starts with the assistant gets `OPENING` as its first user turn, because the write path drops
 *   exchanges without one.
 * - Blank documents are left out.
 */
import { type EvalDocument, parseTime } from '../datasets.ts'
import { textOf } from '../haystack.ts'

export type Utterance = {
  readonly text: string
  /** Ids of the documents that the text is made of; empty for `OPENING`. */
  readonly documents: readonly string[]
}

export type ReplayedExchange = {
  readonly user: Utterance
  readonly assistant: Utterance | null
}

export type ReplayedConversation = {
  readonly name: string
  readonly at: number
  readonly exchanges: readonly ReplayedExchange[]
}

/** Holds no word, so that no search finds it. */
const OPENING: Utterance = { text: '…', documents: [] }
/** For sets without dates. */
const UNDATED_MS = Date.parse('2024-01-01')

/** The conversations of one group, oldest first. */
export function toConversations(
  documents: readonly EvalDocument[],
): readonly ReplayedConversation[] {
  const roleOf = createRoles(documents)
  const sessions = groupBy(documents, ({ session }) => session)
  return [...sessions.values()]
    .map((turns, index) => ({
      name: `conversation-${index + 1}`,
      at: timeOf(turns[0]),
      exchanges: toExchanges(turns, roleOf),
    }))
    .filter(({ exchanges }) => exchanges.length > 0)
    .sort((a, b) => a.at - b.at)
}

/** Values by their key, both in the order in which they come. */
export function groupBy<Value, Key>(
  values: readonly Value[],
  keyOf: (value: Value) => Key,
): ReadonlyMap<Key, readonly Value[]> {
  const groups = new Map<Key, Value[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group === undefined) groups.set(keyOf(value), [value])
    else group.push(value)
  }
  return groups
}

export function timeOf(document: EvalDocument | undefined): number {
  return (document?.ts == null ? null : parseTime(document.ts)) ?? UNDATED_MS
}

type RoleOf = (document: EvalDocument) => 'user' | 'assistant'

function createRoles(documents: readonly EvalDocument[]): RoleOf {
  const named = new Set(documents.map(({ speaker }) => speaker?.toLowerCase() ?? ''))
  const user = named.has('user') ? 'user' : (documents[0]?.speaker?.toLowerCase() ?? '')
  return ({ speaker }) => ((speaker?.toLowerCase() ?? '') === user ? 'user' : 'assistant')
}

function toExchanges(
  documents: readonly EvalDocument[],
  roleOf: RoleOf,
): readonly ReplayedExchange[] {
  const exchanges: ReplayedExchange[] = []
  for (const document of documents) {
    const utterance = { text: textOf(document), documents: [document.id] }
    if (utterance.text.trim() === '') continue
    if (roleOf(document) === 'user') {
      exchanges.push({ user: utterance, assistant: null })
      continue
    }
    const { user, assistant } = exchanges.pop() ?? { user: OPENING, assistant: null }
    exchanges.push({
      user,
      assistant: assistant === null ? utterance : merge(assistant, utterance),
    })
  }
  return exchanges
}

function merge(first: Utterance, second: Utterance): Utterance {
  return {
    text: `${first.text}\n\n${second.text}`,
    documents: [...first.documents, ...second.documents],
  }
}
