/** Memory for programs that ask their model themselves: what to put before a prompt, and what to keep after a run. */
import {
  CAPTURE_VERSION,
  type CaptureOptions,
  captureCategory,
  worthCapturing,
} from '../../core/distillation/capture.ts'
import type { DraftInput, ScopeInput } from '../../core/draft.ts'
import { AppError } from '../../core/errors.ts'
import type { Memory } from '../../core/memory.ts'
import { withoutAsides } from '../../core/prompting/asides.ts'
import { renderBlock, stripBlocks } from '../../core/prompting/block.ts'
import type { RecallQuery, Recollection } from '../recall.ts'
import type { Remembered } from '../remember.ts'

/** The engine, as far as these need it. */
export type HookParts = {
  recall(scope: ScopeInput, query: RecallQuery): Promise<Recollection>
  remember(scope: ScopeInput, draft: DraftInput): Promise<Remembered>
}

export type RecalledFor = {
  /** To be put before the prompt, fence and all; empty when there is nothing to say. */
  readonly block: string
  readonly memories: readonly Memory[]
}

export type SaidMessage = { readonly role: string; readonly content: string }

export type Captured = {
  /** In the order in which they were said. */
  readonly captured: readonly Remembered[]
  /** Messages of the person that were looked at and left alone. */
  readonly passed: number
}

const PROMPT_CHARACTERS_MIN = 5
const RECALLED_MAX = 3
const CAPTURED_MAX = 3
const CAPTURED_IMPORTANCE = 7

/** What a model should know before it reads this prompt. Recall's own floor decides what is near enough. */
export async function recallFor(
  { recall }: Pick<HookParts, 'recall'>,
  scope: ScopeInput,
  prompt: string,
): Promise<RecalledFor> {
  const text = ownWords(prompt)
  if (text.length < PROMPT_CHARACTERS_MIN) return { block: '', memories: [] }
  const found = await recall(scope, { text, limit: RECALLED_MAX, purpose: 'prompt' })
  const memories = found.memories.map(({ memory }) => memory)
  return { block: renderBlock(memories), memories }
}

/**
 * Keeps what the person said and meant to be kept: at most three messages, each as it stands. The newest first, because
 * programs send what was said before again.
 */
export async function captureFrom(
  { remember }: Pick<HookParts, 'remember'>,
  scope: ScopeInput,
  messages: readonly SaidMessage[],
  options: CaptureOptions = {},
): Promise<Captured> {
  const captured: Remembered[] = []
  let passed = 0
  for (const { role, content } of [...messages].reverse()) {
    if (captured.length === CAPTURED_MAX) break
    if (role !== 'user') continue
    const kept = await capture(remember, scope, ownWords(content), options)
    if (kept === null) passed++
    else captured.unshift(kept)
  }
  return { captured, passed }
}

async function capture(
  remember: HookParts['remember'],
  scope: ScopeInput,
  content: string,
  options: CaptureOptions,
): Promise<Remembered | null> {
  if (!worthCapturing(content, options)) return null
  try {
    return await remember(scope, {
      content,
      category: captureCategory(content),
      importance: CAPTURED_IMPORTANCE,
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

/** What the person wrote, without what memory or a program has put around it. */
function ownWords(text: unknown): string {
  return typeof text === 'string' ? withoutAsides(stripBlocks(text)).trim() : ''
}
