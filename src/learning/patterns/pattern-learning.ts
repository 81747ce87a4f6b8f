import type { Scope } from '../../domain/scope.ts'
import type { EnginePorts } from '../../engine/engine-dependencies.ts'
import { type Remembered, remembered, write } from '../../memory/memory-writer.ts'
import { type LearnOptions, patternDrafts } from './pattern-drafts.ts'

/** Keeps what a person says about themselves in a text; see `core/patterns`. */
export async function learn(
  ports: EnginePorts,
  scope: Scope,
  text: string,
  options: LearnOptions = {},
): Promise<Learned> {
  const kept: Remembered[] = []
  let refused = 0
  // What was said to a model is recorded while others wait: nobody is asked about it here.
  const { adjudicate: _, ...alone } = ports
  for (const draft of patternDrafts(text, options)) {
    const decision = await write(alone, scope, draft, options.isHistory)
    if (decision.kind === 'refused') refused++
    else kept.push(remembered(decision))
  }
  return { remembered: kept, refused }
}

export type Learned = {
  readonly remembered: readonly Remembered[]
  /** Facts that were not kept because they were forgotten after they were said. */
  readonly refused: number
}
