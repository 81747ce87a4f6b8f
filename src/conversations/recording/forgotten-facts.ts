/** Recording of an exchange in which a memory tool forgot facts: its turns that state them are stored disabled. */
import type { MemoryId, TurnId } from '../../domain/ids.ts'
import type { Turn } from '../../domain/turn.ts'
import { planExchangeSuppression } from '../../memory/deletion/turn-suppression.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import type { PlannedCommit } from '../../storage/access/optimistic-commit.ts'
import type { Change } from '../../storage/store.ts'
import type { Conversation } from '../session/session-resolver.ts'
import type { RecordedText, RecordedTranscript } from './transcript-writer.ts'

export type ForgettingExchange = {
  readonly conversation: Conversation
  /** Null where no memory tool can have forgotten anything, so that nothing needs to be read. */
  readonly forgotten: readonly MemoryId[] | null
  /** The turn that is answered; an earlier request may have stored it. */
  readonly spoken: TurnId | null
}

export async function disableStatedFacts(
  ports: MemoryDependencies,
  { conversation, forgotten, spoken }: ForgettingExchange,
  decided: PlannedCommit<RecordedTranscript>,
): Promise<PlannedCommit<RecordedTranscript>> {
  if (forgotten === null || spoken === null) return decided
  const { changes, result } = decided
  const ids = [...new Set([spoken, ...result.turns])]
  const written = changes.flatMap((change) =>
    isPutOfTurn(change) && ids.includes(change.row.id) ? change.row : [],
  )
  const others = ids.filter((id) => written.every((turn) => turn.id !== id))
  const stored = await readTurns(ports, conversation, others)
  const plan = await planExchangeSuppression(ports, [...written, ...stored], forgotten)
  const disabled = new Map(plan.turns.map((turn) => [turn.id, turn]))
  const isDisabled = (said: RecordedText | null) => said !== null && disabled.has(said.turn)
  return {
    changes: [
      ...changes.map((change) =>
        isPutOfTurn(change)
          ? { ...change, row: disabled.get(change.row.id) ?? change.row }
          : change,
      ),
      ...stored.flatMap(({ id, version }): readonly Change[] => {
        const turn = disabled.get(id)
        if (turn === undefined) return []
        const row = { ...turn, version: version + 1 }
        return [{ op: 'put', table: 'turn', row, expect: { version } }]
      }),
      ...plan.changes,
    ],
    // Nothing is learned from a disabled turn.
    result: {
      ...result,
      userTexts: result.userTexts.filter((said) => !isDisabled(said)),
      answer: isDisabled(result.answer) ? null : result.answer,
    },
  }
}

type PutOfTurn = Extract<Change, { readonly op: 'put'; readonly table: 'turn' }>

function isPutOfTurn(change: Change): change is PutOfTurn {
  return change.op === 'put' && change.table === 'turn'
}

async function readTurns(
  { store }: MemoryDependencies,
  { owner, user }: Conversation,
  ids: readonly TurnId[],
): Promise<readonly Turn[]> {
  if (ids.length === 0) return []
  return (await store.find('turn', { owner, user }, { where: { ids }, limit: ids.length })).rows
}
