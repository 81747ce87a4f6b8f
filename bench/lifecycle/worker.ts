/** The parts of the lifecycle bench, each in a process of its own. */
import { type PartInput, type PartResult, runPart, servePart } from '../part-process.ts'

const PARTS = {
  fill: async () => (await import('./owner.ts')).fillOwner,
  record: async () => (await import('./recording.ts')).measureRecording,
  consolidate: async () => (await import('./consolidation.ts')).measureConsolidation,
}
type Parts = typeof PARTS

export function inProcess<Name extends keyof Parts>(
  part: Name,
  input: PartInput<Parts, Name>,
): Promise<PartResult<Parts, Name>> {
  return runPart<Parts, Name>(import.meta.url, part, input, { nodeOptions: ['--expose-gc'] })
}

await servePart(import.meta.url, PARTS)
