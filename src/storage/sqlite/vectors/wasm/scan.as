/**
 * Compares a query with rows of bytes, in AssemblyScript. `node scripts/kernel.mjs` compiles it.
 *
 * A row is a head of 16 bytes and its numbers as signed bytes, padded to a multiple of 16:
 *   f32 scale     what a byte is worth; 0 marks a row that is never a hit
 *   f32 error     how long the vector is of what was lost by rounding to bytes
 *   u32 sequence  (not read here)
 *   u32 place
 */

/** For each row, the most that its inner product with the query can be. */
export function scan(
  rows: usize,
  count: i32,
  stride: i32,
  /** The query as 16-bit numbers, padded with zeros as the rows are. */
  query: usize,
  /** What one of the query's numbers is worth. */
  unit: f64,
  /** The length of the query, by which a row's error counts. */
  length: f64,
  /** What rounding the query costs, for each unit of a row's scale. */
  slack: f64,
  /** Only rows of this place; 0 for all. */
  place: u32,
  /** Where the results go, as f32. */
  results: usize,
): void {
  const end = rows + <usize>count * <usize>stride
  for (let row = rows; row < end; row += stride, results += 4) {
    const isFound = load<f32>(row) != 0 && (place == 0 || load<u32>(row, 12) == place)
    const most = isFound ? mostOf(row, stride, query, unit, length, slack) : -f32.MAX_VALUE
    store<f32>(results, most)
  }
}

/** The most that the inner product of one row with the query can be. */
@inline
function mostOf(
  row: usize,
  stride: i32,
  query: usize,
  unit: f64,
  length: f64,
  slack: f64,
): f32 {
  let sums = i32x4.splat(0)
  let further = i32x4.splat(0)
  let numbers = query
  const next = row + stride
  for (let at = row + 16; at < next; at += 16, numbers += 32) {
    const bytes = v128.load(at)
    sums = i32x4.add(sums, i32x4.dot_i16x8_s(i16x8.extend_low_i8x16_s(bytes), v128.load(numbers)))
    further = i32x4.add(
      further,
      i32x4.dot_i16x8_s(i16x8.extend_high_i8x16_s(bytes), v128.load(numbers, 16)),
    )
  }
  const scale = <f64>load<f32>(row)
  const product = sumOf(i32x4.add(sums, further))
  const most = <f64>product * scale * unit + <f64>load<f32>(row, 4) * length + scale * slack
  return <f32>(most + abs<f64>(most) * ROUNDING)
}

@inline
function sumOf(lanes: v128): i32 {
  return (
    i32x4.extract_lane(lanes, 0) +
    i32x4.extract_lane(lanes, 1) +
    i32x4.extract_lane(lanes, 2) +
    i32x4.extract_lane(lanes, 3)
  )
}

/** Twice what a number of single precision can be off by. */
const ROUNDING: f64 = 1.2e-7

/** The inner product of two vectors of single precision, summed in eight parts: not in order, so off by some last digits. */
export function estimate(a: usize, b: usize, count: i32): f64 {
  let first = f64x2.splat(0)
  let second = f64x2.splat(0)
  let third = f64x2.splat(0)
  let fourth = f64x2.splat(0)
  const whole = a + <usize>(count & ~7) * 4
  const end = a + <usize>count * 4
  for (; a < whole; a += 32, b += 32) {
    first = f64x2.add(first, product(a, b))
    second = f64x2.add(second, product(a + 8, b + 8))
    third = f64x2.add(third, product(a + 16, b + 16))
    fourth = f64x2.add(fourth, product(a + 24, b + 24))
  }
  const sums = f64x2.add(f64x2.add(first, second), f64x2.add(third, fourth))
  let sum = f64x2.extract_lane(sums, 0) + f64x2.extract_lane(sums, 1)
  for (; a < end; a += 4, b += 4) sum += <f64>load<f32>(a) * <f64>load<f32>(b)
  return sum
}

/** Of two numbers each, in double precision. */
@inline
function product(a: usize, b: usize): v128 {
  return f64x2.mul(
    f64x2.promote_low_f32x4(v128.load64_zero(a)),
    f64x2.promote_low_f32x4(v128.load64_zero(b)),
  )
}

/**
 * Sketches of rows: a bit for each number, set where it is above that of the centre. `bytes` is how long a sketch is, a
 * multiple of 16; what is beyond the numbers of a row stays as it is, and has to be the same in every sketch.
 */
export function sketch(
  rows: usize,
  count: i32,
  stride: i32,
  /** As many f32 as a row has bytes for numbers. */
  centre: usize,
  sketches: usize,
  bytes: i32,
): void {
  const end = rows + <usize>count * <usize>stride
  for (let row = rows; row < end; row += stride, sketches += bytes) {
    const scale = f32x4.splat(load<f32>(row))
    const next = row + stride
    let middle = centre
    let bits = sketches
    for (let at = row + 16; at < next; at += 16, middle += 64, bits += 2) {
      const numbers = v128.load(at)
      const low = i16x8.extend_low_i8x16_s(numbers)
      const high = i16x8.extend_high_i8x16_s(numbers)
      store<u16>(
        bits,
        <u16>(
          (above(i32x4.extend_low_i16x8_s(low), scale, middle) |
            (above(i32x4.extend_high_i16x8_s(low), scale, middle + 16) << 4) |
            (above(i32x4.extend_low_i16x8_s(high), scale, middle + 32) << 8) |
            (above(i32x4.extend_high_i16x8_s(high), scale, middle + 48) << 12))
        ),
      )
    }
  }
}

/** Which of four numbers are above those of the centre. */
@inline
function above(numbers: v128, scale: v128, centre: usize): i32 {
  return i32x4.bitmask(
    f32x4.gt(f32x4.mul(f32x4.convert_i32x4_s(numbers), scale), v128.load(centre)),
  )
}

/** In how many bits two sketches differ. Sums of eight bits hold for 31 steps, which is 3,968 bits. */
@inline
function difference(a: usize, b: usize, bytes: i32): i32 {
  let sums = i8x16.splat(0)
  for (const end = a + bytes; a < end; a += 16, b += 16) {
    sums = i8x16.add(sums, i8x16.popcnt(v128.xor(v128.load(a), v128.load(b))))
  }
  return sumOf(i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(sums)))
}

/** Counts sketches by how many bits differ from the query's, in u32. */
export function countDifferences(
  sketches: usize,
  count: i32,
  bytes: i32,
  query: usize,
  counts: usize,
): void {
  const end = sketches + <usize>count * <usize>bytes
  for (let at = sketches; at < end; at += bytes) {
    const place = counts + (<usize>difference(at, query, bytes) << 2)
    store<u32>(place, load<u32>(place) + 1)
  }
}

/**
 * As `scan`, of those rows only whose sketch differs from the query's in at most `reach` bits. Which rows these are is told
 * in `chosen`, as u32 counted from `first`; how many, by what is returned.
 */
export function scanNear(
  rows: usize,
  count: i32,
  stride: i32,
  sketches: usize,
  bytes: i32,
  sketched: usize,
  reach: i32,
  query: usize,
  unit: f64,
  length: f64,
  slack: f64,
  first: u32,
  chosen: usize,
  results: usize,
): i32 {
  const start = results
  const end = rows + <usize>count * <usize>stride
  for (let row = rows; row < end; row += stride, sketches += bytes, first++) {
    if (difference(sketches, sketched, bytes) > reach || load<f32>(row) == 0) continue
    store<u32>(chosen, first)
    store<f32>(results, mostOf(row, stride, query, unit, length, slack))
    chosen += 4
    results += 4
  }
  return <i32>((results - start) >> 2)
}
