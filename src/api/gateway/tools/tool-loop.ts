/**
 * The tool loop: sends a request, runs the memory tools that the model calls and sends their results, until the model
 * answers the client. The client sees a single answer.
 */

import type { ApiFormat } from '../../../domain/model-call.ts'
import { raceAbort } from '../../../lib/abort.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import { addTools, forbidTools, selectOfferedTools, TOOL_DIALECTS } from '../formats/tools/index.ts'
import type { MemoryTool } from '../formats/tools/tool-definitions.ts'
import type {
  AnsweredToolRound,
  ToolCall,
  ToolDialect,
  ToolRound,
} from '../formats/tools/tool-dialect.ts'
import type { ScopedHiddenToolCalls } from './hidden-tool-calls.ts'

/** How often the model is asked again after memory tools ran. */
export const ROUNDS_MAX = 5

/** Per round. A model that calls more often is stuck. */
const CALLS_MAX = 16
const ARGUMENTS_CHARACTERS_MAX = 65_536
const CALL_TIMEOUT_MS = 10_000

const FAILED_MESSAGE = 'Memory is unavailable right now. Continue without it.'
const INVALID_JSON_MESSAGE = 'The arguments are not valid JSON. Correct them and call again.'
const TOO_LONG_MESSAGE = 'The arguments are too long. Call again with less.'
const TOO_MANY_MESSAGE = 'Too many calls at once. Call again if it is still needed.'

export type ToolRequest = {
  readonly format: ApiFormat
  /** The request body with the context block, and with the model under its name at the provider. */
  readonly text: string
  /** The tools to offer; a tool whose name the client uses itself is left out. */
  readonly names: readonly string[]
  /** Whether the path asks for a stream, where the body does not say it. */
  readonly isStreaming?: boolean
  /** Sends one round. The answer must not be compressed. */
  send(text: string, signal: AbortSignal): Promise<UpstreamResponse>
  /** Runs one tool call. */
  run(name: string, input: unknown): Promise<string>
  readonly hiddenCalls: ScopedHiddenToolCalls
  readonly signal: AbortSignal
}

export class ToolLoop {
  readonly dialect: ToolDialect
  /** Names of the memory tools that were offered. */
  readonly memoryToolNames: ReadonlySet<string>
  readonly isStreaming: boolean
  /** Names of the memory tools that ran; complete when the answer has ended. */
  readonly toolCalls: string[] = []
  readonly #request: ToolRequest
  readonly #body: JsonObject
  readonly #tools: readonly MemoryTool[]
  readonly #rounds: AnsweredToolRound[] = []
  /** The request with all rounds so far, without memory tools. */
  #text: string

  constructor(request: ToolRequest) {
    this.dialect = TOOL_DIALECTS[request.format]
    this.#request = request
    this.#body = JSON.parse(request.text) as JsonObject // validated when the request was read
    this.isStreaming = request.isStreaming ?? this.#body.stream === true
    this.#tools = selectOfferedTools(this.dialect, this.#body, request.names)
    this.memoryToolNames = new Set(this.#tools.map(({ name }) => name))
    this.#text = this.dialect.restoreHiddenRounds(
      request.text,
      this.#body,
      request.hiddenCalls.find,
    )
  }

  /** Sends the next round. */
  async send(): Promise<UpstreamResponse> {
    const { signal, send } = this.#request
    signal.throwIfAborted()
    const change = this.#isExhausted() ? forbidTools : addTools
    return send(change(this.dialect, this.#text, this.#body, this.#tools), signal)
  }

  #isExhausted(): boolean {
    return this.memoryToolNames.size === 0 || this.#rounds.length >= ROUNDS_MAX
  }

  /** Runs the memory tools of a round. Returns whether the model must be asked again; if not, the round is the last. */
  async runTools(round: ToolRound): Promise<boolean> {
    const hasRunnableCalls =
      round.memoryCalls.length > 0 && round.isComplete && !this.#isExhausted()
    const answered = {
      ...round,
      ...(hasRunnableCalls ? await this.#runCalls(round) : { memoryCalls: [], results: [] }),
    }
    if (round.clientCalls.length > 0) this.#request.hiddenCalls.store([...this.#rounds, answered])
    if (!hasRunnableCalls || round.clientCalls.length > 0) return false
    this.#rounds.push(answered)
    this.#text = this.dialect.appendRound(this.#text, answered)
    return true
  }

  async #runCalls({
    memoryCalls,
  }: ToolRound): Promise<Pick<AnsweredToolRound, 'memoryCalls' | 'results'>> {
    const results: string[] = []
    // In sequence, so that a search finds what an earlier call saved.
    for (const [index, call] of memoryCalls.entries()) {
      results.push(index < CALLS_MAX ? await this.#runCall(call) : TOO_MANY_MESSAGE)
    }
    return { memoryCalls, results }
  }

  async #runCall({ name, arguments: json }: ToolCall): Promise<string> {
    this.toolCalls.push(name)
    if (json.length > ARGUMENTS_CHARACTERS_MAX) return TOO_LONG_MESSAGE
    let input: unknown
    try {
      input = json.trim() === '' ? {} : JSON.parse(json)
    } catch {
      return INVALID_JSON_MESSAGE
    }
    const { run, signal } = this.#request
    // A slow or failing memory must not block the answer; only a client that disconnects ends it.
    const call = await withTimeout(CALL_TIMEOUT_MS, () => raceAbort(run(name, input), signal))
    signal.throwIfAborted()
    return call.kind === 'done' ? call.result : FAILED_MESSAGE
  }
}
