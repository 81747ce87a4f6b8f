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
