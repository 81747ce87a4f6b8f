/** Memory for programs that call their model themselves: context before a prompt, capture after a run. */

import { stripBlocks } from '../domain/context-block.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import type { SearchDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import {
  CAPTURE_VERSION,
  type CaptureOptions,
  classifyCapture,
  isWorthCapturing,
  rateCapture,
} from '../learning/capture-rules.ts'
import { assessTrust } from '../learning/statement-trust.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import { AppError } from '../lib/errors.ts'
import type { DraftInput } from '../memory/draft.ts'
import type { RememberResult } from '../memory/memory-writer.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import { isFollowUp } from '../recall/question/follow-up.ts'
import { stripHarnessTags } from '../text/harness-tags.ts'
import { estimateTokens } from '../text/tokens.ts'
import type { ContextBuilder } from './context/context-builder.ts'
import { toBlockBudget } from './context/context-preparation.ts'

export interface PromptHooks {
  /**
   * The context block to prepend to a prompt. `skipped` is `off` when `hooks.recallEnabled` is off.
   *
   * @example
   * const { block } = await engine.conversations.recallForPrompt({ owner: 'ada' }, 'Where should I eat?')
   */
  recallForPrompt(scope: ScopeInput, prompt: string): Promise<PromptContext>
  /**
   * Stores what user messages ask to remember, at most the three most valuable. `skipped` is `off` when `hooks.captureEnabled` is off.
   *
   * @example
   * const { captured } = await engine.conversations.captureMessages({ owner: 'ada' }, [
   *   { role: 'user', content: 'Remember that I am allergic to nuts.' },
   * ])
   */
  captureMessages(scope: ScopeInput, messages: readonly HookMessage[]): Promise<CaptureResult>
}

export type PromptHookDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: { resolve(owner: Scope['owner']): Promise<Settings> }
  readonly buildContext: ContextBuilder['buildContext']
  readonly remember: (scope: ScopeInput, draft: DraftInput) => Promise<RememberResult>
}

export type PromptContext = {
  /** To be prepended to the prompt, with its fence; empty when there is nothing to inject. */
  readonly block: string
  /** The documents in the block, in its order. Turns of conversations are of type `turn`. */
  readonly memories: readonly SearchDocument[]
  /** Why nothing was searched: the setting is off, or the prompt is too short. */
  readonly skipped: 'off' | 'short' | null
}

/** A message as sent to a model. Of a list of content parts, text parts count. */
export type HookMessage = {
  readonly role: string
  readonly content: string | readonly object[] | null
}

export type CaptureResult = {
  /** In the order of the messages. */
  readonly captured: readonly RememberResult[]
  /** User messages that were examined and not captured. */
  readonly ignored: number
  /** `off`: capture is disabled, and no message was examined. */
  readonly skipped: 'off' | null
}

const PROMPT_CHARACTERS_MIN = 5
const CONTEXT_MESSAGES = 2
const CAPTURED_MAX = 3
const CAPTURED_IMPORTANCE = 7

export function createPromptHooks(dependencies: PromptHookDependencies): PromptHooks {
  const { settings } = dependencies
  return {
    recallForPrompt: async (scope, prompt) => {
      const resolved = await settings.resolve(parseScope(scope).owner)
      return resolved['hooks.recallEnabled']
        ? recallForPrompt(dependencies, scope, prompt, resolved)
        : { block: '', memories: [], skipped: 'off' }
    },
    captureMessages: async (scope, messages) => {
      const resolved = await settings.resolve(parseScope(scope).owner)
      if (!resolved['hooks.captureEnabled']) return { captured: [], ignored: 0, skipped: 'off' }
      return captureMessages(dependencies, scope, messages, {
        captureMaxChars: resolved['hooks.captureCharactersMax'],
      })
    },
  }
}

/** Recall's own similarity threshold decides what is relevant. */
async function recallForPrompt(
  { buildContext, ports }: PromptHookDependencies,
  scope: ScopeInput,
  prompt: string,
  settings: Settings,
): Promise<PromptContext> {
  const text = stripInjected(prompt)
  if (text.length < PROMPT_CHARACTERS_MIN) return { block: '', memories: [], skipped: 'short' }
  const nothing: PromptContext = { block: '', memories: [], skipped: null }
  if (settings['gateway.contextTokensMax'] === 0) return nothing
  const parsed = parseScope(scope)
  // Without a user, memories of individual users stay out.
  const userScope = { owner: parsed.owner, user: parsed.user ?? null }
  const { block } = await buildContext({
    userScope,
    // As in the gateway, the session of a prompt limits recall only where the setting says so.
    resolveScope: async () =>
      settings['recall.scope'] === 'session' ? { ...parsed, ...userScope } : userScope,
    text,
    at: ports.clock.now(),
    settings,
    tokensMax: toBlockBudget(settings),
    countTokens: ports.countTokens ?? estimateTokens,
    previousMessages: await loadPreviousMessages(ports, parsed, text),
    getRemainingMs: () => settings['gateway.contextTimeoutMs'],
    signal: NEVER_ABORTED,
    degraded: new Set(),
  })
  if (typeof block === 'string') return nothing
  const memories = block.content.lines.map(({ document }) => document)
  return { block: block.text, memories, skipped: null }
}

/** The last user messages of the session, newest first, for prompts that follow up on them. */
async function loadPreviousMessages(
  { store }: MemoryDependencies,
  scope: Scope,
  prompt: string,
): Promise<readonly string[]> {
  if (typeof scope.session !== 'string' || !isFollowUp(prompt)) return []
  const where = { roles: ['user'], disabled: false } as const
  const query = { where, order: 'lastSaid', limit: CONTEXT_MESSAGES } as const
  return (await store.find('turn', scope, query)).rows.map(({ content }) => content)
}

/** The most valuable messages, of equal ones the newest, because programs send earlier ones again. */
export async function captureMessages(
  { remember }: Pick<PromptHookDependencies, 'remember'>,
  scope: ScopeInput,
  messages: readonly HookMessage[],
  options: CaptureOptions = {},
): Promise<CaptureResult> {
  let ignored = 0
  const said = messages.flatMap(({ role, content }) =>
    role === 'user' ? [stripInjected(getMessageText(content))] : [],
  )
  const candidates = said.flatMap((text, index) =>
    isWorthCapturing(text, options) ? [{ text, index, value: rateCapture(text) }] : [],
  )
  ignored += said.length - candidates.length
  const best = candidates.toSorted((a, b) => b.value - a.value || b.index - a.index)
  const remembered: { readonly index: number; readonly result: RememberResult }[] = []
  for (const { text, index } of best) {
    if (remembered.length === CAPTURED_MAX) break
    const result = await captureMessage(remember, scope, text)
    if (result === null) ignored++
    else remembered.push({ index, result })
  }
  const captured = remembered.toSorted((a, b) => a.index - b.index).map(({ result }) => result)
  return { captured, ignored, skipped: null }
}

async function captureMessage(
  remember: PromptHookDependencies['remember'],
  scope: ScopeInput,
  content: string,
): Promise<RememberResult | null> {
  try {
    return await remember(scope, {
      content,
      category: classifyCapture(content),
      importance: CAPTURED_IMPORTANCE,
      trust: assessTrust(content, 'user'),
      provenance: {
        source: 'capture',
        speaker: 'user',
        extractor: 'capture',
        extractorVersion: CAPTURE_VERSION,
      },
    })
  } catch (error) {
    // A statement that was forgotten stays forgotten.
    if (error instanceof AppError && error.code === 'forgotten') return null
    throw error
  }
}

/** Content parts that hold text. */
const TEXT_PARTS: readonly unknown[] = ['text', 'input_text']

function getMessageText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  const texts = content.filter(
    (part: unknown): part is { readonly text: string } =>
      typeof part === 'object' &&
      part !== null &&
      'type' in part &&
      TEXT_PARTS.includes(part.type) &&
      'text' in part &&
      typeof part.text === 'string',
  )
  return texts.map(({ text }) => text).join('\n')
}

/** The user's own words, without injected blocks and the tags of programs. */
function stripInjected(text: unknown): string {
  return typeof text === 'string' ? stripHarnessTags(stripBlocks(text)).trim() : ''
}
