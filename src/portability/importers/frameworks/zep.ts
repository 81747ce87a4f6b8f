/** Zep and Graphiti: facts on the edges of a graph, and messages of threads. */
import { TURN_ROLES, type TurnRole } from '../../../domain/turn.ts'
import { type Fields, filterObjects, isList, isObject } from '../../../lib/json.ts'
import {
  getOwnField,
  type ImportedMemory,
  type ImportRecord,
  orderTurnTimes,
  parseImportItem,
  readMetadata,
  readText,
  readTime,
  requireText,
} from '../foreign-record.ts'

/** Reads a graph with `edges` and `nodes`, a list of edges, or a thread with `messages`. */
export function* readZep(value: unknown): Generator<ImportRecord> {
  const graph: Fields = isList(value) ? { edges: value } : isObject(value) ? value : {}
  const names = new Map(
    filterObjects(getOwnField(graph, 'nodes')).map((node) => [
      readText(node, 'uuid', 'uuid_') ?? '',
      readText(node, 'name') ?? '',
    ]),
  )
  const user = readText(graph, 'user_id')
  const edges = getOwnField(graph, 'edges', 'facts')
  for (const [index, edge] of filterObjects(edges).entries()) {
    yield* parseImportItem(index + 1, () => parseEdge(edge, names, user, index + 1))
  }
  const threads = getOwnField(graph, 'threads', 'sessions')
  for (const thread of isList(threads) ? filterObjects(threads) : [graph]) {
    yield* readMessages(thread, user)
  }
}

/** An expired fact was superseded and an invalid one has ended: both stay as history. */
function parseEdge(
  edge: Fields,
  names: ReadonlyMap<string, string>,
  user: string | null,
  at: number,
): ImportedMemory {
  const ends = [readText(edge, 'source_node_uuid'), readText(edge, 'target_node_uuid')]
  const relation = readText(edge, 'name')
  return {
    kind: 'memory',
    system: 'zep',
    at,
    name: requireText(edge, 'uuid', 'uuid_'),
    owner: readText(edge, 'group_id', 'graph_id'),
    user,
    content: requireText(edge, 'fact'),
    category: 'fact',
    type: 'semantic',
    entities: ends.flatMap((end) => names.get(end ?? '') || []),
    metadata: {
      ...readMetadata(edge, 'attributes'),
      ...(relation === null ? {} : { relation }),
    },
    isDisabled: readTime(edge, 'expired_at') !== null,
    validFrom: readTime(edge, 'valid_at'),
    validUntil: readTime(edge, 'invalid_at'),
    createdAt: readTime(edge, 'created_at'),
  }
}

function readMessages(thread: Fields, user: string | null): readonly ImportRecord[] {
  const session = readText(thread, 'thread_id', 'session_id', 'uuid') ?? 'zep'
  const messages = filterObjects(getOwnField(thread, 'messages'))
  const records = messages.flatMap((message, position) =>
    parseImportItem(position + 1, () => ({
      kind: 'turn',
      system: 'zep',
      at: position + 1,
      name: `${session}:${readText(message, 'uuid', 'uuid_') ?? position}`,
      user: readText(thread, 'user_id') ?? user,
      session,
      role: toRole(readText(message, 'role_type', 'role')),
      speaker: readText(message, 'name'),
      content: requireText(message, 'content'),
      position,
      saidAt: readTime(message, 'created_at'),
    })),
  )
  return orderTurnTimes(records, null)
}

/** Zep accepts any role; unknown ones are names of people. */
function toRole(role: string | null): TurnRole {
  if (role === 'ai') return 'assistant'
  return TURN_ROLES.find((each) => each === role) ?? 'user'
}
