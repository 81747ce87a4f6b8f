/** Rows of Osaurus's memory database: pinned facts, episodes, the transcript and the identity. */

import { TURN_ROLES } from '../../domain/turn.ts'
import { sha256 } from '../../lib/hash.ts'
import type { Fields } from '../../lib/json.ts'
import {
  type ForeignMemory,
  type ForeignRecord,
  importanceOf,
  invalid,
  numberOf,
  parsedOrNull,
  requiredText,
  textOf,
  timeOf,
  wordsOf,
} from './foreign-record.ts'

function pinnedFact(row: Fields, at: number): ForeignMemory {
  const salience = unit(numberOf(row, 'salience') ?? 0.5)
  const tags = wordsOf(row, 'tags_csv')
  const episode = textOf(row, 'source_episode_id')
  return {
    kind: 'memory',
    system: 'osaurus',
    at,
    name: `fact:${requiredText(row, 'id')}`,
    owner: textOf(row, 'agent_id'),
    content: requiredText(row, 'content'),
    type: 'factual',
    category: 'fact',
    salience,
    importance: importanceOf(salience),
    // Both mean: kept, but no longer used.
    isDisabled: ['disabled', 'evicted'].includes(textOf(row, 'status') ?? ''),
    metadata: {
      ...(tags.length === 0 ? {} : { tags }),
      ...(episode === null ? {} : { episode }),
    },
    createdAt: timeOf(row, 'created_at'),
    sourceCount: numberOf(row, 'source_count') ?? 1,
    useCount: numberOf(row, 'use_count') ?? 0,
    lastUsedAt: timeOf(row, 'last_used'),
  }
}

function episode(row: Fields, at: number): ForeignMemory {
  const salience = unit(numberOf(row, 'salience') ?? 0.5)
  const topics = wordsOf(row, 'topics_csv')
  const decisions = linesOf(row, 'decisions')
  const actions = linesOf(row, 'action_items')
  return {
    kind: 'memory',
    system: 'osaurus',
    at,
    name: `episode:${requiredNumber(row, 'id')}`,
    owner: textOf(row, 'agent_id'),
    session: textOf(row, 'conversation_id'),
    // What was decided is worth finding, so it stands in the text and not only beside it.
    content: [
      requiredText(row, 'summary'),
      ...decisions.map((decision) => `Decision: ${decision}`),
      ...actions.map((action) => `To do: ${action}`),
    ].join('\n'),
    type: 'episodic',
    category: 'event',
    salience,
    importance: importanceOf(salience),
    isDisabled: (textOf(row, 'status') ?? 'active') !== 'active',
    entities: wordsOf(row, 'entities_csv'),
    metadata: topics.length === 0 ? {} : { topics },
    createdAt: timeOf(row, 'conversation_at', 'created_at'),
  }
}

function transcriptTurn(row: Fields, at: number): ForeignRecord {
  const session = requiredText(row, 'conversation_id')
  const position = requiredNumber(row, 'chunk_index')
  const given = textOf(row, 'role')
  const role = TURN_ROLES.find((each) => each === given)
  if (role === undefined) throw invalid(`role is one of ${TURN_ROLES.join(', ')}.`)
  return {
    kind: 'turn',
    system: 'osaurus',
    at,
    name: `${session}:${position}`,
    owner: textOf(row, 'agent_id'),
    session,
    role,
    content: requiredText(row, 'content'),
    position,
    saidAt: timeOf(row, 'created_at'),
  }
}

/** What is always shown about the user, sentence by sentence, and the story that was written from it. */
function identity(row: Fields, at: number): readonly ForeignMemory[] {
  const overrides = parsedOrNull(textOf(row, 'overrides') ?? '[]')
  const sentences = (Array.isArray(overrides) ? overrides : []).filter(
    (each) => typeof each === 'string',
  )
  const narrative = textOf(row, 'content')
  const common = { kind: 'memory', system: 'osaurus', at, category: 'fact' } as const
  return [
    ...sentences.map((content) => ({
      ...common,
      name: `identity:${sha256(content)}`,
      content,
      pinned: true,
    })),
    ...(narrative === null
      ? []
      : [
          {
            ...common,
            name: 'identity:narrative',
            content: narrative,
            type: 'semantic' as const,
            updatedAt: timeOf(row, 'generated_at'),
          },
        ]),
  ]
}

function linesOf(row: Fields, name: string): readonly string[] {
  return (textOf(row, name) ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function requiredNumber(row: Fields, name: string): number {
  const number = numberOf(row, name)
  if (number === null) throw invalid(`It has no ${name}.`)
  return number
}

function unit(value: number): number {
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
} as const
