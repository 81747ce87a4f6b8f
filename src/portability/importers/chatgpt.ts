/** ChatGPT's data export: conversations as trees, of which the branch that was shown last becomes the transcript. */
import { TURN_ROLES } from '../../domain/turn.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  type ForeignRecord,
  type ForeignTurn,
  field,
  invalid,
  objectOf,
  readItem,
  textOf,
  timeOf,
  withOrderedTimes,
} from './foreign-record.ts'

export function* readChatgpt(value: unknown): Generator<ForeignRecord> {
  for (const [index, item] of conversationsOf(value).entries()) {
    yield* readItem(index + 1, () => conversationTurns(item, index + 1))
  }
}

/** The list, wherever it stands. */
export function conversationsOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const list = isObject(value) ? field(value, 'conversations') : undefined
  return Array.isArray(list) ? list : [value]
}

function conversationTurns(item: unknown, at: number): readonly ForeignRecord[] {
  const conversation = objectOf(item, 'A conversation')
  const session = textOf(conversation, 'conversation_id', 'id')
  const mapping = field(conversation, 'mapping')
  if (session === null || !isObject(mapping)) {
    throw invalid('A conversation has no id, or no messages where they should be.')
  }
  const records: ForeignRecord[] = []
  for (const node of branch(mapping, textOf(conversation, 'current_node'))) {
    const place = { session, at, position: records.length }
    records.push(...readItem(at, () => turnOf(node, place) ?? []))
  }
  return withOrderedTimes(records, timeOf(conversation, 'create_time'))
}

/** From the first message to the one that was shown last. */
function branch(mapping: Fields, current: string | null): readonly Fields[] {
  const path: Fields[] = []
  const seen = new Set<string>()
  let id = current !== null && Object.hasOwn(mapping, current) ? current : lastLeaf(mapping)
  // A tree that bites its own tail ends where it began.
  while (id !== null && Object.hasOwn(mapping, id) && !seen.has(id)) {
    seen.add(id)
    const node = mapping[id]
    if (!isObject(node)) break
    path.push(node)
    id = textOf(node, 'parent')
  }
  return path.reverse()
}

/** Where the export does not say what was shown last: the last message that nothing answers. */
function lastLeaf(mapping: Fields): string | null {
  const parents = new Set(
    Object.values(mapping).map((node) => (isObject(node) ? field(node, 'parent') : undefined)),
  )
  return (
    Object.keys(mapping)
      .filter((id) => !parents.has(id))
      .at(-1) ?? null
  )
}

type Place = {
  readonly session: string
  readonly at: number
  readonly position: number
}

/** Null for what nobody saw: hidden instructions, thoughts, empty messages. */
function turnOf(node: Fields, { session, at, position }: Place): ForeignTurn | null {
  const message = field(node, 'message')
  if (!isObject(message) || isHidden(message)) return null
  const author = field(message, 'author')
  const given = isObject(author) ? textOf(author, 'role') : null
  const role = TURN_ROLES.find((each) => each === given)
  const content = contentOf(field(message, 'content'))
  if (role === undefined || content.trim() === '') return null
  return {
    kind: 'turn',
    system: 'chatgpt',
    at,
    name: `${session}:${textOf(message, 'id') ?? textOf(node, 'id') ?? position}`,
    session,
    role,
    speaker: role === 'tool' && isObject(author) ? textOf(author, 'name') : null,
    content,
    position,
    saidAt: timeOf(message, 'create_time'),
  }
}

function isHidden(message: Fields): boolean {
  const metadata = field(message, 'metadata')
  return (
    field(message, 'weight') === 0 ||
    (isObject(metadata) && field(metadata, 'is_visually_hidden_from_conversation') === true)
  )
}

/** Kinds of content that were said, not thought or set up. */
const SAID = ['text', 'multimodal_text', 'code', 'execution_output']

function contentOf(content: unknown): string {
  if (!isObject(content)) return ''
  const kind = textOf(content, 'content_type') ?? 'text'
  if (!SAID.includes(kind)) return ''
  const parts = field(content, 'parts')
  if (!Array.isArray(parts)) return textOf(content, 'text') ?? ''
  return parts.map(partText).filter(Boolean).join('\n')
}

/** Of pictures and sounds only what was said in them. */
function partText(part: unknown): string {
  if (typeof part === 'string') return part
  const text = isObject(part) ? field(part, 'text') : undefined
  return typeof text === 'string' ? text : ''
}
