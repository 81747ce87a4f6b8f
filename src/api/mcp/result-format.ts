/**
 * Text results. Current clients read the structured content; others pass this text to the model, so
 * it contains what the next step needs: snippets and ids.
 */
import type { z } from 'zod'
import type { WireTurn } from '../operations/conversations/session-operations.ts'
import type { flushSession } from '../operations/learning/distillation-operations.ts'
import type { WireLearning } from '../operations/learning/signal-operations.ts'
import { toSnippet, type WireMemory } from '../operations/memory-schema.ts'
import type { LayerAnswer, LayerHit } from '../operations/recall/agent-operations.ts'
import type { Tool, ToolFields } from './tool.ts'

type Hit = { readonly id: string; readonly snippet: string; readonly score: number }

type SearchHit = Hit & {
  readonly source: string
  readonly speaker?: string
  readonly createdAt?: string
}

/** Formatters by tool name. The casts follow the operation's output schema. */
export const RESULT_FORMATTERS: { readonly [tool: string]: Tool['formatResult'] } = {
  memory_search: (output) => {
    const { results, abstained } = output as { results: readonly SearchHit[]; abstained: boolean }
    if (results.length > 0) return formatHits(results.map(withSpeaker))
    return abstained ? 'No memory is similar enough.' : 'No matching memory.'
  },
  memory_search_layer: (output) => formatLayer(output as LayerAnswer),
  memory_get: (output) => {
    const { memory, turn } = output as { memory: WireMemory; turn?: WireTurn }
    if (turn !== undefined) return renderTurn(turn)
    const facts = [
      memory.category,
      `importance ${memory.importance}`,
      `version ${memory.version}`,
      `updated ${memory.updatedAt}`,
      ...(memory.key === null ? [] : [`key ${memory.key}`]),
      ...(memory.status === 'active' ? [] : [memory.status]),
    ]
    return `${memory.content}\n(${memory.id}; ${facts.join(', ')})`
  },
  memory_add: (output) => {
    const { id, outcome, other, memory } = output as {
      id: string
      memory: WireMemory
      outcome: keyof typeof OUTCOMES
      other: WireMemory | null
    }
    const previous =
      other === null ? '' : ` Other memory (${other.id}): ${toSnippet(other.content)}`
    const review = memory.needsReview ? ' It looks like an instruction and waits for review.' : ''
    return `${OUTCOMES[outcome]} Id: ${id}.${previous}${review}`
  },
  memory_update: (output) => {
    const { memory, outcome } = output as { memory: WireMemory; outcome?: 'update' | 'conflict' }
    const snippet = toSnippet(memory.content)
    return outcome === 'conflict'
      ? `The user stated this memory, so it was not changed. The new wording is saved as ${memory.id} until the user decides: ${snippet}`
      : `Updated ${memory.id} to version ${memory.version}: ${snippet}`
  },
  memory_forget: (output) => {
    const { forgotten, candidates, turnsDisabled } = output as {
      forgotten: WireMemory | null
      candidates: readonly Hit[]
      turnsDisabled: number
    }
    if (forgotten !== null) {
      const message = `Forgotten (${forgotten.id}): ${toSnippet(forgotten.content)}`
      return `${message}${formatDisabledTurns(turnsDisabled)}`
    }
    if (candidates.length === 0) return 'No match; nothing was forgotten.'
    return `The query is ambiguous; nothing was forgotten. Call again with one of these ids:\n${formatHits(candidates)}`
  },
  memory_clear: (output) => {
    const { matched, deletedCount, turnsDisabled, dryRun } = output as {
      matched: number
      deletedCount: number
      turnsDisabled: number
      dryRun: boolean
    }
    return dryRun
      ? `${formatMemoryTotal(matched)} would be forgotten; nothing was changed.`
      : `${formatMemoryTotal(deletedCount)} forgotten.${formatDisabledTurns(turnsDisabled)}`
  },
  memory_history: (output) => {
    const { versions } = output as {
      versions: readonly { memory: WireMemory; replacedAt: string | null }[]
    }
    return versions
      .map(({ memory, replacedAt }) => {
        const until = replacedAt === null ? 'in force' : `until ${replacedAt}`
        return `Version ${memory.version}, from ${memory.updatedAt}, ${until}: ${toSnippet(memory.content)}`
      })
      .join('\n')
  },
  memory_flush: (output) => {
    const { outcome, facts, pendingSignals } = output as z.output<(typeof flushSession)['output']>
    if (outcome !== 'distilled') {
      return `Nothing was learned: ${outcome}.${pendingSignals === 0 ? '' : ` Pending signals: ${pendingSignals}.`}`
    }
    const changed = facts.created + facts.updated + facts.superseded + facts.conflicts
    return `Distilled: ${changed} facts new or changed, ${facts.reinforced} known before.`
  },
  memory_status: (output) => {
    const { state, reasons, memories, version, learning } = output as {
      state: string
      reasons: readonly unknown[]
      memories: number
      version: string
      learning: Pick<WireLearning, 'usageToday'>
    }
    const problems =
      reasons.length === 0 ? '' : ` Problems: ${reasons.map(formatReason).join('; ')}.`
    return `Memory is ${state}, with ${formatMemoryTotal(memories)} stored (Recollect ${version}).${problems}${formatTokenUsage(learning)}`
  },
}

const OUTCOMES = {
  create: 'Saved.',
  update: 'Saved; replaces the memory with the same key.',
  duplicate: 'Already known.',
  supersede: 'Saved; supersedes the memory that it contradicts.',
  conflict: 'Saved, but it contradicts another memory; ask the user which one is correct.',
} as const

const LAYERS = {
  pinned: { head: 'Pinned facts:', none: 'No pinned facts found.', line: formatFact },
  episodes: { head: 'Episodes:', none: 'No episodes found.', line: formatEpisode },
  transcript: { head: 'Transcript:', none: 'No matching turn.', line: formatTurn },
} as const

/** Prose lists, which prompts for these layers expect. */
export function formatLayer({ scope, results }: LayerAnswer): string {
  const { head, none, line } = LAYERS[scope]
  return results.length === 0 ? none : [head, ...results.map(line)].join('\n')
}

function formatFact({ content, salience = 0 }: LayerHit): string {
  return `- ${content} (salience ${salience.toFixed(2)})`
}

function formatEpisode({ content, created_at, topics = [], decisions = [] }: LayerHit): string {
  const details = [
    ...(topics.length === 0 ? [] : [`topics: ${topics.join(', ')}`]),
    ...(decisions.length === 0 ? [] : [`decisions: ${decisions.join('; ')}`]),
  ]
  return `- [${dayOf(created_at)}] ${content}${details.length === 0 ? '' : ` (${details.join('; ')})`}`
}

function formatTurn({ content, created_at, role = 'user' }: LayerHit): string {
  return `- [${dayOf(created_at)}] ${role}: ${content}`
}

function dayOf(time: string): string {
  return time.slice(0, 10)
}

/** For tools without a formatter. */
export function formatAsJson(output: ToolFields): string {
  return JSON.stringify(output)
}

function formatHits(hits: readonly Hit[]): string {
  return hits
    .map(({ id, snippet, score }, at) => `${at + 1}. [${id}] ${snippet} (${formatScore(score)})`)
    .join('\n')
}

/** Turns carry speaker and date: a quote must not pass for a fact. */
function withSpeaker({ snippet, source, speaker, createdAt, ...hit }: SearchHit): Hit {
  if (source !== 'transcript') return { ...hit, snippet }
  const day = createdAt === undefined ? '' : ` on ${dayOf(createdAt)}`
  return { ...hit, snippet: `${speaker ?? 'user'} said${day}: ${snippet}` }
}

function renderTurn({ id, role, speaker, content, saidAt, sessionId }: WireTurn): string {
  const session = sessionId === '' ? '' : `, session ${sessionId}`
  return `${content}\n(${id}; ${speaker ?? role} said this on ${dayOf(saidAt)}${session})`
}

function formatTokenUsage({ usageToday }: Pick<WireLearning, 'usageToday'>): string {
  if (usageToday === null || usageToday.calls === 0) return ''
  const limit = usageToday.budget === 0 ? '' : ` of ${usageToday.budget}`
  return ` Learning used ${usageToday.input + usageToday.output}${limit} tokens today.`
}

function formatReason(reason: unknown): string {
  return typeof reason === 'string' ? reason : JSON.stringify(reason)
}

/** Higher is closer; scores have no upper bound. */
export function formatScore(score: number): string {
  return score.toFixed(2)
}

export function formatMemoryTotal(memories: number): string {
  return memories === 1 ? '1 memory' : `${memories} memories`
}

/** Turns that state a forgotten fact are excluded too. */
function formatDisabledTurns(turnsDisabled: number): string {
  return turnsDisabled === 0 ? '' : `\nTurns disabled: ${turnsDisabled}`
}
