/** The parts of the bench of stores, each in a process of its own. */
import {
  type PartInput,
  type PartOptions,
  type PartResult,
  runPart,
  servePart,
} from '../part-process.ts'

const PARTS = {
  base: async () => (await import('./base.ts')).makeBase,
  nearest: async () => (await import('./base.ts')).findNearest,
  fill: async () => (await import('./store-queries.ts')).fill,
  measureQueries: async () => (await import('./store-queries.ts')).measureQueries,
  fillForLoad: async () => (await import('./load-data.ts')).fillForLoad,
  load: async () => (await import('./load-client.ts')).load,
}
type Parts = typeof PARTS

export function inProcess<Name extends keyof Parts>(
  part: Name,
  input: PartInput<Parts, Name>,
  options: PartOptions & { readonly signal: AbortSignal },
): Promise<PartResult<Parts, Name>> {
  return runPart<Parts, Name>(import.meta.url, part, input, options)
}

await servePart(import.meta.url, PARTS)
