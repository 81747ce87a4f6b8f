/** Claude's data export: conversations as lists of messages, which become the transcript. */
import type { TurnRole } from '../../domain/turn.ts'
import { type Fields, isObject } from '../../lib/json.ts'
import { conversationsOf } from './chatgpt.ts'
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

const ROLES: Readonly<Record<string, TurnRole>> = {
  human: 'user',
  user: 'user',
  assistant: 'assistant',
  system: 'system',
}

export function* readClaude(value: unknown): Generator<ForeignRecord> {
  for (const [index, item] of conversationsOf(value).entries()) {
    yield* readItem(index + 1, () => conversationTurns(item, index + 1))
  }
}

function conversationTurns(item: unknown, at: number): readonly ForeignRecord[] {
  const conversation = objectOf(item, 'A conversation')
  const session = textOf(conversation, 'uuid', 'id')
  const messages = field(conversation, 'chat_messages')
  if (session === null || !Array.isArray(messages)) {
    throw invalid('A conversation has no id, or no messages where they should be.')
  }
  const records = messages.flatMap((message: unknown, position) => [
    ...readItem(at, () =>
      isObject(message) ? (turnOf(message, session, at, position) ?? []) : [],
    ),
  ])
  return withOrderedTimes(records, timeOf(conversation, 'created_at'))
}

function turnOf(
  message: Fields,
  session: string,
  at: number,
  position: number,
): ForeignTurn | null {
  const sender = (textOf(message, 'sender') ?? '').toLowerCase()
  const role = Object.hasOwn(ROLES, sender) ? ROLES[sender] : undefined
  const content = contentOf(message)
  if (role === undefined || content.trim() === '') return null
  return {
    kind: 'turn',
    system: 'claude',
    at,
    name: `${session}:${textOf(message, 'uuid') ?? position}`,
    session,
    role,
    content,
    position,
    saidAt: timeOf(message, 'created_at'),
  }
}

/** The parts that are text; `text` beside them holds notices in the place of the parts that aren't. */
function contentOf(message: Fields): string {
  const blocks = field(message, 'content')
  const texts = (Array.isArray(blocks) ? blocks : [])
    .filter(isObject)
    .filter((block) => textOf(block, 'type') === 'text')
    .map((block) => textOf(block, 'text') ?? '')
    .filter((text) => text.trim() !== '')
  return texts.length > 0 ? texts.join('\n') : (textOf(message, 'text') ?? '')
}
