/** Memory tools: a model searches and changes memories while it generates its answer. */

import type { ApiFormat } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { JsonObject } from '../../../lib/json.ts'
import { LruCache } from '../../../lib/lru-cache.ts'
import { HOUR_MS } from '../../../lib/time.ts'
import type { ModelRoute } from '../../../models/provider.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import { canAddTools, TOOL_DIALECTS } from '../formats/tools/index.ts'
import { MEMORY_TOOL_NAMES, type MemoryToolName } from '../formats/tools/tool-definitions.ts'
import { bufferAnswer, nullIfToolsRejected } from './buffered-answer.ts'
import type { ScopedHiddenToolCalls } from './hidden-tool-calls.ts'
import { streamAnswer } from './streamed-answer.ts'
import { ToolLoop, type ToolRequest } from './tool-loop.ts'

type ToolAvailability = {
  readonly settings: Pick<
    Settings,
    | 'gateway.enabled'
    | 'gateway.memoryToolsEnabled'
    | 'gateway.dryRun'
    | 'gateway.contextEnabled'
    | 'learning.enabled'
  >
  readonly headers: {
    readonly memory: boolean
    readonly inject: boolean
    readonly extract: boolean
  }
  /** Whether the model accepts tools. */
  readonly supportsTools: boolean
  readonly format: ApiFormat
  readonly body: JsonObject
}

/**
 * The tools to offer. Requests that opt out of injection get no search tool, and requests that opt out of learning get
 * no tool that writes. A dry run sends nothing that the client did not send.
 */
export function selectTools({
  settings,
  headers,
  supportsTools,
  format,
  body,
}: ToolAvailability): readonly MemoryToolName[] {
  const isEnabled =
    settings['gateway.enabled'] &&
    settings['gateway.memoryToolsEnabled'] &&
    !settings['gateway.dryRun'] &&
    headers.memory
  if (!isEnabled || !supportsTools || !canAddTools(TOOL_DIALECTS[format], body)) return []
  const canSearch = settings['gateway.contextEnabled'] && headers.inject
  const canWrite = settings['learning.enabled'] && headers.extract
  return MEMORY_TOOL_NAMES.filter((name) => (name === 'memory_search' ? canSearch : canWrite))
}

/** Adds the hidden tool calls to a request that is offered no tools; `runToolLoop` does so for all others. */
export function restoreHiddenToolCalls(
  format: ApiFormat,
  text: string,
  hiddenCalls: ScopedHiddenToolCalls,
): string {
  if (hiddenCalls.isEmpty()) return text
  const body = JSON.parse(text) as JsonObject // validated when the request was read
  return TOOL_DIALECTS[format].restoreHiddenRounds(text, body, hiddenCalls.find)
}

type ToolAnswer = UpstreamResponse & {
  /** Names of the memory tools that were called; complete when the body has ended. */
  readonly toolCalls: readonly string[]
}

/**
 * Null when the model rejects tools and has to be asked without them. Fails as `send` does before the answer begins;
 * later failures are reported in the stream, in the format of the API.
 */
export async function runToolLoop(request: ToolRequest): Promise<ToolAnswer | null> {
  const loop = new ToolLoop(request)
  const first = await nullIfToolsRejected(await loop.send())
  if (first === null) return null
  const answer = loop.isStreaming
    ? streamAnswer(loop, first, request.signal)
    : await bufferAnswer(loop, first)
  return { ...answer, toolCalls: loop.toolCalls }
}

/** Expires, because whatever serves a model may be reconfigured. */
const TOOL_SUPPORT_TTL_MS = HOUR_MS
const MODELS_MAX = 1_000

/** Models that rejected a request because of its tools. They are offered none until the entry expires. */
export class ToolSupportCache {
  readonly #unsupported: LruCache<string, true>

  constructor(clock: Clock) {
    const now = () => clock.now()
    this.#unsupported = new LruCache({ entriesMax: MODELS_MAX, ttlMs: TOOL_SUPPORT_TTL_MS, now })
  }

  isUnsupported({ provider, model }: ModelRoute): boolean {
    return this.#unsupported.get(`${provider.name}/${model}`) === true
  }

  markUnsupported({ provider, model }: ModelRoute): void {
    this.#unsupported.set(`${provider.name}/${model}`, true)
  }
}
