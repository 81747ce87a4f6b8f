/** Records several exchanges in one commit. */
import { COMMIT_CHANGES_MAX } from '../../domain/limits.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { overlayChanges } from '../../storage/access/overlay-store.ts'
import type { Change, Store } from '../../storage/store.ts'
import {
  planTranscript,
  type RecordedTranscript,
  type TranscriptInput,
} from './transcript-writer.ts'

/** Null when nothing was written: the commit had a conflict, or would have been too large. */
export async function recordTranscriptBatch<Input extends TranscriptInput>(
  ports: MemoryDependencies,
  inputs: readonly Input[],
): Promise<ReadonlyMap<Input, RecordedTranscript> | null> {
  const plans = await Promise.all(groupByUser(inputs).map((group) => planInOrder(ports, group)))
  const changes = plans.flatMap((plan) => plan.changes)
  if (changes.length > COMMIT_CHANGES_MAX) return null
  const isCommitted =
    changes.length === 0 || (await ports.store.commit(changes)).kind === 'committed'
  if (isCommitted) return new Map(plans.flatMap(({ results }) => results))
  // After a conflict, existing turns were written by somebody else.
  for (const { options } of inputs) options.attempted.clear()
  return null
}

/** Users share no rows, so exchanges of different users can be planned at the same time. */
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
  readonly results: readonly (readonly [Input, RecordedTranscript])[]
}

/** Plans each exchange as if those before it were committed. */
async function planInOrder<Input extends TranscriptInput>(
  ports: MemoryDependencies,
  inputs: readonly Input[],
): Promise<PlannedGroup<Input>> {
  const changes: Change[] = []
  const results: (readonly [Input, RecordedTranscript])[] = []
  const store = inputs.length > 1 ? await prefetchRows(ports, inputs) : ports.store
  const pending = { ...ports, store: overlayChanges(store, changes) }
  for (const input of inputs) {
    const plan = await planTranscript(pending, input)
    changes.push(...plan.changes)
    results.push([input, plan.result])
  }
  return { changes, results }
}

/**
 * A store with a read cache that is filled by planning all exchanges concurrently first. Each plan reads several times in
 * sequence, which would add up to a long time with a remote store.
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

function withReadCache(store: Store): Store {
  const reads = new Map<string, Promise<unknown>>()
  const once = <Result>(name: string, read: () => Promise<Result>): Promise<Result> => {
    const known = reads.get(name) as Promise<Result> | undefined // the name determines the type of the result
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
