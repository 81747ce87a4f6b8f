/** Letta: agent files with memory blocks and messages, and lists of archival passages. */
import type { TurnRole } from '../../../domain/turn.ts'
import { type Fields, filterObjects, isList, isObject } from '../../../lib/json.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  orderTurnTimes,
  parseImportItem,
  readText,
  readTextList,
  readTime,
  requireObject,
  requireText,
} from '../foreign-record.ts'

/** Reads an agent file of any version, one agent, or a list of passages. */
export function* readLetta(value: unknown): Generator<ImportRecord> {
  if (isList(value)) {
    yield* readPassages(value, null)
    return
  }
  const file: Fields = isObject(value) ? value : {}
  const blocks = new Map(
    filterObjects(getOwnField(file, 'blocks')).map((block) => [readText(block, 'id') ?? '', block]),
  )
  const agents = getOwnField(file, 'agents')
  for (const [index, agent] of (isList(agents) ? filterObjects(agents) : [file]).entries()) {
    yield* readAgent(agent, blocks, index + 1)
  }
}

function* readAgent(
  agent: Fields,
  blocks: ReadonlyMap<string, Fields>,
  at: number,
): Generator<ImportRecord> {
  const owner = readText(agent, 'name', 'id') ?? `agent-${at}`
  const linked = readList(agent, 'block_ids').flatMap((id): readonly Fields[] => {
    const block = blocks.get(String(id))
    return block === undefined ? [] : [block]
  })
  const own = filterObjects(getOwnField(agent, 'memory_blocks', 'core_memory'))
  for (const [index, block] of [...own, ...linked].entries()) {
    yield* parseImportItem(index + 1, () => parseBlock(block, owner, index + 1))
  }
  yield* readMessages(agent, owner)
  yield* readPassages(readList(agent, 'archival_memory', 'passages'), owner)
}

function readList(fields: Fields, ...names: readonly string[]): readonly unknown[] {
  const value = getOwnField(fields, ...names)
  return isList(value) ? value : []
}

/** The block about the human is identity; the others are pinned facts. The persona says nothing about the user. */
function parseBlock(block: Fields, owner: string, at: number): readonly ImportRecord[] {
  const label = readText(block, 'label') ?? 'block'
  const content = readText(block, 'value') ?? ''
  if (label === 'persona') return []
  return [
    {
      kind: 'memory',
      system: 'letta',
      at,
      name: `${owner}:block:${label}`,
      owner,
      content,
      category: label === 'human' ? 'identity' : 'fact',
      type: 'semantic',
      pinned: true,
      metadata: { block: label },
      createdAt: readTime(block, 'created_at'),
      updatedAt: readTime(block, 'updated_at'),
    } satisfies ImportedMemory,
  ]
}

const ROLES: Readonly<Record<string, TurnRole>> = { user: 'user', assistant: 'assistant' }

function readMessages(agent: Fields, owner: string): readonly ImportRecord[] {
  const session = `letta:${readText(agent, 'id', 'name') ?? owner}`
  let position = 0
  const records = filterObjects(getOwnField(agent, 'messages')).flatMap((message, index) =>
    parseImportItem(index + 1, () => {
      const role = ROLES[readText(message, 'role') ?? '']
      const content = readContent(message)
      if (role === undefined || content.trim() === '') return []
      return [
        {
          kind: 'turn' as const,
          system: 'letta' as const,
          at: index + 1,
          name: `${session}:${readText(message, 'id') ?? index}`,
          owner,
          session,
          role,
          content,
          position: position++,
          saidAt: readTime(message, 'created_at'),
        },
      ]
    }),
  )
  return orderTurnTimes(records, null)
}

/** Events of the runtime are JSON objects with a type in place of what the user wrote. */
function readContent(message: Fields): string {
  const content = getOwnField(message, 'content', 'text')
  const text = isList(content)
    ? filterObjects(content)
        .filter((part) => getOwnField(part, 'type') === 'text')
        .map((part) => readText(part, 'text') ?? '')
        .join('\n')
    : String(content ?? '')
  if (!text.startsWith('{')) return text
  try {
    const event: unknown = JSON.parse(text)
    if (!isObject(event) || getOwnField(event, 'type') === undefined) return text
    return event.type === 'user_message' ? (readText(event, 'message') ?? '') : ''
  } catch {
    return text
  }
}

function* readPassages(items: readonly unknown[], owner: string | null): Generator<ImportRecord> {
  for (const [index, item] of items.entries()) {
    yield* parseImportItem(index + 1, () => {
      const fields = requireObject(item, 'A passage')
      const tags = readTextList(fields, 'tags')
      return {
        kind: 'memory',
        system: 'letta',
        at: index + 1,
        name: `passage:${requireText(fields, 'id')}`,
        owner: owner ?? readText(fields, 'agent_id'),
        content: requireText(fields, 'text'),
        type: 'semantic',
        metadata: tags.length === 0 ? {} : { tags },
        createdAt: readTime(fields, 'created_at'),
        updatedAt: readTime(fields, 'updated_at'),
      }
    })
  }
}
