/** Which rows hold a term, and how often: in memory, by the slots that rows have there. */

/** Slot and count share a number, which the engine keeps in one word. */
const COUNT_BITS = 10
const COUNT_MAX = 2 ** COUNT_BITS - 1

export class PostingLists {
  readonly #ofTerm = new Map<string, number[]>()
  #terms = 0
  #counts = new Uint16Array()

  /** Of all rows together. */
  get termCount(): number {
    return this.#terms
  }

  /** `text`: terms with a space between them. */
  add(slot: number, text: string, length: number): void {
    this.#terms += length
    if (text === '') return
    const counts = new Map<string, number>()
    for (const term of text.split(' ')) counts.set(term, (counts.get(term) ?? 0) + 1)
    for (const [term, count] of counts) {
      const posting = (slot << COUNT_BITS) | Math.min(count, COUNT_MAX)
      const postings = this.#ofTerm.get(term)
      if (postings === undefined) this.#ofTerm.set(term, [posting])
      else postings.push(posting)
    }
  }

  /** Its postings stay until all are read again; whoever counts passes over slots that nothing is in. */
  remove(length: number): void {
    this.#terms -= length
  }

  /**
   * How often each term stands in each slot, how many rows hold it, and the slots that hold any. The counts are those of
   * the last call only: room for all slots is not made anew for every question.
   */
  counts(terms: readonly string[], slots: readonly (object | null)[]) {
    const counts = this.#cleared(slots.length * terms.length)
    const touched: number[] = []
    const holding = terms.map((term, position) => {
      let rows = 0
      for (const posting of this.#ofTerm.get(term) ?? []) {
        const slot = posting >> COUNT_BITS
        if (slots[slot] === null) continue
        rows++
        const from = slot * terms.length
        if (isEmpty(counts, from, position)) touched.push(slot)
        counts[from + position] = posting & COUNT_MAX
      }
      return rows
    })
    return { counts, holding, touched }
  }

  #cleared(size: number): Uint16Array {
    if (this.#counts.length < size) this.#counts = new Uint16Array(size * 2)
    else this.#counts.fill(0, 0, size)
    return this.#counts
  }
}

/** Whether none of the terms before this one stands in the slot whose counts begin there. */
function isEmpty(counts: Uint16Array, from: number, position: number): boolean {
  for (let before = 0; before < position; before++) if (counts[from + before] !== 0) return false
  return true
}
