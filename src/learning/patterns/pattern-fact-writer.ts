import type { Scope } from '../../domain/scope.ts'
import { type RememberResult, toRememberResult, writeDraft } from '../../memory/memory-writer.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { buildPatternDrafts, type PatternLearningOptions } from './pattern-drafts.ts'

/** Keeps what a person says about themselves in a text; see `core/patterns`. */
export async function learnPatterns(
  ports: MemoryDependencies,
  scope: Scope,
  text: string,
  options: PatternLearningOptions = {},
): Promise<LearnResult> {
  const kept: RememberResult[] = []
  let refused = 0
  // What was said to a model is recorded while others wait: nobody is asked about it here.
  const { adjudicate: _, ...alone } = ports
  for (const draft of buildPatternDrafts(text, options)) {
    const decision = await writeDraft(alone, scope, draft, options.isHistory)
    if (decision.kind === 'refused') refused++
    else kept.push(toRememberResult(decision))
  }
  return { remembered: kept, refused }
}

export type LearnResult = {
  readonly remembered: readonly RememberResult[]
  /** Facts that were not kept because they were forgotten after they were said. */
  readonly refused: number
}
