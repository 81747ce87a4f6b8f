/**
 * Optional model tasks besides distillation: verdicts on doubtful pairs, and the wording of summaries and narratives. All
 * of them have a fallback without a model, so after one failure the model is not called again in the same run.
 */

import type { Memory } from '../../domain/memory.ts'
import type { Adjudicate } from '../../domain/verdict.ts'
import { NEVER_ABORTED, raceAbort } from '../../lib/abort.ts'
import { AppError } from '../../lib/errors.ts'
import { MINUTE_MS } from '../../lib/time.ts'
import { withTimeout } from '../../lib/timeout.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { LanguageModel } from '../../models/language-model.ts'
import {
  ADJUDICATED_CHARACTERS_MAX,
  buildVerdictPrompt,
  parseVerdict,
} from '../consolidation/adjudication/verdict-prompt.ts'
import type { PromptMessage } from '../distillation/distillation-prompt.ts'
import { buildNarrativePrompt, parseNarrative } from '../identity/narrative.ts'
import type { WriteSummary } from '../summaries/summarizer.ts'
import { buildSummaryPrompt, parseSummary } from '../summaries/summary-prompt.ts'
import type { NamedModel } from './completion.ts'

/** Words the identity narrative of a person. May fail. */
export type WriteNarrative = (sources: readonly Memory[], signal: AbortSignal) => Promise<string>

export type ModelTasks = {
  readonly adjudicate: Adjudicate
  readonly summary: WriteSummary
  readonly narrative: WriteNarrative
}

/** Leaves room for reasoning tokens. */
const VERDICT_TOKENS_MAX = 1_024
const NARRATIVE_TOKENS_MAX = 2_048
const SUMMARY_TOKENS_MAX = 4_096
const TASK_TIMEOUT_MS = MINUTE_MS

/** Null without a language model or without a model name. */
export function selectModel(name: string, languageModel: LanguageModel | null): NamedModel | null {
  return name === '' || languageModel === null ? null : { name, languageModel }
}

/** Adds the model as adjudicator unless the ports have one. */
export function addAdjudicator(
  ports: MemoryDependencies,
  tasks: ModelTasks | null,
): MemoryDependencies {
  const adjudicate = ports.adjudicate ?? tasks?.adjudicate
  return adjudicate === undefined ? ports : { ...ports, adjudicate }
}

/** Tasks of one run: after the first failure, all of them fail immediately. */
export function createModelTasks(model: NamedModel): ModelTasks {
  let hasFailed = false
  const complete = async <Answer>(
    messages: readonly PromptMessage[],
    outputTokensMax: number,
    parse: (text: string) => Answer,
    signal: AbortSignal,
  ): Promise<Answer> => {
    if (hasFailed) throw new AppError('unavailable', 'The model failed earlier in this run.')
    const { name, languageModel } = model
    const completion = await withTimeout(TASK_TIMEOUT_MS, (late) => {
      const stop = AbortSignal.any([late, signal])
      const request = { model: name, messages, json: true, outputTokensMax, signal: stop }
      return raceAbort(languageModel.complete(request), stop)
    })
    if (completion.kind === 'failed') {
      hasFailed = true
      throw completion.error
    }
    return parse(completion.result.text)
  }
  return {
    adjudicate: async (older, newer, signal) => {
      if (Math.max(older.length, newer.length) > ADJUDICATED_CHARACTERS_MAX) return 'unsure'
      return complete(buildVerdictPrompt(older, newer), VERDICT_TOKENS_MAX, parseVerdict, signal)
    },
    summary: ({ memories, tokensMax, signal = NEVER_ABORTED }) => {
      const contents = memories.map(({ content }) => content)
      const limit = Math.min(SUMMARY_TOKENS_MAX, tokensMax + VERDICT_TOKENS_MAX)
      return complete(buildSummaryPrompt(contents), limit, parseSummary, signal)
    },
    narrative: (sources, signal) =>
      complete(buildNarrativePrompt(sources), NARRATIVE_TOKENS_MAX, parseNarrative, signal),
  }
}

/** Limits the number of calls; further ones, and calls after `stop`, resolve to `unsure`. */
export function limitAdjudications(
  adjudicate: Adjudicate,
  times: number,
  stop: AbortSignal,
): Adjudicate {
  let left = times
  return async (older, newer, signal) => {
    if (left === 0 || stop.aborted) return 'unsure'
    left--
    return adjudicate(older, newer, AbortSignal.any([signal, stop]))
  }
}
