/** Memory as tools: a model that wants to look something up, or keep it, does so in the middle of its answer. */

import type { ApiFormat } from '../../../domain/model-call.ts'
import type { Settings } from '../../../domain/settings/settings.ts'
import type { JsonObject } from '../../../lib/json.ts'
import type { UpstreamResponse } from '../../../models/upstream.ts'
import {
  canAddTools,
  MEMORY_TOOL_NAMES,
  type MemoryToolName,
  TOOL_DIALECTS,
} from '../formats/tools/index.ts'
import { bufferAnswer, nullIfToolsRejected } from './buffered-answer.ts'
import type { ScopedHiddenToolCalls } from './hidden-tool-calls.ts'
import { streamAnswer } from './streamed-answer.ts'
import { ToolLoop, type ToolRequest } from './tool-loop.ts'

export {
  HiddenToolCalls as HiddenCalls,
  type ScopedHiddenToolCalls as HiddenCallsOf,
} from './hidden-tool-calls.ts'
export {
  createMemoryToolbox as createToolbox,
  type MemoryToolbox,
  type ToolboxOptions,
} from './memory-toolbox.ts'

export type { ToolRequest } from './tool-loop.ts'
export { ToolSupportCache as ToollessModels } from './tool-support-cache.ts'

export type ToolAvailability = {
  /** Those in force for the owner. */
  readonly settings: Pick<
    Settings,
    | 'gateway.enabled'
    | 'gateway.memoryToolsEnabled'
    | 'gateway.dryRun'
    | 'gateway.contextEnabled'
    | 'learning.enabled'
  >
  /** What the request itself says. */
  readonly headers: {
    readonly memory: boolean
    readonly inject: boolean
    readonly extract: boolean
  }
  /** Whether the model takes any. */
  readonly supportsTools: boolean
  readonly body: JsonObject
}

/**
 * Those to offer. Who wants nothing injected is not to be told by a tool either, and who wants nothing learned has
 * nothing changed. In shadow mode nothing is sent that the client did not send.
 */
export function selectTools({
  settings,
  headers: wishes,
  supportsTools: takesTools,
  body,
}: ToolAvailability): readonly MemoryToolName[] {
  const isOn =
    settings['gateway.enabled'] &&
    settings['gateway.memoryToolsEnabled'] &&
    !settings['gateway.dryRun'] &&
    wishes.memory
  if (!isOn || !takesTools || !canAddTools(body)) return []
  const tells = settings['gateway.contextEnabled'] && wishes.inject
  const keeps = settings['learning.enabled'] && wishes.extract
  return MEMORY_TOOL_NAMES.filter((name) => (name === 'memory_search' ? tells : keeps))
}

/**
 * The request with the calls of ours that the client doesn't know of. For requests that are offered no tools this time;
 * the others get them anyway.
 */
export function restoreHiddenToolCalls(
  format: ApiFormat,
  text: string,
  remembered: ScopedHiddenToolCalls,
): string {
  if (remembered.isEmpty()) return text
  const body = JSON.parse(text) as JsonObject // the door has read it before
  return TOOL_DIALECTS[format].restoreHiddenRounds(text, body, remembered.find)
}

export type ToolAnswer = UpstreamResponse & {
  /** The memory tools that were called; complete when the body has come to its end. */
  readonly toolCalls: readonly string[]
}

/**
 * Null when the model takes no tools, so that it has to be asked without. Fails as `send` does, before there is anything
 * to tell the client; later, it is told in the words of the API.
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
