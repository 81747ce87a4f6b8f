/** The parts of the recall bench, each in a process of its own. */
import {
  type PartInput,
  type PartResult,
  type Progress,
  runPart,
  servePart,
} from '../part-process.ts'

const PARTS = {
  model: async () => (await import('./model.ts')).measureModel,
  fill: async () => (await import('./engine-queries.ts')).fill,
  measureQueries: async () => (await import('./engine-queries.ts')).measureQueries,
  answerOnce: async () => (await import('./engine-queries.ts')).answerOnce,
  base: async () => (await import('../stores/base.ts')).makeBase,
  fillLargeOwner: async () => (await import('./large-owner.ts')).fillLargeOwner,
  queryLargeOwner: async () => (await import('./large-owner.ts')).queryLargeOwner,
  queryWhileEmbedding: async () => (await import('./background-embedding.ts')).queryWhileEmbedding,
  peer: async () => (await import('./peers.ts')).measurePeer,
}
type Parts = typeof PARTS

/** A hundred thousand documents of Orama need more than Node gives by default. */
const PEER_HEAP_MB = 8_192

/** `tookMs` counts from before the process existed to its answer. */
export async function inProcess<Name extends keyof Parts>(
  part: Name,
  input: PartInput<Parts, Name>,
  progress: Progress = () => {},
): Promise<PartResult<Parts, Name> & { readonly tookMs: number }> {
  const began = performance.now()
  // Only for peers: with so much room, garbage stays on the heap and would count as memory in use.
  const nodeOptions = part === 'peer' ? [`--max-old-space-size=${PEER_HEAP_MB}`] : []
  const result = await runPart<Parts, Name>(import.meta.url, part, input, { progress, nodeOptions })
  return { ...result, tookMs: performance.now() - began }
}

await servePart(import.meta.url, PARTS)
