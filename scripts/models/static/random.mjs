/** Random choices that come out the same on every run, so that the same texts give the same vectors. */

/** A source of numbers in [0, 1) that depends on the seed alone (mulberry32). */
export function randomSource(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function pick(random, list) {
  return list[Math.floor(random() * list.length)]
}

/** A new list in another order. */
export function shuffled(random, list) {
  const order = [...list]
  for (let end = order.length - 1; end > 0; end--) {
    const other = Math.floor(random() * (end + 1))
    ;[order[end], order[other]] = [order[other], order[end]]
  }
  return order
}
