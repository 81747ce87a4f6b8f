/** Records one ended request: its transcript, what is learned from it, and its receipt. */

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
import type { LearnResult } from '../../learning/patterns/pattern-fact-writer.ts'
import type { BuildSignalChanges } from '../../learning/signal-writer.ts'
import type { YieldTurn } from '../../lib/backpressure.ts'
import { type AppError, toAppError } from '../../lib/errors.ts'
import { retryBriefly } from '../../lib/retry.ts'
import type { Instant } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { extractQueryTerms } from '../../text/search/terms.ts'
import type { ContextPreparation } from '../context/context-preparation.ts'
import type { ConversationRequest, RequestOutcome } from '../conversations.ts'
import type { FailureListener, FailureStage } from '../failures.ts'
import { NO_TOOL_MEMORY_IDS, type Receipt, type ReceiptCitation } from '../receipts/receipt.ts'
import { type Conversation, resolveSession, toConversation } from '../session/session-resolver.ts'
import { type CompactionWatch, isWindowNearlyFull } from './compaction-watch.ts'
import { recordTranscriptBatch } from './transcript-batch.ts'
import {
  type ModelReply,
  type RecordedTranscript,
  recordTranscript,
  type TranscriptInput,
} from './transcript-writer.ts'

export type RecorderDependencies = {
  readonly ports: MemoryDependencies
  /** Serialized with all other writes for the same owner and user. */
  readonly learn: (
    scope: ScopeInput,
    text: string,
    options: PatternLearningOptions,
    yieldTurn?: YieldTurn,
  ) => Promise<LearnResult>
  /** Builds the learning signals that are committed together with a transcript. */
  readonly buildSignalChanges: BuildSignalChanges
  readonly onFailure?: FailureListener
  /** Default: conversations are not distilled before they are compacted. */
  readonly compactions?: CompactionWatch
}

export type EndedRequest = {
  readonly receipt: ReceiptId
  readonly request: ConversationRequest
  readonly preparation: ContextPreparation
  readonly outcome: RequestOutcome
  /** When the response ended. Recording may run later, even after the next request of the conversation. */
  readonly endedAt: Instant
}

/** The progress of recording a request, kept even if recording fails halfway. */
export type Recording = EndedRequest & {
  readonly settings: Settings
  readonly conversation: Conversation
  transcript: RecordedTranscript | null
  extractedMemories: readonly MemoryId[]
  error: AppError | null
  /** Spent on recording so far. */
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

/** Records the transcripts of several requests, in one commit if possible. Never fails. */
export async function recordTranscripts(
  dependencies: TranscriptDependencies,
  recordings: readonly Recording[],
): Promise<void> {
  const started = performance.now()
  const inputs = recordings
    .filter(isRecordable)
    .map((recording) => toTranscriptInput(dependencies, recording))
  const isDone = inputs.length > 1 && (await recordBatch(dependencies, inputs))
  for (const input of isDone ? [] : inputs) await recordSingle(dependencies, input)
  settleCompactions(dependencies, inputs)
  const milliseconds = performance.now() - started
  for (const recording of recordings) recording.milliseconds += milliseconds
}

type TranscriptDependencies = Pick<
  RecorderDependencies,
  'ports' | 'buildSignalChanges' | 'onFailure' | 'compactions'
>

type RecordingInput = TranscriptInput & {
  readonly recording: Recording
  readonly isNearlyFull: boolean
}

function toTranscriptInput(
  { buildSignalChanges, compactions }: TranscriptDependencies,
  recording: Recording,
): RecordingInput {
  const { conversation, settings, request, outcome } = recording
  const { forgotten } = outcome.toolMemories ?? NO_TOOL_MEMORY_IDS
  const reserveTokens = settings['learning.compactionReserveTokens']
  const isNearlyFull = isWindowNearlyFull(request, outcome, reserveTokens)
  return {
    ...{ recording, isNearlyFull },
    conversation,
    reply: toModelReply(recording),
    options: {
      keepsToolResults: settings['learning.toolResultsEnabled'],
      forgotten: forgotten.length > 0 || request.request.isMidAnswer ? forgotten : null,
      isStoredByProvider: request.format === 'responses',
      attempted: new Set<TurnId>(),
      buildSignals: (place, exchanges, store) =>
        buildSignalChanges(place, exchanges, settings, {
          store,
          isUrgent: compactions?.isDue(place, isNearlyFull) === true,
        }),
    },
  }
}

function settleCompactions(
  { compactions }: TranscriptDependencies,
  inputs: readonly RecordingInput[],
): void {
  for (const { recording, isNearlyFull } of inputs) {
    const { conversation, transcript } = recording
    if (transcript === null) continue
    const { owner, user } = conversation
    compactions?.settle({ owner, user, session: transcript.session }, isNearlyFull)
  }
}

/** False when the transcripts have to be recorded one by one: after a conflict, or if one of them is invalid. */
async function recordBatch(
  { ports, onFailure }: TranscriptDependencies,
  inputs: readonly RecordingInput[],
): Promise<boolean> {
  try {
    const transcripts = await retryBriefly(ports.clock, () => recordTranscriptBatch(ports, inputs))
    if (transcripts === null) return false
    for (const [input, transcript] of transcripts) input.recording.transcript = transcript
  } catch (thrown) {
    if (toAppError(thrown).code === 'invalid_input') return false
    for (const { recording } of inputs) fail(recording, 'record', thrown, onFailure)
  }
  return true
}

async function recordSingle(
  { ports, onFailure }: TranscriptDependencies,
  { recording, isNearlyFull: _, ...input }: RecordingInput,
): Promise<void> {
  try {
    recording.transcript = await retryBriefly(ports.clock, () => recordTranscript(ports, input))
  } catch (thrown) {
    fail(recording, 'record', thrown, onFailure)
  }
}

function fail(
  recording: Recording,
  stage: FailureStage,
  thrown: unknown,
  onFailure: FailureListener | undefined,
): void {
  const error = toAppError(thrown)
  recording.error = error
  const { requestId, scope } = recording.request
  onFailure?.({ stage, owner: scope.owner, requestId, error })
}

type RecordedRequest = {
  readonly receipt: Receipt
  /** The text of each line of the receipt. */
  readonly lines: readonly string[]
  /** Whether everything was recorded. */
  readonly isComplete: boolean
}

/** Learns from a recorded transcript and builds the receipt. Never fails. */
export async function finishRecording(
  dependencies: RecorderDependencies,
  recording: Recording,
): Promise<RecordedRequest> {
  const started = performance.now()
  const { conversation, transcript } = recording
  let session = transcript?.session ?? null
  try {
    if (transcript !== null) await learnFromTranscript(dependencies, recording, transcript)
    else if (recording.error === null) {
      session = await resolveSession(dependencies.ports, conversation)
    }
  } catch (thrown) {
    fail(recording, 'learn', thrown, dependencies.onFailure)
  }
  recording.milliseconds += performance.now() - started
  const lines = listInjectedLines(recording).map(({ text }) => text)
  return { receipt: buildReceipt(recording, session), lines, isComplete: recording.error === null }
}

/** Clients request a single token to test access. */
const ANSWER_TOKENS_MIN = 2

/** A rejected or unanswered request is not part of the conversation, and neither is a test of access. */
function isRecordable({ request, outcome: { status }, settings }: Recording): boolean {
  const { outputTokensMax } = request.request
  const isConversation = outputTokensMax === null || outputTokensMax >= ANSWER_TOKENS_MIN
  const isAnswered = status !== null && status >= 200 && status < 300
  const isEnabled = settings['learning.enabled'] && request.options.extract
  return isEnabled && isConversation && isAnswered
}

async function learnFromTranscript(
  { ports, learn }: RecorderDependencies,
  recording: Recording,
  transcript: RecordedTranscript,
): Promise<void> {
  const { owner, user, at } = recording.conversation
  const scope = { owner, user, session: transcript.session }
  for (const { text, options } of listLearnableTexts(transcript, recording.preparation)) {
    const { remembered } = await retryBriefly(ports.clock, () =>
      learn(scope, stripLineMarkers(text), { ...options, observedAt: at, source: 'gateway' }),
    )
    const ids = remembered.map(({ memory }) => memory.id)
    recording.extractedMemories = [...new Set([...recording.extractedMemories, ...ids])]
  }
}

function toModelReply({
  request: { format },
  outcome: { answer, isEcho = false },
  endedAt,
}: EndedRequest): ModelReply {
  if (answer === null) return null
  const { id, text, isComplete, isTruncated: isCutOff = false } = answer
  // In chat completions, requests do not refer to a previous response by id.
  const responseId = format === 'chat' ? null : id
  return { id: responseId, text: stripBlocks(text), isComplete, isCutOff, isEcho, at: endedAt }
}

type LearnableText = { readonly text: string; readonly options: PatternLearningOptions }

/** The texts to learn from, in the order of the conversation. */
function listLearnableTexts(
  { userTexts, answer, toolResults }: RecordedTranscript,
  { block }: ContextPreparation,
): readonly LearnableText[] {
  const injected = block?.content.lines.map(({ document }) => document) ?? []
  return [
    ...userTexts.map(({ text, turn, isHistory }) => ({
      text,
      options: { turns: [turn], isHistory },
    })),
    ...toolResults.map((text) => ({
      text,
      options: { trust: 'tool' as const, speaker: 'tool', keyPrefix: 'tool:' },
    })),
    ...(answer === null
      ? []
      : [
          {
            text: answer.text,
            options: {
              trust: 'assistant' as const,
              speaker: 'assistant',
              keyPrefix: 'assistant:',
              turns: [answer.turn],
              accepts: (fact: Extraction) =>
                fact.category === 'decision' &&
                !injected.some((each) => isRepeatedText(fact, each)),
            },
          },
        ]),
  ]
}

/** A statement that shares more of its words with a memory repeats the memory. */
const REPEATED_SHARE = 0.5

/** Memories that the model repeats must not become new memories. */
function isRepeatedText({ content }: Extraction, memory: { readonly content: string }): boolean {
  const words = extractQueryTerms(content)
  const known = new Set(extractQueryTerms(memory.content))
  const repeated = words.filter((word) => known.has(word)).length
  return repeated > words.length * REPEATED_SHARE
}

/** The lines of the injected block, or in a dry run of the block that would have been injected. */
function listInjectedLines({ preparation, outcome }: EndedRequest): readonly BlockLine[] {
  const isInjected = toPlacement(outcome.placement) !== null || preparation.skipped === 'dry-run'
  return (isInjected ? preparation.block?.content.lines : undefined) ?? []
}

function toReceiptCitation({ document }: BlockLine): ReceiptCitation {
  const { id, version, place } = document
  const turn = getTurnId(document)
  const citation = { version, owner: place.owner, lineKey: null }
  return turn === null
    ? { kind: 'memory', id, ...citation }
    : { kind: 'turn', id: turn, ...citation }
}

function buildReceipt(recording: Recording, session: SessionId | null): Receipt {
  const { receipt, request, preparation, outcome, conversation } = recording
  const { owner, user, named, at } = conversation
  const { block } = preparation
  const lines = listInjectedLines(recording).map(toReceiptCitation)
  const blockFacts = block && {
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
    error: (preparation.error ?? recording.error)?.code ?? null,
    degraded: preparation.degraded,
    gate: preparation.gate,
    results: preparation.recalled,
    identityIds: block?.identity ?? [],
    excerptIds: block === null ? [] : getTurnIds(block.content),
    injected: placement === null || blockFacts === null ? null : { placement, ...blockFacts },
    dryRun: preparation.skipped === 'dry-run' ? blockFacts : null,
    lines,
    frame: block === null || lines.length === 0 ? null : renderBlockFrame(block.content.today),
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
