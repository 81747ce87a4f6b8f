/** Which rows hold a term, and how often: in memory, by the slots that rows have there. */

/** Slot and count share a number, which the engine keeps in one word. */
const COUNT_BITS = 10
const COUNT_MAX = 2 ** COUNT_BITS - 1

export class Postings {
  readonly #ofTerm = new Map<string, number[]>()
  #terms = 0

  /** Of all rows together. */
  get terms(): number {
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

  /** How often each term stands in each slot, how many rows hold it, and the slots that hold any. */
  counts(terms: readonly string[], slots: readonly (object | null)[]) {
    const counts = new Uint16Array(slots.length * terms.length)
    const isTouched = new Uint8Array(slots.length)
    const touched: number[] = []
    const holding = terms.map((term, position) => {
      let rows = 0
      for (const posting of this.#ofTerm.get(term) ?? []) {
        const slot = posting >> COUNT_BITS
        if (slots[slot] === null) continue
        rows++
        counts[slot * terms.length + position] = posting & COUNT_MAX
        if (isTouched[slot] === 1) continue
        isTouched[slot] = 1
        touched.push(slot)
      }
      return rows
    })
    return { counts, holding, touched }
  }
}
