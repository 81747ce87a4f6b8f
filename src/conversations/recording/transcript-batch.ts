/** Several answered requests in one commit. */
import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { overlayChanges } from '../../storage/access/overlay-store.ts'
import type { Change, Store } from '../../storage/store.ts'
import {
  planTranscript,
  type RecordedTranscript,
  type TranscriptInput,
} from './transcript-writer.ts'

/** Null when nothing was written: others changed the same rows meanwhile, or it is too much for one commit. */
export async function recordTranscriptBatch<Input extends TranscriptInput>(
  ports: MemoryDependencies,
  inputs: readonly Input[],
): Promise<ReadonlyMap<Input, RecordedTranscript> | null> {
  const decided = await Promise.all(groupByUser(inputs).map((group) => planInOrder(ports, group)))
  const changes = decided.flatMap((group) => group.changes)
  if (changes.length > COMMIT_CHANGES_MAX) return null
  const isCommitted =
    changes.length === 0 || (await ports.store.commit(changes)).kind === 'committed'
  if (isCommitted) return new Map(decided.flatMap(({ kept }) => kept))
  // What is there now is somebody else's.
  for (const { options } of inputs) options.attempted.clear()
  return null
}

/** Users of one owner share no rows, so that those of different users can be decided at the same time. */
function groupByUser<Input extends TranscriptInput>(
  inputs: readonly Input[],
): readonly (readonly Input[])[] {
  const groups = new Map<string, Input[]>()
  for (const input of inputs) {
    const { owner, user } = input.conversation
    const name = JSON.stringify([owner, user])
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [input])
    else group.push(input)
  }
  return [...groups.values()]
}

type PlannedGroup<Input> = {
  readonly changes: readonly Change[]
  readonly kept: readonly (readonly [Input, RecordedTranscript])[]
}

/** Each is decided as if those before it were committed. */
async function planInOrder<Input extends TranscriptInput>(
  ports: MemoryDependencies,
  inputs: readonly Input[],
): Promise<PlannedGroup<Input>> {
  const changes: Change[] = []
  const kept: (readonly [Input, RecordedTranscript])[] = []
  const store = inputs.length > 1 ? await prefetchRows(ports, inputs) : ports.store
  const pending = { ...ports, store: overlayChanges(store, changes) }
  for (const input of inputs) {
    const decided = await planTranscript(pending, input)
    changes.push(...decided.changes)
    kept.push([input, decided.result])
  }
  return { changes, kept }
}

/**
 * A store that has read most of what the decisions need. Each of them reads several times in a row, which takes long where
 * the store is on another machine; so all are decided at the same time first, only for what they read.
 */
async function prefetchRows(
  ports: MemoryDependencies,
  inputs: readonly TranscriptInput[],
): Promise<Store> {
  const store = withReadCache(ports.store)
  await Promise.all(
    inputs.map(({ options, ...input }) => {
      const attempted = new Set(options.attempted)
      return planTranscript({ ...ports, store }, { ...input, options: { ...options, attempted } })
    }),
  )
  return store
}

/** Answers the same read from memory the second time. */
function withReadCache(store: Store): Store {
  const reads = new Map<string, Promise<unknown>>()
  const once = <Result>(name: string, read: () => Promise<Result>): Promise<Result> => {
    const known = reads.get(name) as Promise<Result> | undefined // the name tells what is read
    const result = known ?? read()
    reads.set(name, result)
    return result
  }
  return {
    ...store,
    get: (table, scope, id) =>
      once(JSON.stringify([table, scope, id]), () => store.get(table, scope, id)),
    find: (table, scope, query) =>
      once(JSON.stringify([table, scope, query]), () => store.find(table, scope, query)),
  }
}
