/** Posting lists in memory: the rows that hold a term, by slot, with term frequencies. */

/** Slot and frequency share one integer, which the JavaScript engine stores unboxed. */
const COUNT_BITS = 10
const COUNT_MAX = 2 ** COUNT_BITS - 1

export class PostingLists {
  readonly #ofTerm = new Map<string, number[]>()
  #terms = 0
  #counts = new Uint16Array()

  /** The terms of all rows. */
  get termCount(): number {
    return this.#terms
  }

  /** `text`: terms separated by spaces. */
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

  /** The postings of a removed row stay until the owner is reloaded; `counts` skips empty slots. */
  remove(length: number): void {
    this.#terms -= length
  }

  /**
   * Term frequencies by slot, document frequencies by term, and the slots that hold any term. The frequencies are valid
   * until the next call, which reuses their buffer.
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

/** Whether no earlier term occurs in the slot whose counts begin at `from`. */
function isEmpty(counts: Uint16Array, from: number, position: number): boolean {
  for (let before = 0; before < position; before++) if (counts[from + before] !== 0) return false
  return true
}
