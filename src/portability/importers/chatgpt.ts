/** ChatGPT data exports: conversations are trees, and the branch shown last becomes the transcript. */
import { TURN_ROLES } from '../../domain/turn.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import {
  createInvalidRecordError,
  getOwnField,
  type ImportedTurn,
  type ImportRecord,
  orderTurnTimes,
  parseImportItem,
  readText,
  readTime,
  requireObject,
} from './foreign-record.ts'

export function* readChatgpt(value: unknown): Generator<ImportRecord> {
  for (const [index, item] of listConversations(value).entries()) {
    yield* parseImportItem(index + 1, () => parseConversationTurns(item, index + 1))
  }
}

/** The list of conversations in any of its wrappers. */
export function listConversations(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  const list = isObject(value) ? getOwnField(value, 'conversations') : undefined
  return Array.isArray(list) ? list : [value]
}

function parseConversationTurns(item: unknown, at: number): readonly ImportRecord[] {
  const conversation = requireObject(item, 'A conversation')
  const session = readText(conversation, 'conversation_id', 'id')
  const mapping = getOwnField(conversation, 'mapping')
  if (session === null || !isObject(mapping)) {
    throw createInvalidRecordError('A conversation must have an id and messages.')
  }
  const records: ImportRecord[] = []
  for (const node of getActiveBranch(mapping, readText(conversation, 'current_node'))) {
    const place = { session, at, position: records.length }
    records.push(...parseImportItem(at, () => parseTurn(node, place) ?? []))
  }
  return orderTurnTimes(records, readTime(conversation, 'create_time'))
}

/** The nodes from the root to the message that was shown last. */
function getActiveBranch(mapping: Fields, current: string | null): readonly Fields[] {
  const path: Fields[] = []
  const seen = new Set<string>()
  let id = current !== null && Object.hasOwn(mapping, current) ? current : findLastLeaf(mapping)
  // The walk stops at a cycle.
  while (id !== null && Object.hasOwn(mapping, id) && !seen.has(id)) {
    seen.add(id)
    const node = mapping[id]
    if (!isObject(node)) break
    path.push(node)
    id = readText(node, 'parent')
  }
  return path.reverse()
}

/** Used when the export does not name the current node: the last node without children. */
function findLastLeaf(mapping: Fields): string | null {
  const parents = new Set(
    Object.values(mapping).map((node) =>
      isObject(node) ? getOwnField(node, 'parent') : undefined,
    ),
  )
  return (
    Object.keys(mapping)
      .filter((id) => !parents.has(id))
      .at(-1) ?? null
  )
}

type TurnPosition = {
  readonly session: string
  readonly at: number
  readonly position: number
}

/** Null for hidden instructions, reasoning and empty messages. */
function parseTurn(node: Fields, { session, at, position }: TurnPosition): ImportedTurn | null {
  const message = getOwnField(node, 'message')
  if (!isObject(message) || isHidden(message)) return null
  const author = getOwnField(message, 'author')
  const authorRole = isObject(author) ? readText(author, 'role') : null
  const role = TURN_ROLES.find((each) => each === authorRole)
  const content = readContent(getOwnField(message, 'content'))
  if (role === undefined || content.trim() === '') return null
  return {
    kind: 'turn',
    system: 'chatgpt',
    at,
    name: `${session}:${readText(message, 'id') ?? readText(node, 'id') ?? position}`,
    session,
    role,
    speaker: role === 'tool' && isObject(author) ? readText(author, 'name') : null,
    content,
    position,
    saidAt: readTime(message, 'create_time'),
  }
}

function isHidden(message: Fields): boolean {
  const metadata = getOwnField(message, 'metadata')
  return (
    getOwnField(message, 'weight') === 0 ||
    (isObject(metadata) && getOwnField(metadata, 'is_visually_hidden_from_conversation') === true)
  )
}

/** Content types that belong to the transcript; the others are reasoning and context. */
const TRANSCRIPT_TYPES = ['text', 'multimodal_text', 'code', 'execution_output']

function readContent(content: unknown): string {
  if (!isObject(content)) return ''
  const kind = readText(content, 'content_type') ?? 'text'
  if (!TRANSCRIPT_TYPES.includes(kind)) return ''
  const parts = getOwnField(content, 'parts')
  if (!Array.isArray(parts)) return readText(content, 'text') ?? ''
  return parts.map(readPartText).filter(Boolean).join('\n')
}

/** Images and audio contribute only their transcript. */
function readPartText(part: unknown): string {
  if (typeof part === 'string') return part
  const text = isObject(part) ? getOwnField(part, 'text') : undefined
  return typeof text === 'string' ? text : ''
}
