/** Rows of the Osaurus memory database: identity, pinned facts, episodes, the transcript and pending signals. */

import type { SessionId } from '../../domain/ids.ts'
import { NARRATIVE_KEY } from '../../domain/memory.ts'
import { TURN_ROLES } from '../../domain/turn.ts'
import { buildEpisodeKey } from '../../learning/distillation/episode-writer.ts'
import { IDENTITY_IMPORTANCE, IDENTITY_SALIENCE } from '../../learning/identity/identity-grade.ts'
import { sha256 } from '../../lib/hash.ts'
import { type Fields, parseJson } from '../../lib/json.ts'
import {
  createInvalidRecordError,
  type ImportedMemory,
  type ImportRecord,
  readNumber,
  readText,
  readTextList,
  readTime,
  requireText,
  toImportanceScale,
} from './foreign-record.ts'

function pinnedFact(row: Fields, at: number): ImportedMemory {
  const salience = clampToUnit(readNumber(row, 'salience') ?? 0.5)
  const tags = readTextList(row, 'tags_csv')
  const episode = readText(row, 'source_episode_id')
  return {
    kind: 'memory',
    system: 'osaurus',
    at,
    name: `fact:${requireText(row, 'id')}`,
    owner: readText(row, 'agent_id'),
    content: requireText(row, 'content'),
    type: 'factual',
    category: 'fact',
    salience,
    importance: toImportanceScale(salience),
    // Both statuses mean stored but no longer used.
    isDisabled: ['disabled', 'evicted'].includes(readText(row, 'status') ?? ''),
    metadata: {
      ...(tags.length === 0 ? {} : { tags }),
      ...(episode === null ? {} : { episode }),
    },
    createdAt: readTime(row, 'created_at'),
    sourceCount: readNumber(row, 'source_count') ?? 1,
    useCount: readNumber(row, 'use_count') ?? 0,
    lastUsedAt: readTime(row, 'last_used'),
  }
}

function episode(row: Fields, at: number): ImportedMemory {
  const salience = clampToUnit(readNumber(row, 'salience') ?? 0.5)
  const topics = readTextList(row, 'topics_csv')
  const decisions = readLines(row, 'decisions')
  const actionItems = readLines(row, 'action_items')
  const session = readText(row, 'conversation_id')
  const happenedAt = readTime(row, 'conversation_at', 'created_at')
  return {
    kind: 'memory',
    system: 'osaurus',
    at,
    name: `episode:${requiredNumber(row, 'id')}`,
    owner: readText(row, 'agent_id'),
    session,
    key: session === null ? null : buildEpisodeKey(session as SessionId), // checked with the row
    content: requireText(row, 'summary'),
    type: 'episodic',
    category: 'episode',
    salience,
    importance: toImportanceScale(salience),
    isDisabled: (readText(row, 'status') ?? 'active') !== 'active',
    entities: readTextList(row, 'entities_csv'),
    metadata: { topics, decisions, actionItems },
    validFrom: happenedAt,
    createdAt: happenedAt,
  }
}

function transcriptTurn(row: Fields, at: number): ImportRecord {
  const session = requireText(row, 'conversation_id')
  const position = requiredNumber(row, 'chunk_index')
  const sourceRole = readText(row, 'role')
  const role = TURN_ROLES.find((each) => each === sourceRole)
  if (role === undefined)
    throw createInvalidRecordError(`\`role\` must be one of ${TURN_ROLES.join(', ')}.`)
  return {
    kind: 'turn',
    system: 'osaurus',
    at,
    name: `${session}:${position}`,
    owner: readText(row, 'agent_id'),
    session,
    role,
    content: requireText(row, 'content'),
    position,
    saidAt: readTime(row, 'created_at'),
    // Osaurus has distilled it, except for what its pending signals name.
    isLearned: false,
  }
}

/** Processed signals hold nothing to learn any more. */
function pendingSignal(row: Fields, at: number): readonly ImportRecord[] {
  if ((readText(row, 'status') ?? 'pending') === 'processed') return []
  const userText = requireText(row, 'user_message')
  return [
    {
      kind: 'signal',
      system: 'osaurus',
      at,
      name: `signal:${requiredNumber(row, 'id')}`,
      owner: readText(row, 'agent_id'),
      session: requireText(row, 'conversation_id'),
      userText,
      assistantText: readText(row, 'assistant_message'),
      saidAt: readTime(row, 'created_at'),
    },
  ]
}

/** The statements about the user, and the narrative that was generated from them. Both belong to no agent. */
function identity(row: Fields, at: number): readonly ImportedMemory[] {
  const overrides = parseJson(readText(row, 'overrides') ?? '[]')
  const statements = (Array.isArray(overrides) ? overrides : []).filter(
    (each) => typeof each === 'string',
  )
  const narrative = readText(row, 'content')
  const common = {
    kind: 'memory',
    system: 'osaurus',
    at,
    category: 'identity',
    isShared: true,
  } as const
  const identityStatements = statements.map((content) => ({
    ...common,
    name: `identity:${sha256(content)}`,
    content,
    importance: IDENTITY_IMPORTANCE,
    salience: IDENTITY_SALIENCE,
    pinned: true,
  }))
  if (narrative === null) return identityStatements
  const generatedAt = readTime(row, 'generated_at')
  return [
    ...identityStatements,
    {
      ...common,
      name: 'identity:narrative',
      key: NARRATIVE_KEY,
      content: narrative,
      type: 'semantic' as const,
      importance: IDENTITY_IMPORTANCE,
      salience: IDENTITY_SALIENCE,
      pinned: true,
      updatedAt: generatedAt,
    },
  ]
}

function readLines(row: Fields, name: string): readonly string[] {
  return (readText(row, name) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function requiredNumber(row: Fields, name: string): number {
  const number = readNumber(row, name)
  if (number === null) throw createInvalidRecordError(`\`${name}\` must be a number.`)
  return number
}

function clampToUnit(value: number): number {
  return Math.min(1, Math.max(0, value))
}

export const OSAURUS_TABLES = {
  identity: {
    required: ['content'],
    optional: ['overrides', 'generated_at'],
    read: identity,
  },
  pinned_facts: {
    required: ['id', 'content'],
    optional: [
      'agent_id',
      'salience',
      'source_count',
      'source_episode_id',
      'last_used',
      'use_count',
      'status',
      'created_at',
      'tags_csv',
    ],
    read: pinnedFact,
  },
  episodes: {
    required: ['id', 'summary'],
    optional: [
      'agent_id',
      'conversation_id',
      'topics_csv',
      'entities_csv',
      'decisions',
      'action_items',
      'salience',
      'conversation_at',
      'status',
      'created_at',
    ],
    read: episode,
  },
  transcript: {
    required: ['conversation_id', 'chunk_index', 'role', 'content'],
    optional: ['agent_id', 'created_at'],
    read: transcriptTurn,
  },
  pending_signals: {
    required: ['id', 'conversation_id', 'user_message'],
    optional: ['agent_id', 'assistant_message', 'status', 'created_at'],
    read: pendingSignal,
  },
} as const
