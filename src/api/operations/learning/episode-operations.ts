/**
 * Operations on episodes. An episode is a memory; these operations use the vocabulary of episodes.
 */
import { z } from 'zod'
import type { EpisodeQuery } from '../../../conversations/admin.ts'
import type { Memory } from '../../../domain/memory.ts'
import { getEventTime } from '../../../domain/memory.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import { getEpisodeLines } from '../../../learning/episodes.ts'
import { AppError } from '../../../lib/errors.ts'
import { omitUndefined } from '../../../lib/object.ts'
import { DAY_MS } from '../../../lib/time.ts'
import type { EditInput } from '../../../memory/draft.ts'
import { editAsAuthor } from '../authorship.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import {
  isoTime,
  listField,
  memoryStatusSchema,
  timeField,
  toWireMemory,
  wireMemory,
} from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { nextCursorField as next, pageFields } from '../page-fields.ts'
import { resolveScope, type ScopeFields, scopeFields } from '../scope-fields.ts'

const lines = z.array(z.string().min(1).max(1_000)).max(20)

const wireEpisode = z
  .object({
    id: z.string(),
    owner: z.string(),
    user: z.string().nullable(),
    sessionId: z.string().describe('Empty without a session.'),
    summary: z.string(),
    topics: z.array(z.string()),
    decisions: z.array(z.string()),
    actionItems: z.array(z.string()),
    entities: z.array(z.string()),
    salience: z.number(),
    happenedAt: z.string().describe('Start of the conversation.'),
    turns: z.array(z.string()).describe('Ids of its turns.'),
    status: memoryStatusSchema,
    trust: z.string(),
    version: z.int(),
    change: z.string(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Episode' })

export type WireEpisode = z.output<typeof wireEpisode>

function toWireEpisode(memory: Memory): WireEpisode {
  const { id, place, content, entities, salience, provenance, status, trust } = memory
  return {
    ...{ id, salience, status, trust, version: memory.version, change: memory.change },
    owner: place.owner,
    user: place.user,
    sessionId: place.session ?? '',
    summary: content,
    topics: [...getEpisodeLines(memory, 'topics')],
    decisions: [...getEpisodeLines(memory, 'decisions')],
    actionItems: [...getEpisodeLines(memory, 'actionItems')],
    entities: [...entities],
    happenedAt: isoTime(getEventTime(memory)),
    turns: [...provenance.turns],
    createdAt: isoTime(memory.createdAt),
    updatedAt: isoTime(memory.updatedAt),
  }
}

export const listEpisodes = defineOperation({
  name: 'episode.list',
  summary: 'Digests of conversations, newest first: by day, time, topic, user or session.',
  access: 'read',
  input: z.strictObject({
    ...scopeFields,
    day: z.iso.date().optional().describe('Such as 2026-05-01, in UTC.'),
    from: timeField.optional(),
    to: timeField.optional().describe('Exclusive upper bound.'),
    topic: listField(z.string().min(1).max(200))
      .optional()
      .describe('Any of these topics; substrings match.'),
    status: listField(memoryStatusSchema).optional().describe('Default: active.'),
    ...pageFields,
  }),
  output: z.object({ episodes: z.array(wireEpisode), next }),
  http: { method: 'GET', path: '/api/episodes' },
  cli: 'episodes',
  run: async (context, { day, from, to, topic, status, limit, after, ...input }) => {
    const scope = resolveScope(context, input, 'read')
    const { from: since, before } = timesOf(day, from, to)
    const asked = { from: since, before, topics: topic, statuses: status, limit, after }
    const query = omitUndefined(asked) as EpisodeQuery // what is left has the types of one
    const page = await context.engine.conversations.episodes.list(scope, query)
    return { episodes: page.rows.map(toWireEpisode), next: page.next }
  },
})

function timesOf(day: string | undefined, from: number | undefined, to: number | undefined) {
  if (day === undefined) return { from, before: to }
  if (from !== undefined || to !== undefined) {
    throw new AppError('invalid_input', '`day` must not be combined with `from` or `to`.', {
      field: 'day',
    })
  }
  const start = Date.parse(day)
  return { from: start, before: start + DAY_MS }
}

const byId = z.strictObject({ ...scopeFields, id: memoryIdField })
const episodeChange = z.object({ success: z.literal(true), episode: wireEpisode })
const versionOf = ({ episode }: { readonly episode: WireEpisode }) => episode.version

export const getEpisode = defineOperation({
  name: 'episode.get',
  summary: 'One episode, with its turns and the facts learned from it.',
  access: 'read',
  input: byId,
  output: z.object({
    episode: wireEpisode,
    deletedTurns: z.array(z.string()).describe('Ids of its turns that were deleted.'),
    facts: z.array(wireMemory).describe('Facts distilled from the same turns.'),
  }),
  http: { method: 'GET', path: '/api/episodes/{id}', version: versionOf },
  cli: 'episodes',
  run: async (context, { id, ...input }) => {
    const { engine } = context
    const { episode, facts } = await engine.conversations.episodes.get(
      resolveScope(context, input, 'read'),
      id,
    )
    const { deletedTurns } = await engine.conversations.turns.getSources(episode)
    return {
      episode: toWireEpisode(episode),
      deletedTurns: [...deletedTurns],
      facts: facts.map(toWireMemory),
    }
  },
})

export const editEpisode = defineOperation({
  name: 'episode.edit',
  summary: 'Updates the given fields of an episode.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...scopeFields,
    id: memoryIdField,
    version: z.int().min(1).optional().describe('Only if it is still at this version.'),
    summary: z.string().min(1).max(50_000).optional(),
    topics: lines.optional(),
    decisions: lines.optional(),
    actionItems: lines.optional(),
    entities: z.array(z.string().max(200)).max(64).optional(),
    salience: z.number().min(0).max(1).optional(),
    pinned: z.boolean().optional(),
  }),
  output: episodeChange,
  http: { method: 'PATCH', path: '/api/episodes/{id}', version: versionOf },
  cli: 'episodes',
  targets: ({ episode }) => [episode.id],
  run: async (context, { id, version, summary, topics, decisions, actionItems, ...input }) => {
    const { owner: _o, apiKeyId: _a, user: _u, sessionId: _s, ...fields } = input
    const scope = resolveScope(context, input, 'write')
    const given = omitUndefined({ ...fields, content: summary })
    const lists = omitUndefined({ topics, decisions, actionItems })
    if (Object.keys({ ...given, ...lists }).length === 0) {
      throw new AppError('invalid_input', 'At least one field to change is required.')
    }
    const { episode } = await context.engine.conversations.episodes.get(scope, id)
    const metadata =
      Object.keys(lists).length === 0 ? {} : { metadata: mergeMetadata(episode, lists) }
    const edited = await editAsAuthor(
      context,
      scope,
      id,
      { ...given, ...metadata } as EditInput, // as the schema says
      // List fields are merged with the version that was read, so that concurrent edits are not lost.
      { version: version ?? episode.version },
    )
    return { success: true as const, episode: toWireEpisode(edited) }
  },
})

function mergeMetadata({ metadata }: Memory, lists: object): Memory['metadata'] {
  return { ...metadata, ...lists }
}

type Change = (context: OperationContext, scope: ScopeInput, id: string) => Promise<Memory>

/** The memory operation, restricted to episodes. */
async function changeEpisode(
  context: OperationContext,
  { id, ...input }: ScopeFields & { readonly id: string },
  change: Change,
) {
  const scope = resolveScope(context, input, 'write')
  await context.engine.conversations.episodes.get(scope, id)
  return { success: true as const, episode: toWireEpisode(await change(context, scope, id)) }
}

export const disableEpisode = defineOperation({
  name: 'episode.disable',
  summary: 'Disables an episode: it is kept but not recalled.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: episodeChange,
  http: { method: 'POST', path: '/api/episodes/{id}/disable' },
  cli: 'episodes',
  targets: ({ episode }) => [episode.id],
  run: (context, input) =>
    changeEpisode(context, input, ({ engine }, scope, id) => engine.memories.disable(scope, id)),
})

export const forgetEpisode = defineOperation({
  name: 'episode.forget',
  summary: 'Moves an episode to the trash. It can be restored.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: episodeChange,
  http: { method: 'DELETE', path: '/api/episodes/{id}', version: versionOf },
  cli: 'episodes',
  targets: ({ episode }) => [episode.id],
  run: (context, input) =>
    changeEpisode(context, input, ({ engine }, scope, id) => engine.forget(scope, id)),
})

export const restoreEpisode = defineOperation({
  name: 'episode.restore',
  summary: 'Restores an episode from the trash, or enables it.',
  access: 'write',
  isIdempotent: true,
  input: byId,
  output: episodeChange,
  http: { method: 'POST', path: '/api/episodes/{id}/restore' },
  cli: 'episodes',
  targets: ({ episode }) => [episode.id],
  run: (context, input) =>
    changeEpisode(context, input, ({ engine }, scope, id) => engine.restore(scope, id)),
})
