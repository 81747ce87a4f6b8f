/** Memory for programs that ask their model themselves: what to put before a prompt, and what to keep after a run. */

import { stripBlocks } from '../domain/context-block.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import type { SearchDocument } from '../domain/search-document.ts'
import type { Settings } from '../domain/settings/settings.ts'
import {
  CAPTURE_VERSION,
  type CaptureOptions,
  classifyCapture,
  isWorthCapturing,
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
import type { ContextBuilder } from './context/types.ts'

/** The engine, as far as these need it. */
export type PromptHookDependencies = {
  readonly read: ContextBuilder['buildContext']
  remember(scope: ScopeInput, draft: DraftInput): Promise<RememberResult>
}

export type PromptContext = {
  /** To be put before the prompt, fence and all; empty when there is nothing to say. */
  readonly block: string
  /** What it tells of, in its order; turns of conversations are of type `turn`. */
  readonly memories: readonly SearchDocument[]
  /** Why nothing was looked for: the setting says so, or the prompt is too short. Null when it was. */
  readonly skipped: 'off' | 'short' | null
}

/** As programs send it to a model: text, or parts of which those that are text count. */
export type HookMessage = {
  readonly role: string
  readonly content: string | readonly object[] | null
}

export type CaptureResult = {
  /** In the order in which they were said. */
  readonly captured: readonly RememberResult[]
  /** Messages of the person that were looked at and left alone. */
  readonly ignored: number
  /** `off`: the setting says that nothing is kept, and no message was looked at. */
  readonly skipped: 'off' | null
}

const PROMPT_CHARACTERS_MIN = 5
const CONTEXT_MESSAGES = 2
const CAPTURED_MAX = 3
const CAPTURED_IMPORTANCE = 7

/** What a model should know before it reads this prompt. Recall's own floor decides what is near enough. */
export async function recallForPrompt(
  { read, ports }: Pick<PromptHookDependencies, 'read'> & { readonly ports: MemoryDependencies },
  scope: ScopeInput,
  prompt: string,
  settings: Settings,
): Promise<PromptContext> {
  const text = stripInjected(prompt)
  if (text.length < PROMPT_CHARACTERS_MIN) return { block: '', memories: [], skipped: 'short' }
  const nothing: PromptContext = { block: '', memories: [], skipped: null }
  if (settings['gateway.contextTokensMax'] === 0) return nothing
  const parsed = parseScope(scope)
  // Who names no user speaks for nobody in particular: what each user told is not for all of them.
  const home = { owner: parsed.owner, user: parsed.user ?? null }
  const { block } = await read({
    home,
    place: async () => ({ ...parsed, ...home }),
    text,
    at: ports.clock.now(),
    settings,
    budget: settings['gateway.contextTokensMax'],
    countTokens: ports.countTokens ?? estimateTokens,
    context: await loadPreviousMessages(ports, parsed, text),
    getRemainingMs: () => settings['gateway.contextTimeoutMs'],
    signal: NEVER_ABORTED,
    degraded: new Set(),
  })
  if (typeof block === 'string') return nothing
  const memories = block.content.lines.map(({ document }) => document)
  return { block: block.text, memories, skipped: null }
}

/** The last messages of the person in the session that is named, newest first, for prompts that refer to them. */
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

/**
 * Keeps what the person said and meant to be kept: at most three messages, each as it stands. The newest first, because
 * programs send what was said before again.
 */
export async function captureMessages(
  { remember }: Pick<PromptHookDependencies, 'remember'>,
  scope: ScopeInput,
  messages: readonly HookMessage[],
  options: CaptureOptions = {},
): Promise<CaptureResult> {
  const captured: RememberResult[] = []
  let passed = 0
  for (const { role, content } of [...messages].reverse()) {
    if (captured.length === CAPTURED_MAX) break
    if (role !== 'user') continue
    const kept = await captureMessage(
      remember,
      scope,
      stripInjected(getMessageText(content)),
      options,
    )
    if (kept === null) passed++
    else captured.unshift(kept)
  }
  return { captured, ignored: passed, skipped: null }
}

async function captureMessage(
  remember: PromptHookDependencies['remember'],
  scope: ScopeInput,
  content: string,
  options: CaptureOptions,
): Promise<RememberResult | null> {
  if (!isWorthCapturing(content, options)) return null
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
  } catch (thrown) {
    // What was forgotten stays so.
    if (thrown instanceof AppError && thrown.code === 'forgotten') return null
    throw thrown
  }
}

/** How programs call a part that is text. */
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

/** What the person wrote, without what memory or a program has put around it. */
function stripInjected(text: unknown): string {
  return typeof text === 'string' ? stripHarnessTags(stripBlocks(text)).trim() : ''
}
