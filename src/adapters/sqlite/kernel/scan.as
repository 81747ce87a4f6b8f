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
    const scale = <f64>load<f32>(row)
    if (scale == 0 || (place != 0 && load<u32>(row, 12) != place)) {
      store<f32>(results, -f32.MAX_VALUE)
      continue
    }
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
    sums = i32x4.add(sums, further)
    const product =
      i32x4.extract_lane(sums, 0) +
      i32x4.extract_lane(sums, 1) +
      i32x4.extract_lane(sums, 2) +
      i32x4.extract_lane(sums, 3)
    const most = <f64>product * scale * unit + <f64>load<f32>(row, 4) * length + scale * slack
    store<f32>(results, <f32>(most + abs<f64>(most) * ROUNDING))
  }
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
