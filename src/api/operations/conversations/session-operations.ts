/** Operations on sessions, turns, and what was learned from them. */
import { z } from 'zod'
import type { SessionReport } from '../../../conversations/transcript-admin.ts'
import { NAME_CHARACTERS_MAX, TURN_CHARACTERS_MAX } from '../../../domain/limits.ts'
import { TURN_ROLES, type Turn } from '../../../domain/turn.ts'
import { AppError } from '../../../lib/errors.ts'
import { authorOf } from '../authorship.ts'
import { memoryIdField } from '../memories/memory-operations.ts'
import { changesSchema, isoTime } from '../memory-schema.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { nextCursorField as next, pageFields } from '../page-fields.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'

const { owner, apiKeyId, user } = scopeFields
const name = z.string().min(1).max(NAME_CHARACTERS_MAX)

const wireTurn = z
  .object({
    id: z.string(),
    owner: z.string(),
    user: z.string().nullable(),
    sessionId: z.string().describe('Empty without a session.'),
    role: z.enum(TURN_ROLES),
    speaker: z.string().nullable(),
    content: z.string(),
    position: z.int(),
    saidAt: z.string(),
    disabled: z.boolean().describe('Disabled: neither recalled nor learned from.'),
    version: z.int(),
  })
  .meta({ id: 'Turn' })

export type WireTurn = z.output<typeof wireTurn>

function toWireTurn({ place, saidAt, ...turn }: Turn) {
  const { id, role, speaker, content, position, disabled, version } = turn
  return {
    ...{ id, role, speaker, content, position, disabled, version },
    owner: place.owner,
    user: place.user,
    sessionId: place.session ?? '',
    saidAt: isoTime(saidAt),
  }
}

const wireSession = z
  .object({
    id: z.string(),
    owner: z.string(),
    user: z.string().nullable(),
    startedAt: z.string().describe('Time of its first turn.'),
    lastTurnAt: z.string(),
    turns: z.int(),
    pendingSignals: z.int().describe('Signals that wait for distillation.'),
    deadLetterSignals: z.int().describe('Signals that failed too often.'),
    episode: z.string().nullable().describe('Id of its episode.'),
    firstMessage: z.string().nullable().describe('The beginning of the first user message.'),
  })
  .meta({ id: 'Session' })

export type WireSession = z.output<typeof wireSession>

function toWireSession({ place, ...session }: SessionReport): WireSession {
  const { turns, pendingSignals, deadLetterSignals, episode, firstMessage } = session
  return {
    ...{ id: place.session, owner: place.owner, user: place.user },
    ...{ turns, pendingSignals, deadLetterSignals, episode, firstMessage },
    startedAt: isoTime(session.firstSaidAt),
    lastTurnAt: isoTime(session.lastSaidAt),
  }
}

export const listSessions = defineOperation({
  name: 'session.list',
  summary: 'Lists sessions, most recent first.',
  access: 'read',
  input: z.strictObject({ owner, apiKeyId, user, ...pageFields }),
  output: z.object({ sessions: z.array(wireSession), next }),
  http: { method: 'GET', path: '/api/sessions' },
  cli: 'sessions',
  run: async (context, { limit, after, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'read')
    const page = await context.engine.conversations.sessions.list(scope, {
      limit,
      ...(after === undefined ? {} : { after }),
    })
    return {
      sessions: page.rows.map(toWireSession),
      next: page.next,
    }
  },
})

const sessionId = name.describe('The session.')

export const listTurns = defineOperation({
  name: 'session.turns',
  summary: 'The turns of a session, in order.',
  access: 'read',
  input: z.strictObject({
    ...{ owner, apiKeyId, user, id: sessionId },
    order: z.enum(['asc', 'desc']).default('asc').describe('By time; `desc`: newest first.'),
    ...pageFields,
  }),
  output: z.object({ turns: z.array(wireTurn), next }),
  http: { method: 'GET', path: '/api/sessions/{id}/turns' },
  cli: 'sessions',
  run: async (context, { id, order, limit, after, ...input }) => {
    const scope = resolveScope(context, { ...input, sessionId: id }, 'read')
    const page = await context.engine.conversations.turns.list(scope, {
      ...{ limit, order: order === 'desc' ? 'lastSaid' : 'said' },
      ...(after === undefined ? {} : { after }),
    })
    if (page.rows.length === 0 && after === undefined) {
      throw new AppError('not_found', 'Session not found: it has no turns.', { id })
    }
    return { turns: page.rows.map(toWireTurn), next: page.next }
  },
})

export const forgetSession = defineOperation({
  name: 'session.forget',
  summary: 'Deletes the turns of a session permanently, with its pending signals.',
  access: 'curate',
  isDestructive: true,
  isIdempotent: true,
  input: z.strictObject({
    ...{ owner, apiKeyId, user, id: sessionId },
    memories: z
      .boolean()
      .default(false)
      .describe('Also moves memories learned in it to the trash, including its episode.'),
  }),
  output: z.object({
    turns: z.int(),
    signals: z.int(),
    memories: z.int().describe('Memories moved to the trash.'),
    change: z.string().nullable().describe('The change to pass to undo.'),
  }),
  http: { method: 'DELETE', path: '/api/sessions/{id}' },
  cli: 'sessions',
  targets: (_, { id }) => [String(id)],
  run: async (context, { id, memories, ...input }) => {
    const scope = resolveScope(context, { ...input, sessionId: id }, 'curate')
    const { turns, signals, cleared } = await context.engine.conversations.sessions.delete(scope, {
      memories,
    })
    return { turns, signals, memories: cleared?.forgotten ?? 0, change: cleared?.change ?? null }
  },
})

const turnId = z.string().min(1).max(100).describe('The id of a turn, such as turn_4f1d….')
const turnInput = z.strictObject({ owner, apiKeyId, user, id: turnId })
const versionOf = ({ turn }: { readonly turn: WireTurn }) => turn.version

export const getTurn = defineOperation({
  name: 'turn.get',
  summary: 'One turn in full.',
  access: 'read',
  input: turnInput,
  output: z.object({ turn: wireTurn }),
  http: { method: 'GET', path: '/api/turns/{id}', version: versionOf },
  cli: 'sessions',
  run: async (context, { id, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'read')
    return { turn: toWireTurn(await context.engine.conversations.turns.get(scope, id)) }
  },
})

export const editTurn = defineOperation({
  name: 'turn.edit',
  summary:
    'Edits a turn. It is learned from again; memories that only the old text supports move to the trash.',
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...turnInput.shape,
    version: z.int().min(1).optional().describe('Only if it is still at this version.'),
    content: z.string().min(1).max(TURN_CHARACTERS_MAX),
  }),
  output: z.object({ turn: wireTurn, changes: changesSchema }),
  http: { method: 'PATCH', path: '/api/turns/{id}', version: versionOf },
  cli: 'sessions',
  targets: ({ turn }) => [turn.id],
  run: async (context, { id, version, content, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'write')
    assertMayReword(context, await context.engine.conversations.turns.get(scope, id))
    const edited = await context.engine.conversations.turns.edit(scope, id, {
      content,
      ...(version === undefined ? {} : { version }),
    })
    return { turn: toWireTurn(edited.turn), changes: [...edited.changes] }
  },
})

/** What a person said can be reworded by a person only. */
function assertMayReword(context: OperationContext, { id, role }: Turn): void {
  if (role !== 'user' || authorOf(context) === 'person') return
  const message = `Turn ${id} holds the words of a person, so only a person can edit it.`
  throw new AppError('forbidden', message, { id })
}

const turnStateOutput = z.object({
  success: z.literal(true),
  turn: wireTurn,
  learned: z.array(z.string()).describe('Memories learned from it; they are kept.'),
})

export const disableTurn = defineOperation({
  name: 'turn.disable',
  summary:
    'Disables a turn: it stays visible but is neither recalled nor learned from. Returns the memories learned from it, which are kept.',
  access: 'write',
  isIdempotent: true,
  input: turnInput,
  output: turnStateOutput,
  http: { method: 'POST', path: '/api/turns/{id}/disable' },
  cli: 'sessions',
  targets: ({ turn }) => [turn.id],
  run: async (context, { id, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'write')
    const { turn, learned } = await context.engine.conversations.turns.disable(scope, id)
    return { success: true as const, turn: toWireTurn(turn), learned: [...learned] }
  },
})

export const restoreTurn = defineOperation({
  name: 'turn.restore',
  summary: 'Enables a turn again. If nothing was learned from it yet, it is learned from now.',
  access: 'write',
  isIdempotent: true,
  input: turnInput,
  output: turnStateOutput,
  http: { method: 'POST', path: '/api/turns/{id}/restore' },
  cli: 'sessions',
  targets: ({ turn }) => [turn.id],
  run: async (context, { id, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'write')
    const { turn, learned } = await context.engine.conversations.turns.restore(scope, id)
    return { success: true as const, turn: toWireTurn(turn), learned: [...learned] }
  },
})

export const forgetTurn = defineOperation({
  name: 'turn.forget',
  summary: 'Deletes a turn permanently. Returns the memories learned from it, which are kept.',
  access: 'curate',
  isDestructive: true,
  input: turnInput,
  output: z.object({
    id: z.string(),
    sessionId: z.string(),
    learned: z.array(z.string()).describe('Memories learned from it; they are kept.'),
  }),
  http: { method: 'DELETE', path: '/api/turns/{id}' },
  cli: 'sessions',
  targets: ({ id, learned }) => [id, ...learned],
  run: async (context, { id, ...input }) => {
    const { session: _, ...scope } = resolveScope(context, input, 'curate')
    const { turn, learned } = await context.engine.conversations.turns.delete(scope, id)
    return { id: turn.id, sessionId: turn.place.session ?? '', learned: [...learned] }
  },
})

export const listMemorySources = defineOperation({
  name: 'memory.sources',
  summary: 'The source turns of a memory that still exist.',
  access: 'read',
  input: z.strictObject({ ...scopeFields, id: memoryIdField }),
  output: z.object({
    turns: z.array(wireTurn),
    deletedTurns: z.array(z.string()).describe('Ids of source turns that were deleted.'),
  }),
  http: { method: 'GET', path: '/api/memory/{id}/sources' },
  run: async (context, { id, ...input }) => {
    const { engine } = context
    const memory = await engine.get(resolveScope(context, input, 'read'), id)
    if (memory === null) throw new AppError('not_found', `Memory ${id} not found.`, { id })
    const { turns, deletedTurns } = await engine.conversations.turns.getSources(memory)
    return { turns: turns.map(toWireTurn), deletedTurns: [...deletedTurns] }
  },
})
