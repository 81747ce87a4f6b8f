/**
 * What models are asked besides distilling: for a verdict where rules can't tell, and for the words of a summary or a
 * narrative. All of it can be done without them, so one that fails or is late is not asked again in the same piece of work.
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

/** Tells who somebody is, from these. It may fail. */
export type WriteNarrative = (sources: readonly Memory[], signal: AbortSignal) => Promise<string>

export type ModelTasks = {
  readonly adjudicate: Adjudicate
  readonly summary: WriteSummary
  readonly narrative: WriteNarrative
}

/** Far more than a word takes, because some models think before they say it. */
const VERDICT_TOKENS_MAX = 1_024
const NARRATIVE_TOKENS_MAX = 2_048
const SUMMARY_TOKENS_MAX = 4_096
const WORDING_MS = MINUTE_MS

/** Null where there is no model, or none is named. */
export function selectModel(name: string, languageModel: LanguageModel | null): NamedModel | null {
  return name === '' || languageModel === null ? null : { name, languageModel }
}

/** With a judge: the one that was given, or else the model. */
export function addAdjudicator(
  ports: MemoryDependencies,
  wording: ModelTasks | null,
): MemoryDependencies {
  const adjudicate = ports.adjudicate ?? wording?.adjudicate
  return adjudicate === undefined ? ports : { ...ports, adjudicate }
}

/** For one piece of work: what fails once in it is not asked for again. */
export function createModelTasks(model: NamedModel): ModelTasks {
  const isDown = { now: false }
  const ask = async <Answer>(
    messages: readonly PromptMessage[],
    outputTokensMax: number,
    parse: (text: string) => Answer,
    signal: AbortSignal,
  ): Promise<Answer> => {
    if (isDown.now) throw new AppError('unavailable', 'The model failed a moment ago.')
    const { name, languageModel } = model
    const asked = await withTimeout(WORDING_MS, (late) => {
      const stop = AbortSignal.any([late, signal])
      const request = { model: name, messages, json: true, outputTokensMax, signal: stop }
      return raceAbort(languageModel.complete(request), stop)
    })
    if (asked.kind === 'failed') {
      isDown.now = true
      throw asked.error
    }
    return parse(asked.result.text)
  }
  return {
    adjudicate: async (older, newer, signal) => {
      if (Math.max(older.length, newer.length) > ADJUDICATED_CHARACTERS_MAX) return 'unsure'
      return ask(buildVerdictPrompt(older, newer), VERDICT_TOKENS_MAX, parseVerdict, signal)
    },
    summary: ({ memories, tokensMax, signal = NEVER_ABORTED }) => {
      const contents = memories.map(({ content }) => content)
      const limit = Math.min(SUMMARY_TOKENS_MAX, tokensMax + VERDICT_TOKENS_MAX)
      return ask(buildSummaryPrompt(contents), limit, parseSummary, signal)
    },
    narrative: (sources, signal) =>
      ask(buildNarrativePrompt(sources), NARRATIVE_TOKENS_MAX, parseNarrative, signal),
  }
}

/** The same judge, who is asked no more than so often, and not once the work was stopped. */
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
