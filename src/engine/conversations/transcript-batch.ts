/** Several answered requests in one commit. */
import { COMMIT_CHANGES_MAX } from '../../core/limits.ts'
import type { Change } from '../../ports/store.ts'
import type { EnginePorts } from '../ports.ts'
import { withPendingChanges } from './pending-store.ts'
import { decideTranscript, type Kept, type TranscriptInput } from './transcript.ts'

/** Null when nothing was written: others changed the same rows meanwhile, or it is too much for one commit. */
export async function keepTranscripts<Input extends TranscriptInput>(
  ports: EnginePorts,
  inputs: readonly Input[],
): Promise<ReadonlyMap<Input, Kept> | null> {
  const decided = await Promise.all(groupByUser(inputs).map((group) => decideInOrder(ports, group)))
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

type DecidedGroup<Input> = {
  readonly changes: readonly Change[]
  readonly kept: readonly (readonly [Input, Kept])[]
}

/** Each is decided as if those before it were committed. */
async function decideInOrder<Input extends TranscriptInput>(
  ports: EnginePorts,
  inputs: readonly Input[],
): Promise<DecidedGroup<Input>> {
  const changes: Change[] = []
  const kept: (readonly [Input, Kept])[] = []
  const pending = { ...ports, store: withPendingChanges(ports.store, changes) }
  for (const input of inputs) {
    const decided = await decideTranscript(pending, input)
    changes.push(...decided.changes)
    kept.push([input, decided.result])
  }
  return { changes, kept }
}
