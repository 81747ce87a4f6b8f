/** Makes entries and turns for tests, as `memories.ts` makes memories. */
import type { Entry } from '../../src/domain/entries/entry.ts'
import type { EntryId, TurnId } from '../../src/domain/ids.ts'
import type { Turn } from '../../src/domain/turn.ts'
import { ADA, instant } from './memories.ts'

export const entryId = (name: string | number) => `aud_${String(name).padStart(6, '0')}` as EntryId
export const turnId = (name: string | number) => `turn_${String(name).padStart(6, '0')}` as TurnId

let count = 0

export function entry(fields: Partial<Entry> = {}): Entry {
  count++
  return {
    id: entryId(count),
    place: ADA,
    kind: 'audit',
    about: null,
    at: instant(1_000),
    expiresAt: null,
    version: 1,
    body: { number: count },
    ...fields,
  }
}

export function turn(fields: Partial<Turn> = {}): Turn {
  count++
  return {
    id: turnId(count),
    place: ADA,
    version: 1,
    role: 'user',
    speaker: null,
    content: `sentence number ${count}`,
    position: count,
    saidAt: instant(1_000),
    disabled: false,
    ...fields,
  }
}
