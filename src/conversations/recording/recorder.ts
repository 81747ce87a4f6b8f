/** What is kept of a request after it: what was said, what is learned from that, and the receipt. */

import {
  type BlockLine,
  getMemoryIds,
  getTurnIds,
  renderBlockFrame,
  stripBlocks,
  stripLineMarkers,
} from '../../domain/context-block.ts'
import type { MemoryId, ReceiptId, SessionId, TurnId } from '../../domain/ids.ts'
import { NAME_CHARACTERS_MAX } from '../../domain/limits.ts'
import { BLOCK_PLACEMENTS, type BlockPlacement } from '../../domain/model-call.ts'
import type { ScopeInput } from '../../domain/scope.ts'
import { getTurnId } from '../../domain/search-document.ts'
import type { Settings } from '../../domain/settings/settings.ts'
import type { Extraction } from '../../learning/patterns/extractor.ts'
import type { PatternLearningOptions } from '../../learning/patterns/pattern-drafts.ts'
import type { LearnResult } from '../../learning/patterns/pattern-learning.ts'
import type { BuildSignalChanges } from '../../learning/signal-writer.ts'
import type { YieldTurn } from '../../lib/backpressure.ts'
import { type ErrorCode, toAppError } from '../../lib/errors.ts'
import { retryBriefly } from '../../lib/retry.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import { type ContextPreparation, toConversation } from '../context/context-preparation.ts'
import type { ConversationRequest, RequestOutcome } from '../conversations.ts'
import { NO_TOOL_MEMORY_IDS, type Receipt, type ReceiptCitation } from '../receipts/receipt.ts'
import type { Conversation } from '../session/session-resolver.ts'
import { recordTranscriptBatch } from './transcript-batch.ts'
import {
  type ModelReply,
  type RecordedTranscript,
  recordTranscript,
  resolveSession,
  type TranscriptInput,
} from './transcript-writer.ts'

export type RecorderDependencies = {
  readonly ports: MemoryDependencies
  /** In turn with everything else that writes for the same owner and user. */
  readonly learn: (
    scope: ScopeInput,
    text: string,
    options: PatternLearningOptions,
    giveWay?: YieldTurn,
  ) => Promise<LearnResult>
  /** What tells that there is something to learn from, for the commit that keeps it. */
  readonly noteSaid: BuildSignalChanges
}

/** A request that has ended. */
export type EndedRequest = {
  readonly receipt: ReceiptId
  readonly request: ConversationRequest
  readonly preparation: ContextPreparation
  readonly outcome: RequestOutcome
  /** When the answer was complete. Recording may run later, after the next message of the conversation. */
  readonly endedAt: Instant
}

/** A request that has ended, on its way into the store. What came of it is noted here, even when it failed halfway. */
export type Recording = EndedRequest & {
  /** Those in force for it. */
  readonly settings: Settings
  readonly conversation: Conversation
  transcript: RecordedTranscript | null
  extractedMemories: readonly MemoryId[]
  error: ErrorCode | null
  /** How long it has taken so far. */
  milliseconds: number
}

export function createRecording(ended: EndedRequest, settings: Settings): Recording {
  const conversation = toConversation(ended.request, ended.preparation.at)
  return {
    ...ended,
    settings,
    conversation,
    transcript: null,
    extractedMemories: [],
    error: null,
    milliseconds: 0,
  }
}

/** Records what was said, in one commit where nobody else changes the same rows. Never fails. */
export async function recordTranscripts(
  parts: Pick<RecorderDependencies, 'ports' | 'noteSaid'>,
  recordings: readonly Recording[],
): Promise<void> {
  const started = performance.now()
  const wanted = recordings
    .filter(isRecordable)
    .map((recording) => toTranscriptInput(parts, recording))
  const isDone = wanted.length > 1 && (await recordBatch(parts, wanted))
  for (const input of isDone ? [] : wanted) await recordSingle(parts, input)
  const milliseconds = performance.now() - started
  for (const recording of recordings) recording.milliseconds += milliseconds
}

type RecordingInput = TranscriptInput & { readonly recording: Recording }

function toTranscriptInput(
  { noteSaid }: Pick<RecorderDependencies, 'noteSaid'>,
  recording: Recording,
): RecordingInput {
  const { conversation, settings, request, outcome } = recording
  const { forgotten } = outcome.toolMemories ?? NO_TOOL_MEMORY_IDS
  return {
    recording,
    conversation,
    reply: toModelReply(recording),
    options: {
      keepsToolResults: settings['learning.toolResultsEnabled'],
      forgotten: forgotten.length > 0 || request.request.isMidAnswer ? forgotten : null,
      isKeptByProvider: request.format === 'responses',
      attempted: new Set<TurnId>(),
      note: (place, exchanges, store) => noteSaid(place, exchanges, settings, store),
    },
  }
}

/** False where each has to be recorded alone: others got in the way, or one of them can't be stored. */
async function recordBatch(
  { ports }: Pick<RecorderDependencies, 'ports'>,
  inputs: readonly RecordingInput[],
): Promise<boolean> {
  try {
    const kept = await retryBriefly(ports.clock, () => recordTranscriptBatch(ports, inputs))
    if (kept === null) return false
    for (const [input, each] of kept) input.recording.transcript = each
  } catch (thrown) {
    const { code } = toAppError(thrown)
    if (code === 'invalid_input') return false
    for (const { recording } of inputs) recording.error = code
  }
  return true
}

async function recordSingle(
  { ports }: Pick<RecorderDependencies, 'ports'>,
  { recording, ...input }: RecordingInput,
): Promise<void> {
  try {
    recording.transcript = await retryBriefly(ports.clock, () => recordTranscript(ports, input))
  } catch (thrown) {
    recording.error = toAppError(thrown).code
  }
}

export type RecordedRequest = {
  readonly receipt: Receipt
  /** The text of each piece of the receipt. */
  readonly lines: readonly string[]
  /** Whether all of it was kept. */
  readonly isComplete: boolean
}

/** Learns from what was recorded and tells what became of it all. Never fails. */
export async function finishRecording(
  parts: RecorderDependencies,
  recording: Recording,
): Promise<RecordedRequest> {
  const started = performance.now()
  const { conversation, transcript: kept } = recording
  let session = kept?.session ?? null
  try {
    if (kept !== null) await learnFromText(parts, recording, kept)
    else if (recording.error === null) session = await resolveSession(parts.ports, conversation)
  } catch (thrown) {
    recording.error = toAppError(thrown).code
  }
  recording.milliseconds += performance.now() - started
  const lines = listSentLines(recording).map(({ text: line }) => line)
  return { receipt: buildReceipt(recording, session), lines, isComplete: recording.error === null }
}

/** Programs ask for a single token to see whether they may ask at all. */
const ANSWER_TOKENS_MIN = 2

/** What was refused or never answered was not said, as far as the model is concerned. */
function isRecordable({
  request,
  outcome: { status },
  settings: { 'learning.enabled': extract },
}: Recording): boolean {
  const { options: wants, request: asked } = request
  const isConversation =
    asked.outputTokensMax === null || asked.outputTokensMax >= ANSWER_TOKENS_MIN
  const isAnswered = status !== null && status >= 200 && status < 300
  return extract && wants.extract && isConversation && isAnswered
}

async function learnFromText(
  { ports, learn }: RecorderDependencies,
  recording: Recording,
  kept: RecordedTranscript,
): Promise<void> {
  const { owner, user, at } = recording.conversation
  const scope = { owner, user, session: kept.session }
  for (const { text, options } of listLearnableTexts(kept, recording.preparation)) {
    const { remembered } = await retryBriefly(ports.clock, () =>
      learn(scope, stripLineMarkers(text), { ...options, observedAt: at, source: 'gateway' }),
    )
    const ids = remembered.map(({ memory }) => memory.id)
    recording.extractedMemories = [...new Set([...recording.extractedMemories, ...ids])]
  }
}

function toModelReply({
  request: { format },
  outcome: { answer },
  endedAt,
}: EndedRequest): ModelReply {
  if (answer === null) return null
  const { id, text, isComplete, isTruncated: isCutOff = false } = answer
  // In chats no request goes on from an answer by its id.
  const named = format === 'chat' ? null : id
  return { id: named, text: stripBlocks(text), isComplete, isCutOff, at: endedAt }
}

type LearnableText = { readonly text: string; readonly options: PatternLearningOptions }

/** What is to be learned from, in the order in which it was said. */
function listLearnableTexts(
  { userTexts: said, answer: answered, toolResults }: RecordedTranscript,
  { block }: ContextPreparation,
): readonly LearnableText[] {
  const given = block?.content.lines.map(({ document }) => document) ?? []
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
                fact.category === 'decision' && !given.some((each) => isRepeatedText(fact, each)),
            },
          },
        ]),
  ]
}

/** Above this share of its words, a statement says what the memory says. */
const REPEATED_SHARE = 0.5

/** What a model was told and says again is nothing new: memories must not beget memories. */
function isRepeatedText({ content }: Extraction, given: { readonly content: string }): boolean {
  const words = extractQueryTerms(content)
  const known = new Set(extractQueryTerms(given.content))
  const repeated = words.filter((word) => known.has(word)).length
  return repeated > words.length * REPEATED_SHARE
}

/** The pieces of the block that was sent, or in shadow mode would have been. A block without a place was not sent. */
function listSentLines({ preparation, outcome }: EndedRequest): readonly BlockLine[] {
  const isSent = toPlacement(outcome.placement) !== null || preparation.skipped === 'dry-run'
  return (isSent ? preparation.block?.content.lines : undefined) ?? []
}

function toReceiptPiece({ document }: BlockLine): ReceiptCitation {
  const { id, version, place } = document
  const turn = getTurnId(document)
  const piece = { version, owner: place.owner, lineKey: null }
  return turn === null ? { kind: 'memory', id, ...piece } : { kind: 'turn', id: turn, ...piece }
}

function buildReceipt(recording: Recording, session: SessionId | null): Receipt {
  const { receipt, request, preparation, outcome, conversation } = recording
  const { owner, user, named, at } = conversation
  const { block } = preparation
  const pieces = listSentLines(recording).map(toReceiptPiece)
  const given = block && {
    memories: getMemoryIds(block.content),
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
    results: preparation.recalled,
    identityIds: block?.identity ?? [],
    excerptIds: block === null ? [] : getTurnIds(block.content),
    injected: placement === null || given === null ? null : { placement, ...given },
    dryRun: preparation.skipped === 'dry-run' ? given : null,
    lines: pieces,
    frame: block === null || pieces.length === 0 ? null : renderBlockFrame(block.content.today),
    turns: recording.transcript?.turns ?? [],
    extracted: recording.extractedMemories,
    toolCalls: outcome.toolCalls,
    memoryToolResults: outcome.toolMemories ?? NO_TOOL_MEMORY_IDS,
    answer: getAnswerState(outcome),
    usage: outcome.answer?.usage ?? null,
    timings: {
      prepareMs: preparation.milliseconds,
      firstByteMs: outcome.firstByteMs,
      totalMs: outcome.totalMs,
      recordMs: Math.round(recording.milliseconds * 1_000) / 1_000,
    },
  }
}

function getAnswerState({ status, answer }: RequestOutcome): Receipt['answer'] {
  if (status === null || status >= 300) return null
  if (answer === null) return 'unparsed'
  if (answer.isComplete) return 'complete'
  return answer.isTruncated === true ? 'truncated' : 'interrupted'
}

function toPlacement(placement: string | null): BlockPlacement | null {
  return BLOCK_PLACEMENTS.find((each) => each === placement) ?? null
}
