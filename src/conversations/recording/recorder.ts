/** What is kept of a request after it: what was said, what is learned from that, and the receipt. */

import {
  type BlockPiece,
  blockFrame,
  memoryIdsIn,
  stripBlocks,
  turnIdsIn,
  unmarkLines,
} from '../../domain/context-block.ts'
import { type ErrorCode, toAppError } from '../../domain/errors.ts'
import type { MemoryId, ReceiptId, SessionId, TurnId } from '../../domain/ids.ts'
import { NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { PLACEMENTS, type Placement } from '../../domain/model-call.ts'
import type { ScopeInput } from '../../domain/scope.ts'
import { turnOfDocument } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import type { Extraction } from '../../learning/patterns/extractor.ts'
import type { LearnOptions } from '../../learning/patterns/pattern-drafts.ts'
import type { Learned } from '../../learning/patterns/pattern-learning.ts'
import type { NoteSaid } from '../../learning/signal-writer.ts'
import type { GiveWay } from '../../lib/backpressure.ts'
import { persistently } from '../../lib/retry.ts'
import type { Instant } from '../../lib/time.ts'
import { queryTerms } from '../../text/search/terms.ts'
import { conversationOf, type Preparation } from '../context/context-preparation.ts'
import type { ConversationRequest, Outcome } from '../conversations.ts'
import { NO_TOOL_MEMORIES, type Receipt, type ReceiptPiece } from '../receipts/receipt.ts'
import type { Conversation } from '../session/session-resolver.ts'
import { keepTranscripts } from './transcript-batch.ts'
import {
  findSession,
  type Kept,
  keepTranscript,
  type Reply,
  type TranscriptInput,
} from './transcript-writer.ts'

export type RecordingParts = {
  readonly ports: EnginePorts
  /** In turn with everything else that writes for the same owner and user. */
  readonly learn: (
    scope: ScopeInput,
    text: string,
    options: LearnOptions,
    giveWay?: GiveWay,
  ) => Promise<Learned>
  /** What tells that there is something to learn from, for the commit that keeps it. */
  readonly noteSaid: NoteSaid
}

/** A request that has ended. */
export type Ended = {
  readonly receipt: ReceiptId
  readonly request: ConversationRequest
  readonly preparation: Preparation
  readonly outcome: Outcome
  /** When the answer was complete. Recording may run later, after the next message of the conversation. */
  readonly endedAt: Instant
}

/** A request that has ended, on its way into the store. What came of it is noted here, even when it failed halfway. */
export type Recording = Ended & {
  /** Those in force for it. */
  readonly settings: Settings
  readonly conversation: Conversation
  kept: Kept | null
  extracted: readonly MemoryId[]
  error: ErrorCode | null
  /** How long it has taken so far. */
  milliseconds: number
}

export function recordingOf(ended: Ended, settings: Settings): Recording {
  const conversation = conversationOf(ended.request, ended.preparation.at)
  return {
    ...ended,
    settings,
    conversation,
    kept: null,
    extracted: [],
    error: null,
    milliseconds: 0,
  }
}

/** Records what was said, in one commit where nobody else changes the same rows. Never fails. */
export async function recordTranscripts(
  parts: Pick<RecordingParts, 'ports' | 'noteSaid'>,
  recordings: readonly Recording[],
): Promise<void> {
  const started = performance.now()
  const wanted = recordings.filter(isKept).map((recording) => inputOf(parts, recording))
  const isDone = wanted.length > 1 && (await recordTogether(parts, wanted))
  for (const input of isDone ? [] : wanted) await recordAlone(parts, input)
  const milliseconds = performance.now() - started
  for (const recording of recordings) recording.milliseconds += milliseconds
}

type RecordingInput = TranscriptInput & { readonly recording: Recording }

function inputOf(
  { noteSaid }: Pick<RecordingParts, 'noteSaid'>,
  recording: Recording,
): RecordingInput {
  const { conversation, settings, request, outcome } = recording
  const { forgotten } = outcome.toolMemories ?? NO_TOOL_MEMORIES
  return {
    recording,
    conversation,
    reply: replyOf(recording),
    options: {
      keepsToolResults: settings.extractToolResults,
      forgotten: forgotten.length > 0 || request.asked.continuesAnswer ? forgotten : null,
      isKeptByProvider: request.format === 'responses',
      attempted: new Set<TurnId>(),
      note: (place, exchanges, store) => noteSaid(place, exchanges, settings, store),
    },
  }
}

/** False where each has to be recorded alone: others got in the way, or one of them can't be stored. */
async function recordTogether(
  { ports }: Pick<RecordingParts, 'ports'>,
  inputs: readonly RecordingInput[],
): Promise<boolean> {
  try {
    const kept = await persistently(ports.clock, () => keepTranscripts(ports, inputs))
    if (kept === null) return false
    for (const [input, each] of kept) input.recording.kept = each
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'invalid_input') return false
    for (const { recording } of inputs) recording.error = code
  }
  return true
}

async function recordAlone(
  { ports }: Pick<RecordingParts, 'ports'>,
  { recording, ...input }: RecordingInput,
): Promise<void> {
  try {
    recording.kept = await persistently(ports.clock, () => keepTranscript(ports, input))
  } catch (thrown) {
    recording.error = toAppError(thrown).code
  }
}

export type RecordedRequest = {
  readonly receipt: Receipt
  /** The text of each piece of the receipt. */
  readonly lines: readonly string[]
  /** Whether all of it was kept. */
  readonly isWhole: boolean
}

/** Learns from what was recorded and tells what became of it all. Never fails. */
export async function finishRecording(
  parts: RecordingParts,
  recording: Recording,
): Promise<RecordedRequest> {
  const started = performance.now()
  const { conversation, kept } = recording
  let session = kept?.session ?? null
  try {
    if (kept !== null) await learnFrom(parts, recording, kept)
    else if (recording.error === null) session = await findSession(parts.ports, conversation)
  } catch (thrown) {
    recording.error = toAppError(thrown).code
  }
  recording.milliseconds += performance.now() - started
  const lines = sentPieces(recording).map(({ line }) => line)
  return { receipt: receiptOf(recording, session), lines, isWhole: recording.error === null }
}

/** Programs ask for a single token to see whether they may ask at all. */
const ANSWER_TOKENS_MIN = 2

/** What was refused or never answered was not said, as far as the model is concerned. */
function isKept({ request, outcome: { status }, settings: { extract } }: Recording): boolean {
  const { wants, asked } = request
  const isConversation =
    asked.outputTokensMax === null || asked.outputTokensMax >= ANSWER_TOKENS_MIN
  const isAnswered = status !== null && status >= 200 && status < 300
  return extract && wants.extract && isConversation && isAnswered
}

async function learnFrom(
  { ports, learn }: RecordingParts,
  recording: Recording,
  kept: Kept,
): Promise<void> {
  const { owner, user, at } = recording.conversation
  const scope = { owner, user, session: kept.session }
  for (const { text, options } of lessons(kept, recording.preparation)) {
    const { remembered } = await persistently(ports.clock, () =>
      learn(scope, unmarkLines(text), { ...options, observedAt: at, source: 'gateway' }),
    )
    const ids = remembered.map(({ memory }) => memory.id)
    recording.extracted = [...new Set([...recording.extracted, ...ids])]
  }
}

function replyOf({ request: { format }, outcome: { answer }, endedAt }: Ended): Reply {
  if (answer === null) return null
  const { id, text, isComplete, isCutOff = false } = answer
  // In chats no request goes on from an answer by its id.
  const named = format === 'chat' ? null : id
  return { id: named, text: stripBlocks(text), isComplete, isCutOff, at: endedAt }
}

type Lesson = { readonly text: string; readonly options: LearnOptions }

/** What is to be learned from, in the order in which it was said. */
function lessons({ said, answered, toolResults }: Kept, { block }: Preparation): readonly Lesson[] {
  const given = block?.content.pieces.map(({ document }) => document) ?? []
  return [
    ...said.map(({ text, turn, isHistory }) => ({ text, options: { turns: [turn], isHistory } })),
    ...toolResults.map((text) => ({
      text,
      options: { trust: 'tool' as const, speaker: 'tool', keyPrefix: 'tool:' },
    })),
    ...(answered === null
      ? []
      : [
          {
            text: answered.text,
            options: {
              trust: 'assistant' as const,
              speaker: 'assistant',
              keyPrefix: 'assistant:',
              turns: [answered.turn],
              accepts: (fact: Extraction) =>
                fact.category === 'decision' && !given.some((each) => repeats(fact, each)),
            },
          },
        ]),
  ]
}

/** Above this share of its words, a statement says what the memory says. */
const REPEATED_SHARE = 0.5

/** What a model was told and says again is nothing new: memories must not beget memories. */
function repeats({ content }: Extraction, given: { readonly content: string }): boolean {
  const words = queryTerms(content)
  const known = new Set(queryTerms(given.content))
  const repeated = words.filter((word) => known.has(word)).length
  return repeated > words.length * REPEATED_SHARE
}

/** The pieces of the block that was sent, or in shadow mode would have been. A block without a place was not sent. */
function sentPieces({ preparation, outcome }: Ended): readonly BlockPiece[] {
  const isSent = toPlacement(outcome.placement) !== null || preparation.skipped === 'shadow'
  return (isSent ? preparation.block?.content.pieces : undefined) ?? []
}

function toReceiptPiece({ document }: BlockPiece): ReceiptPiece {
  const { id, version, place } = document
  const turn = turnOfDocument(document)
  const piece = { version, owner: place.owner, line: null }
  return turn === null ? { kind: 'memory', id, ...piece } : { kind: 'turn', id: turn, ...piece }
}

function receiptOf(recording: Recording, session: SessionId | null): Receipt {
  const { receipt, request, preparation, outcome, conversation } = recording
  const { owner, user, named, at } = conversation
  const { block } = preparation
  const pieces = sentPieces(recording).map(toReceiptPiece)
  const given = block && {
    memories: memoryIdsIn(block.content),
    tokens: block.tokens,
  }
  const placement = toPlacement(outcome.placement)
  return {
    id: receipt,
    place: { owner, user, session: session ?? named },
    at,
    requestId: request.requestId.slice(0, NAME_CHARACTERS_MAX),
    format: request.format,
    model: request.model.slice(0, NAME_CHARACTERS_MAX),
    provider: request.provider,
    status: outcome.status,
    skipped: outcome.skipped ?? preparation.skipped,
    error: preparation.error ?? recording.error,
    degraded: preparation.degraded,
    gate: preparation.gate,
    recalled: preparation.recalled,
    identity: block?.identity ?? [],
    quoted: block === null ? [] : turnIdsIn(block.content),
    injected: placement === null || given === null ? null : { placement, ...given },
    shadow: preparation.skipped === 'shadow' ? given : null,
    pieces,
    frame: block === null || pieces.length === 0 ? null : blockFrame(block.content.today),
    turns: recording.kept?.turns ?? [],
    extracted: recording.extracted,
    toolCalls: outcome.toolCalls,
    toolMemories: outcome.toolMemories ?? NO_TOOL_MEMORIES,
    answer: endingOf(outcome),
    usage: outcome.answer?.usage ?? null,
    timings: {
      prepareMs: preparation.milliseconds,
      firstByteMs: outcome.firstByteMs,
      totalMs: outcome.totalMs,
      recordMs: Math.round(recording.milliseconds * 1_000) / 1_000,
    },
  }
}

function endingOf({ status, answer }: Outcome): Receipt['answer'] {
  if (status === null || status >= 300) return null
  if (answer === null) return 'unread'
  if (answer.isComplete) return 'whole'
  return answer.isCutOff === true ? 'cut' : 'broken'
}

function toPlacement(placement: string | null): Placement | null {
  return PLACEMENTS.find((each) => each === placement) ?? null
}
