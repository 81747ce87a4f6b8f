/** The scan: what it is compiled from, and that no row is ever worth more than the scan says. */
import { expect, it } from 'vitest'
import { dequantizeVector, innerProduct, quantizeVector } from '../../../lib/vector-math.ts'
import { prepareQuery, tightenForPeak, VectorArena } from './vector-arena.ts'
import { boundSummationError } from './vector-block-cache.ts'
import { boundLength, countRecordBytes, encodeRecord, findPeak } from './vector-record.ts'
import { EXCLUDED_SCORE } from './wasm/scan-kernel.ts'
import { SCAN_KERNEL_WASM } from './wasm/scan-kernel-module.ts'

it('[VI12] the compiled scan is what its source compiles to', async () => {
  const script = new URL('../../../../scripts/kernel.mjs', import.meta.url).href
  const { compileKernel } = await import(script)
  expect(Buffer.from(await compileKernel()).toString('base64')).toBe(SCAN_KERNEL_WASM)
})

const arena = new VectorArena(2 ** 20)
let state = 1
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const SHAPES: Readonly<Record<string, (index: number, dimensions: number) => number>> = {
  even: () => random() - 0.5,
  spiky: (index) => (index === 0 ? 1 : (random() - 0.5) / 300),
  'one large': (index, dimensions) => (index === 0 ? 3 : (random() - 0.5) / dimensions ** 0.5),
  'all equal': () => 1,
  'one number': (index, dimensions) => (index === dimensions - 1 ? -1 : 0),
  'alternating extremes': (index) => (index % 2 === 0 ? 1 : -1),
  'just above a step': (index) => (index === 0 ? 127 : 0.50001),
}

function vectorOf(shape: string, dimensions: number): Float32Array {
  const numberAt = SHAPES[shape] ?? random
  const numbers = Array.from({ length: dimensions }, (_, index) => numberAt(index, dimensions))
  const length = Math.sqrt(numbers.reduce((sum, number) => sum + number ** 2, 0))
  return Float32Array.from(numbers, (number) => number / length)
}

const dimensionsTried = [1, 2, 15, 16, 17, 24, 100, 384, 768, 1_536, 4_096, 16_384]

it.each(dimensionsTried)(
  '[VI12] no row of %i dimensions is nearer than the scan allows',
  (dimensions) => {
    const names = Object.keys(SHAPES)
    for (const isWhole of [false, true]) {
      for (const name of names) {
        const query = vectorOf(name, dimensions)
        const prepared = prepareQuery(query)
        for (const other of names) {
          const vector = vectorOf(other, dimensions)
          const stored = isWhole ? dequantizeVector(quantizeVector(vector)) : vector
          const similarity = innerProduct(query, stored)
          arena.bytes.set(
            encodeRecord({ vector, sequence: 1, place: 7, isWhole }),
            arena.scratchAddress,
          )
          const [most = Number.NaN] = arena.scan(arena.scratchAddress, 1, prepared, 0)
          expect(most).toBeGreaterThanOrEqual(similarity)
          const peak = findPeak(arena.bytes.slice(arena.scratchAddress), dimensions) ?? -1
          if (peak !== -1) {
            const nearer = tightenForPeak(prepared, peak)
            const [less = Number.NaN] = arena.scan(arena.scratchAddress, 1, nearer, 0)
            expect(less).toBeGreaterThanOrEqual(similarity)
            if (other === 'one large' && name === other && !isWhole && dimensions === 384) {
              expect(less - similarity).toBeLessThan((most - similarity) / 2)
            }
          }
          if (name === 'even' && other === 'even') expect(most).toBeLessThan(similarity + 0.03)
          const [elsewhere] = arena.scan(arena.scratchAddress, 1, prepared, 8)
          expect(elsewhere).toBe(EXCLUDED_SCORE)
        }
      }
    }
    expect(countRecordBytes(dimensions) % 16).toBe(0)
  },
)

it.each(dimensionsTried)(
  '[VI12] an estimate over %i dimensions is within its margin',
  (dimensions) => {
    const segment = new VectorArena(2 ** 20)
    const address = segment.allocateSegment() ?? Number.NaN
    for (const name of Object.keys(SHAPES)) {
      const query = vectorOf(name, dimensions)
      for (const other of Object.keys(SHAPES)) {
        const vector = vectorOf(other, dimensions)
        segment.readFloats(address, dimensions).set(vector)
        const exact = innerProduct(query, vector)
        expect(segment.computeInnerProduct(address, query)).toBe(exact)
        const lengths = boundLength(headOnly(vector), 0, dimensions) * Math.hypot(...query)
        expect(lengths).toBeGreaterThanOrEqual(Math.hypot(...vector) * Math.hypot(...query))
        const off = Math.abs(segment.estimateInnerProduct(address, query) - exact)
        expect(off).toBeLessThanOrEqual(boundSummationError(dimensions, lengths))
      }
    }
  },
)

function headOnly(vector: Float32Array): DataView {
  return new DataView(encodeRecord({ vector, sequence: 1, place: 1, isWhole: false }).buffer)
}
