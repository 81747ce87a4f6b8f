/** The lines of an export: memories of one or of many owners, each followed by a turn of a conversation. */
import type { MemoryId, OwnerId, SessionId, TurnId } from '../../src/domain/ids.ts'
import type { Instant } from '../../src/lib/time.ts'
import { turn } from '../../test/fakes/entries.ts'
import { memory } from '../../test/fakes/memories.ts'
import { seededRandom } from '../harness.ts'
import { Texts } from '../texts.ts'

const SEED = 22
const DAY_MS = 86_400_000
const SPREAD_DAYS = 700
const SESSION_TURNS = 20
const QUESTION_WORDS = 5

export type DataShape = {
  /** Memories, and as many turns. */
  readonly memories: number
  readonly owners: number
}

export function ownerOf(number: number, { owners }: DataShape): OwnerId {
  return `owner-${number % owners}` as OwnerId // made here, for the bench only
}

/** Endless, so that an import which is stopped by its time limit knows only how far it came. */
export function* exportLines(shape: DataShape, now: number): Generator<string> {
  yield JSON.stringify({ format: 'recollect-export', version: 2, exportedAt: now, owner: null })
  const texts = new Texts(SEED)
  const random = seededRandom(SEED)
  for (let number = 0; number < shape.memories; number++) {
    const at = (now - Math.floor(random() * SPREAD_DAYS * DAY_MS)) as Instant // from the clock
    const owner = ownerOf(number, shape)
    const digits = String(number).padStart(26, '0')
    const row = memory({
      id: `mem_${digits}` as MemoryId, // made here, for the bench only
      place: { owner, user: null, session: null },
      content: texts.next(),
      importance: 1 + (number % 10),
      createdAt: at,
      updatedAt: at,
    })
    yield JSON.stringify({ table: 'memory', row })
    const said = turn({
      id: `turn_${digits}` as TurnId, // made here, for the bench only
      place: { owner, user: null, session: sessionOf(number, shape) },
      content: texts.next(),
      role: number % 2 === 0 ? 'user' : 'assistant',
      position: Math.floor(number / shape.owners) % SESSION_TURNS,
      saidAt: at,
    })
    yield JSON.stringify({ table: 'turn', row: said })
  }
}

function sessionOf(number: number, { owners }: DataShape): SessionId {
  return `session-${Math.floor(number / owners / SESSION_TURNS)}` as SessionId // letters and digits
}

export type OwnerQuestion = { readonly owner: OwnerId; readonly text: string }

/** Words of memories that are there, each with the owner of its memory. */
export function questionsOf(shape: DataShape, count: number): readonly OwnerQuestion[] {
  const texts = new Texts(SEED)
  const every = Math.max(1, Math.floor(shape.memories / count))
  const questions: OwnerQuestion[] = []
  for (let number = 0; number < shape.memories; number++) {
    const content = texts.next()
    if (number % every === 0) {
      questions.push({ owner: ownerOf(number, shape), text: content })
    }
    texts.next()
  }
  const words = new Texts(SEED + 1)
  return questions.map(({ owner, text }) => ({ owner, text: words.queryFor(text, QUESTION_WORDS) }))
}
