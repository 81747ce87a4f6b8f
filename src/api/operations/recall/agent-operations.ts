/** Operations for agent programs: list agents, search one layer of memory. */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { getEventTime, MEMORY_CATEGORIES } from '../../../domain/memory.ts'
import { SHARED_OWNER } from '../../../domain/scope.ts'
import { getEpisodeLines } from '../../../learning/episodes.ts'
import { ValidationError } from '../../../lib/errors.ts'
import type { RecalledMemory } from '../../../recall/recall-result.ts'
import { buildQueryTerms, extractPassage } from '../../../text/query-passage.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const nullableText = z.string().nullable()

export const listAgents = defineOperation({
  name: 'agent.list',
  summary: 'Lists agents (owners) with their active facts and episodes.',
  access: 'read',
  input: z.strictObject({}),
  output: z.object({
    agents: z.array(
      z.object({
        id: z.string().describe('The owner.'),
        name: z.string(),
        description: nullableText,
        default_model: nullableText.describe('Its extraction model.'),
        supports_vision: z.boolean().nullable(),
        is_built_in: z.boolean().describe('Whether it is the shared owner.'),
        memory_entry_count: z.int().describe('Active facts and episodes.'),
        created_at: nullableText.describe('Creation time of its first memory.'),
        updated_at: nullableText.describe('Last change of any of its memories.'),
      }),
    ),
  }),
  http: { method: 'GET', path: '/agents' },
  cli: 'agents',
  run: async (context) => {
    const agents = []
    for (const owner of await listReachableOwners(context))
      agents.push(await agentOf(context, owner))
    return { agents }
  },
})

/** The default owner is listed even without memories. */
async function listReachableOwners({
  engine,
  caller,
}: OperationContext): Promise<readonly string[]> {
  const own = [caller.home, ...caller.actsFor]
  if (caller.role !== 'superadmin') return [...new Set(own)].sort()
  const places = await engine.admin.listPlaces()
  return [...new Set([...own, ...places.map(({ owner }) => owner)])].sort()
}

async function agentOf({ engine }: OperationContext, owner: string) {
  const scope = { owner }
  const [tally, { rows: first }, { rows: last }, { 'learning.extractionModel': coreModel }] =
    await Promise.all([
      engine.memories.count(scope),
      engine.list(scope, { order: 'oldest', limit: 1 }),
      engine.list(scope, { order: 'updated', limit: 1 }),
      engine.admin.settings.resolve(owner as Parameters<typeof engine.admin.settings.resolve>[0]), // of a place or a key
    ])
  return {
    id: owner,
    name: owner,
    description: null,
    default_model: coreModel === '' ? null : coreModel,
    supports_vision: null,
    is_built_in: owner === SHARED_OWNER,
    memory_entry_count: tally.total - tally.byCategory.identity,
    created_at: isoTime(first[0]?.createdAt ?? null),
    updated_at: isoTime(last[0]?.updatedAt ?? null),
  }
}

export const LAYERS = ['pinned', 'episodes', 'transcript'] as const
const EXCERPT_CHARACTERS = 300
const DAYS = 365
const FACTS = MEMORY_CATEGORIES.filter((category) => category !== 'episode')

const layerHit = z.object({
  id: z.string(),
  content: z.string().describe('The fact, the summary, or 300 characters of the turn.'),
  score: z.number(),
  created_at: z.string().describe('When it was learned, took place, or was said.'),
  session_id: z.string().describe('Empty without a session.'),
  salience: z.number().optional().describe('Of facts and episodes.'),
  topics: z.array(z.string()).optional().describe('Of episodes.'),
  decisions: z.array(z.string()).optional().describe('Of episodes.'),
  role: z.string().optional().describe('The speaker of a turn.'),
})

export type LayerHit = z.output<typeof layerHit>
export type LayerAnswer = {
  readonly scope: (typeof LAYERS)[number]
  readonly results: readonly LayerHit[]
}

/** As the prompts of other systems expect. */
export const layerFields = {
  scope: z
    .enum(LAYERS)
    .describe('`pinned`: facts; `episodes`: digests of conversations; `transcript`: turns.'),
  query: z.string().min(1).max(10_000),
  days: z
    .int()
    .min(1)
    .max(3_650)
    .optional()
    .describe(`With scope transcript only: how far back. Default: ${DAYS}.`),
  top_k: z.int().min(1).max(50).default(10),
}

export const searchLayer = defineOperation({
  name: 'memory.searchLayer',
  summary: 'Searches one layer of memory: facts, episodes, or turns.',
  access: 'read',
  input: z.strictObject({
    ...layerFields,
    agent_id: z.string().min(1).max(NAME_CHARACTERS_MAX).optional().describe('Alias of `owner`.'),
    owner: scopeFields.owner,
    user: scopeFields.user,
  }),
  output: z.object({ scope: z.enum(LAYERS), results: z.array(layerHit) }),
  http: { method: 'POST', path: '/memory/search' },
  mcp: {
    tool: 'memory_search_layer',
    description:
      'Search only facts (scope pinned), digests of earlier conversations with their topics and decisions (episodes), or what was literally said (transcript, within days). For quotes, and when memory_search is not enough.',
    fields: ['scope', 'query', 'days', 'top_k', 'user'],
  },
  cli: 'search',
  run: async (context, { scope: layer, query, owner, agent_id, user, days, top_k }) => {
    if (days !== undefined && layer !== 'transcript') {
      const message = `\`days\` must be omitted with scope \`${layer}\`; it applies to \`transcript\` only.`
      throw new ValidationError([{ field: 'days', message }])
    }
    if (owner !== undefined && agent_id !== undefined && owner !== agent_id) {
      const message = '`agent_id` and `owner` must name the same owner.'
      throw new ValidationError([{ field: 'agent_id', message }])
    }
    const { session: _, ...place } = resolveScope(
      context,
      { owner: owner ?? agent_id, user },
      'read',
    )
    const { engine } = context
    if (layer === 'transcript') {
      const said = await engine.conversations.turns.search(place, {
        ...{ text: query, limit: top_k, days: days ?? DAYS },
      })
      const results = said.map(({ turn, score }) => ({
        ...{ id: turn.id, score, role: turn.role },
        content: extractPassage(
          turn.content,
          buildQueryTerms(query, [turn.content]),
          EXCERPT_CHARACTERS,
        ),
        created_at: isoTime(turn.saidAt),
        session_id: turn.place.session ?? '',
      }))
      return { scope: layer, results }
    }
    const { memories } = await engine.recall(place, {
      ...{ text: query, limit: top_k, reach: 'owner' },
      categories: layer === 'episodes' ? ['episode'] : FACTS,
      include: 'facts',
    })
    return { scope: layer, results: memories.map(layer === 'episodes' ? toEpisodeHit : toFactHit) }
  },
})

function toFactHit({ memory, score }: RecalledMemory): LayerHit {
  const { id, content, salience, place, createdAt } = memory
  const session_id = place.session ?? ''
  return { ...{ id, content, score, salience, session_id }, created_at: isoTime(createdAt) }
}

function toEpisodeHit(recalled: RecalledMemory): LayerHit {
  const { memory } = recalled
  return {
    ...toFactHit(recalled),
    created_at: isoTime(getEventTime(memory)),
    topics: [...getEpisodeLines(memory, 'topics')],
    decisions: [...getEpisodeLines(memory, 'decisions')],
  }
}
