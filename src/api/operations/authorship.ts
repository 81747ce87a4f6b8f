/**
 * Authorship: whose words a write holds, and what follows from it. The one rule for every entry:
 *
 * - A tool call, over MCP or in the gateway, is the model's, whatever the key.
 * - Any other write is the key's: a person's, unless its role is `agent` or it is marked otherwise (`writesAs`).
 * - Messages with the role `user` that a program relays (chat requests, hooks, ingested conversations) are the person's;
 *   the features that read them examine every statement.
 *
 * Statements of a model are less trusted than those of a person, so they replace none of them (`write-decision.ts`), and
 * those that look like instructions wait for review.
 */
import { getDefaultWriter } from '../../domain/access.ts'
import { isLessTrusted, type Memory } from '../../domain/memory.ts'
import { type Author, assessAuthorship } from '../../learning/statement-trust.ts'
import { AppError } from '../../lib/errors.ts'
import type { DraftInput } from '../../memory/draft.ts'
import { AUTO_PIN } from '../../memory/pins.ts'
import type { OperationContext } from './operation.ts'

type Writer = Pick<OperationContext, 'caller' | 'isToolCall'>

export function authorOf({ caller, isToolCall }: Writer): Author {
  if (isToolCall === true) return 'model'
  return caller.writesAs ?? getDefaultWriter(caller.role)
}

/** The speaker of statements of a model that name none. */
const MODEL_SPEAKER = 'assistant'

export type AttributedDraft = DraftInput & {
  readonly provenance: { readonly source: string; readonly speaker?: string }
}

/** The draft with the trust of its author. A pin of a model is automatic: a person's statement may replace it. */
export function attributeDraft(writer: Writer, draft: AttributedDraft): DraftInput {
  const author = authorOf(writer)
  if (author === 'person') return draft
  const { content, key, provenance } = draft
  const texts = [content, key ?? '', provenance.speaker ?? '']
  return {
    ...draft,
    ...(draft.pinned === true ? { metadata: { ...draft.metadata, ...AUTO_PIN } } : {}),
    trust: assessAuthorship(author, texts, draft.trust),
    provenance: { ...provenance, speaker: provenance.speaker ?? MODEL_SPEAKER },
  }
}

/** Fields with which a model could withdraw or promote a statement of a person. */
const PROTECTED_FIELDS = [
  ...(['key', 'pinned', 'trust', 'metadata', 'validFrom', 'validUntil', 'expiresAt'] as const),
]

/**
 * Edits a memory as its author may. A new wording of a model for a statement of a person becomes a memory of its own that
 * conflicts with it, until the person decides.
 */
export async function editAsAuthor(
  context: OperationContext,
  scope: Parameters<OperationContext['engine']['edit']>[0],
  id: string,
  edit: Parameters<OperationContext['engine']['edit']>[2],
  options: { readonly version?: number } = {},
): Promise<Memory> {
  const { engine } = context
  const author = authorOf(context)
  if (author === 'person') return engine.edit(scope, id, edit, options)
  const memory = await engine.get(scope, id)
  if (memory === null) return engine.edit(scope, id, edit, options) // fails with the reason
  const trust = assessAuthorship(author, [edit.content ?? '', edit.key ?? ''], edit.trust)
  const isPersonal = isLessTrusted(assessAuthorship(author, []), memory.trust) && !isDigest(memory)
  if (!isPersonal) {
    const lowest = isLessTrusted(trust, memory.trust) ? trust : memory.trust
    return engine.edit(scope, id, { ...edit, trust: lowest }, { ...options, isAutomatic: true })
  }
  const { content } = edit
  if (content !== undefined && content !== memory.content) {
    const { key: _k, pinned: _p, ...fields } = edit
    const provenance = { source: 'edit', speaker: MODEL_SPEAKER }
    const proposal = { ...fields, content, trust, provenance }
    return (await engine.memories.proposeEdit(scope, id, proposal, options)).memory
  }
  const field = PROTECTED_FIELDS.find((name) => edit[name] !== undefined)
  if (field === undefined) return engine.edit(scope, id, edit, { ...options, isAutomatic: true })
  const message = `\`${field}\` of memory ${id} can be changed by a person only, who stated the memory.`
  throw new AppError('forbidden', message, { field, id })
}

/** Episodes are written by programs, whatever they are learned from. */
function isDigest({ category }: Memory): boolean {
  return category === 'episode'
}

/** The author of a stored memory. */
export function authorOfMemory({ trust, provenance }: Memory): Author {
  const { source, speaker } = provenance
  switch (trust) {
    case 'user':
      return 'person'
    case 'assistant':
      return 'model'
    case 'tool':
    case 'import':
      return trust
    case 'suspect':
      if (speaker === 'tool') return 'tool'
      return speaker === MODEL_SPEAKER || MODEL_SOURCES.has(source) ? 'model' : 'person'
  }
}

/** Sources that only tool calls have. */
const MODEL_SOURCES: ReadonlySet<string> = new Set(['mcp', 'gateway'])
