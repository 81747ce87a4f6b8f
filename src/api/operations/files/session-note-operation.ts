/** Writes the digest of a session, or its last messages, as a note into the workspace. */
import { z } from 'zod'
import { NAME_CHARACTERS_MAX } from '../../../domain/limits.ts'
import type { Memory } from '../../../domain/memory.ts'
import type { ScopeInput } from '../../../domain/scope.ts'
import type { Workspace } from '../../../files/file-tree.ts'
import {
  renderSessionMessages,
  renderSessionNote,
  toSlug,
} from '../../../files/sessions/session-note.ts'
import { getEpisodeLines } from '../../../learning/episodes.ts'
import { AppError } from '../../../lib/errors.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { defineOperation, type OperationContext } from '../operation.ts'
import { resolveScope, scopeFields } from '../scope-fields.ts'
import { resolveOwnerFiles } from './file-operations.ts'

const NOTE = /^memory\/\d{4}-\d\d-\d\d(?:-.*)?\.md$/
const MESSAGES_MAX = 100
/** Commands to the client and turns of tools are left out, so more turns than messages are read. */
const TURNS_READ = 200

const { owner, apiKeyId, user } = scopeFields

export const writeSessionNote = defineOperation({
  name: 'files.writeSessionNote',
  summary: "Distills a session and appends the digest to today's note, once.",
  access: 'write',
  isIdempotent: true,
  input: z.strictObject({
    ...{ owner, apiKeyId, user },
    id: z.string().min(1).max(NAME_CHARACTERS_MAX).describe('The session.'),
    messages: z
      .int()
      .min(0)
      .max(MESSAGES_MAX)
      .default(0)
      .describe(
        "Writes this many of the last messages to a note of their own, `memory/<date>-<topic or time>.md`. 0 appends the digest to today's note.",
      ),
  }),
  output: z.object({
    outcome: z
      .string()
      .describe('The outcome of distillation, such as `distilled` or `no_signals`.'),
    path: z
      .string()
      .nullable()
      .describe('The path of the note; null when there was nothing to write.'),
    written: z.boolean().describe('False when the note contained it already.'),
  }),
  http: { method: 'POST', path: '/api/files/flush/{id}' },
  cli: 'files',
  targets: ({ path, written }) => (path === null || !written ? [] : [path]),
  run: async (context, { id, messages, ...input }) => {
    const of = resolveOwnerFiles(context, input, 'write')
    const workspace = await of.files.workspace(of.owner) // before anything is asked of a model
    const scope = resolveScope(context, { ...input, sessionId: id }, 'write')
    const { outcome } = await context.engine.learning.distill(scope, { signal: context.signal })
    if (messages > 0) return { outcome, ...(await writeMessages(context, of, scope, messages)) }
    const digest = await digestOf(context, scope)
    if (digest === null) {
      if (outcome !== 'no_signals') return { outcome, path: null, written: false }
      throw new AppError('not_found', `Session ${id} not found.`, { id })
    }
    const known = await noteWith(workspace, digest.text, digest.since)
    if (known !== null) return { outcome, path: known, written: false }
    const { path } = await of.files.appendToDailyNote(of.owner, digest.text)
    return { outcome, path, written: true }
  },
})

async function writeMessages(
  context: OperationContext,
  { files, owner: whose }: ReturnType<typeof resolveOwnerFiles>,
  scope: ScopeInput,
  limit: number,
) {
  const { conversations } = context.engine
  const { rows } = await conversations.turns.list(scope, { limit: TURNS_READ, order: 'lastSaid' })
  const session = scope.session ?? ''
  if (rows.length === 0) {
    throw new AppError('not_found', `Session ${session} not found.`, { id: session })
  }
  const said = rows.filter(({ disabled }) => !disabled).toReversed()
  const text = renderSessionMessages(session, said, limit)
  if (text === '') return { path: null, written: false }
  const first = said[0]?.saidAt ?? rows[0]?.saidAt ?? 0
  const known = await noteWith(await files.workspace(whose), text, first)
  if (known !== null) return { path: known, written: false }
  const [episode] = (await conversations.episodes.list(scope, { limit: 1 })).rows
  const topics = episode === undefined ? [] : getEpisodeLines(episode, 'topics')
  const { path } = await files.createDatedNote(whose, text, toSlug(topics.join(' ')))
  return { path, written: true }
}

async function digestOf({ engine }: OperationContext, scope: ScopeInput) {
  const [latest] = (await engine.conversations.episodes.list(scope, { limit: 1 })).rows
  if (latest === undefined) return null
  const { episode, facts } = await engine.conversations.episodes.get(scope, latest.id)
  const text = renderSessionNote({
    session: episode.place.session ?? '',
    summary: episode.content,
    decisions: getEpisodeLines(episode, 'decisions'),
    actionItems: getEpisodeLines(episode, 'actionItems'),
    facts: facts.filter(isTrusted).map(({ content }) => content),
  })
  return { text, since: episode.updatedAt }
}

/** Instruction-like text waits for review and is not written. */
function isTrusted({ status, trust }: Memory): boolean {
  return status === 'active' && trust !== 'suspect'
}

/**
 * The note that contains the digest already; it dates from the day of the digest or later, in any
 * time zone.
 */
async function noteWith(workspace: Workspace, text: string, since: number): Promise<string | null> {
  const first = `memory/${new Date(since - DAY_MS).toISOString().slice(0, 10)}.md`
  for (const { path, isFolder } of (await workspace.list('memory', 1)) ?? []) {
    if (isFolder || !NOTE.test(path) || path < first) continue
    if ((await workspace.read(path))?.includes(text) === true) return path
  }
  return null
}
