/** Tool calls of a streamed chat completion, which come in pieces. */
import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'
import { toText } from './tool-dialect.ts'

/** A call while it comes in. */
export type PendingToolCall = {
  /** All that was said of it so far. */
  said: JsonObject
  /** Whose it is; null until it has a name. */
  isOwn: boolean | null
  /** Its place among the calls that the client sees. */
  shownAt: number
}

export class PendingToolCalls {
  readonly #own: ReadonlySet<string>
  readonly #all: PendingToolCall[] = []
  readonly #byIndex = new Map<number, PendingToolCall>()
  /** How many calls the client sees, in the rounds before and in this one. */
  #shown: number

  constructor(own: ReadonlySet<string>, shown: number) {
    this.#own = own
    this.#shown = shown
  }

  get shown(): number {
    return this.#shown
  }

  get hasOwn(): boolean {
    return this.#all.some(({ isOwn }) => isOwn === true)
  }

  get hasOthers(): boolean {
    return this.#all.some(({ isOwn }) => isOwn === false)
  }

  /** The calls as they would stand in a whole answer. */
  whole(): readonly JsonObject[] {
    return this.#all.map(({ said: { index: _, ...call } }) => call)
  }

  /** What the client sees of a piece; null for nothing. */
  add(piece: JsonObject): JsonObject | null {
    const call = this.#callOf(piece)
    call.said = mergeDelta(call.said, piece)
    if (call.isOwn === true) return null
    if (call.isOwn === false) return { ...piece, index: call.shownAt }
    const name = readCallName(call.said)
    if (name === '') return null
    call.isOwn = this.#own.has(name)
    if (call.isOwn) return null
    call.shownAt = this.#shown++
    return { ...call.said, index: call.shownAt }
  }

  /** Calls are told apart by their index; where a provider gives all of them the same or none, by their ids. */
  #callOf(piece: JsonObject): PendingToolCall {
    const id = toText(piece.id)
    const last = this.#all.at(-1)
    const known = typeof piece.index === 'number' ? this.#byIndex.get(piece.index) : last
    const isSame = known !== undefined && (id === '' || ['', id].includes(toText(known.said.id)))
    if (isSame) return known
    const call: PendingToolCall = { said: {}, isOwn: null, shownAt: -1 }
    this.#all.push(call)
    if (typeof piece.index === 'number') this.#byIndex.set(piece.index, call)
    return call
  }
}

function readCallName(call: JsonObject): string {
  const said = call.function ?? call.custom
  return isObject(said) ? toText(said.name) : ''
}

/** Arguments come in pieces; all else is said once, or again. */
function mergeDelta(call: JsonObject, piece: JsonObject): JsonObject {
  const joined: Record<string, Json> = { ...call }
  for (const [name, value] of Object.entries(piece)) {
    const before = joined[name]
    if (isObject(before) && isObject(value)) joined[name] = mergeDelta(before, value)
    else if (name === 'arguments' || name === 'input') joined[name] = toText(before) + toText(value)
    else if (value !== null && value !== '') joined[name] = value
  }
  return joined
}
