/**
 * Asks a model that may call memory tools, carries out those calls and asks again, until it has an answer for the
 * client. From outside it looks like one answer of the provider's.
 */

import type { ApiFormat } from '../../../domain/model-call.ts'
import { raceAbort } from '../../../lib/abort.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import {
  type AnsweredRound,
  addTools,
  forbidTools,
  type Round,
  selectOfferedTools,
  TOOL_DIALECTS,
  type ToolCall,
  type ToolDialect,
} from '../formats/tools/index.ts'
import type { MemoryTool } from '../formats/tools/tool-definitions.ts'
import type { ScopedHiddenToolCalls } from './hidden-tool-calls.ts'

/** How often the model is asked again because of calls of ours. */
export const ROUNDS_MAX = 5

/** Of one answer; a model that calls more often has lost its way. */
const CALLS_MAX = 16
const ARGUMENTS_CHARACTERS_MAX = 65_536
const CALL_TIMEOUT_MS = 10_000

const FAILED_MESSAGE = 'Memory does not answer right now. Go on without it.'
const INVALID_JSON_MESSAGE = 'The arguments are not valid JSON. Correct them and call again.'
const TOO_LONG_MESSAGE = 'The arguments are too long. Call again with less.'
const TOO_MANY_MESSAGE = 'Too many calls at once. Call again if it is still needed.'

export type ToolRequest = {
  readonly format: ApiFormat
  /** What the client asks, with the block in it and the model named as the provider knows it. */
  readonly text: string
  /** The tools to offer, as far as the client has none of the same name. */
  readonly names: readonly string[]
  /** One round. The answer must not be compressed. */
  send(text: string, signal: AbortSignal): Promise<UpstreamResponse>
  /** Carries out one call. */
  run(name: string, input: unknown): Promise<string>
  readonly hiddenCalls: ScopedHiddenToolCalls
  readonly signal: AbortSignal
}

export class ToolLoop {
  readonly dialect: ToolDialect
  /** Names of our tools, as far as they were offered. */
  readonly ownToolNames: ReadonlySet<string>
  readonly isStreaming: boolean
  /** Of tools of ours that were carried out. It grows until the answer has come to its end. */
  readonly toolCalls: string[] = []
  readonly #request: ToolRequest
  readonly #body: JsonObject
  readonly #tools: readonly MemoryTool[]
  readonly #rounds: AnsweredRound[] = []
  /** The request so far, without tools of ours. */
  #text: string

  constructor(request: ToolRequest) {
    this.dialect = TOOL_DIALECTS[request.format]
    this.#request = request
    this.#body = JSON.parse(request.text) as JsonObject // the door has read it before
    this.isStreaming = this.#body.stream === true
    this.#tools = selectOfferedTools(this.dialect, this.#body, request.names)
    this.ownToolNames = new Set(this.#tools.map(({ name }) => name))
    this.#text = this.dialect.restoreHiddenRounds(
      request.text,
      this.#body,
      request.hiddenCalls.find,
    )
  }

  /** The next round. */
  async send(): Promise<UpstreamResponse> {
    const { signal, send } = this.#request
    signal.throwIfAborted()
    const change = this.#isOver() ? forbidTools : addTools
    return send(change(this.dialect, this.#text, this.#body, this.#tools), signal)
  }

  #isOver(): boolean {
    return this.ownToolNames.size === 0 || this.#rounds.length >= ROUNDS_MAX
  }

  /** Does what a round asks of us. Says whether the model must be asked again; otherwise the round is the last one. */
  async goesOn(round: Round): Promise<boolean> {
    const isOurs = round.memoryCalls.length > 0 && round.isComplete && !this.#isOver()
    const answered = {
      ...round,
      ...(isOurs ? await this.#answered(round) : { memoryCalls: [], results: [] }),
    }
    if (round.clientCalls.length > 0) this.#request.hiddenCalls.store([...this.#rounds, answered])
    if (!isOurs || round.clientCalls.length > 0) return false
    this.#rounds.push(answered)
    this.#text = this.dialect.appendRound(this.#text, answered)
    return true
  }

  async #answered({
    memoryCalls: own,
  }: Round): Promise<Pick<AnsweredRound, 'memoryCalls' | 'results'>> {
    const results: string[] = []
    // One after the other: what is saved first can be found next.
    for (const [index, call] of own.entries()) {
      results.push(index < CALLS_MAX ? await this.#carryOut(call) : TOO_MANY_MESSAGE)
    }
    return { memoryCalls: own, results }
  }

  async #carryOut({ name, arguments: given }: ToolCall): Promise<string> {
    this.toolCalls.push(name)
    if (given.length > ARGUMENTS_CHARACTERS_MAX) return TOO_LONG_MESSAGE
    let input: unknown
    try {
      input = given.trim() === '' ? {} : JSON.parse(given)
    } catch {
      return INVALID_JSON_MESSAGE
    }
    return callWithTimeout(this.#request.run(name, input), this.#request.signal)
  }
}

/** Memory must not hold an answer up; only a client that has left ends it. */
async function callWithTimeout(running: Promise<string>, signal: AbortSignal): Promise<string> {
  const called = await withTimeout(CALL_TIMEOUT_MS, () => raceAbort(running, signal))
  signal.throwIfAborted()
  return called.kind === 'done' ? called.result : FAILED_MESSAGE
}
