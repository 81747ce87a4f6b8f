/** Claude data exports: lists of messages, which become the transcript. */
import type { TurnRole } from '../../domain/turn.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import { listConversations } from './chatgpt.ts'
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

const ROLES: Readonly<Record<string, TurnRole>> = {
  human: 'user',
  user: 'user',
  assistant: 'assistant',
  system: 'system',
}

export function* readClaude(value: unknown): Generator<ImportRecord> {
  for (const [index, item] of listConversations(value).entries()) {
    yield* parseImportItem(index + 1, () => parseConversationTurns(item, index + 1))
  }
}

function parseConversationTurns(item: unknown, at: number): readonly ImportRecord[] {
  const conversation = requireObject(item, 'A conversation')
  const session = readText(conversation, 'uuid', 'id')
  const messages = getOwnField(conversation, 'chat_messages')
  if (session === null || !Array.isArray(messages)) {
    throw createInvalidRecordError('A conversation must have an id and messages.')
  }
  const records = messages.flatMap((message: unknown, position) => [
    ...parseImportItem(at, () =>
      isObject(message) ? (parseTurn(message, session, at, position) ?? []) : [],
    ),
  ])
  return orderTurnTimes(records, readTime(conversation, 'created_at'))
}

function parseTurn(
  message: Fields,
  session: string,
  at: number,
  position: number,
): ImportedTurn | null {
  const sender = (readText(message, 'sender') ?? '').toLowerCase()
  const role = Object.hasOwn(ROLES, sender) ? ROLES[sender] : undefined
  const content = readContent(message)
  if (role === undefined || content.trim() === '') return null
  return {
    kind: 'turn',
    system: 'claude',
    at,
    name: `${session}:${readText(message, 'uuid') ?? position}`,
    session,
    role,
    content,
    position,
    saidAt: readTime(message, 'created_at'),
  }
}

/** Joins the text blocks; the `text` field also holds placeholders for other blocks, so it is the fallback. */
function readContent(message: Fields): string {
  const blocks = getOwnField(message, 'content')
  const texts = (Array.isArray(blocks) ? blocks : [])
    .filter(isObject)
    .filter((block) => readText(block, 'type') === 'text')
    .map((block) => readText(block, 'text') ?? '')
    .filter((text) => text.trim() !== '')
  return texts.length > 0 ? texts.join('\n') : (readText(message, 'text') ?? '')
}
