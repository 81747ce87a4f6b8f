/** A replay of a store with a few memories, as facts or as turns of conversations. */
import type { Embedder } from '../../src/models/embedder.ts'
import { openDirectReplay } from './direct-replay.ts'
import type { InjectedContext } from './replay.ts'

export type StoreForm = 'facts' | 'turns'

export interface SmallStoreReplay {
  ask(text: string, budget: number): Promise<InjectedContext>
  close(): Promise<void>
}

const DAY_MS = 86_400_000
const FIRST_SAID_AT = Date.parse('2026-01-05T09:00:00Z')

/** Each memory has a day of its own, and the questions follow a week later. */
export async function openSmallStoreReplay(
  embedder: Embedder | null,
  memories: readonly string[],
  form: StoreForm,
): Promise<SmallStoreReplay> {
  const replay = await openDirectReplay(embedder)
  const at = (day: number) => FIRST_SAID_AT + day * DAY_MS
  if (form === 'facts') {
    for (const [day, content] of memories.entries()) await replay.remember(content, at(day))
    await replay.write([])
  } else {
    await replay.write(
      memories.map((text, day) => ({
        name: `conversation ${day}`,
        at: at(day),
        exchanges: [{ user: { text, documents: [] }, assistant: { text: 'Okay.', documents: [] } }],
      })),
    )
  }
  return {
    ask: (text, budget) => replay.ask({ text, at: at(memories.length + 7), budget }),
    close: () => replay.close(),
  }
}
