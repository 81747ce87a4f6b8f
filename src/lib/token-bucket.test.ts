import { expect, it } from 'vitest'
import { TokenBucket } from './token-bucket.ts'

function open(perMinute: number) {
  const clock = { now: 1_000 }
  return { clock, bucket: new TokenBucket(perMinute, () => clock.now) }
}

it('takes all or nothing, and refills steadily up to its size', () => {
  const { clock, bucket } = open(6)
  expect([bucket.tryTake(4), bucket.tryTake(3), bucket.available]).toEqual([true, false, 2])
  clock.now += 10_000
  expect(bucket.available).toBe(3)
  clock.now += 600_000
  expect(bucket.available).toBe(6)
})

it('lends tokens, and says how long to wait for them', () => {
  const { clock, bucket } = open(6)
  expect([bucket.take(6), bucket.take(1), bucket.take(1)]).toEqual([0, 10_000, 20_000])
  clock.now += 20_000
  expect(bucket.take(100)).toBe(60_000)
  bucket.refund(100)
  expect(bucket.available).toBe(0)
})

it('adds nothing while the clock is set back, and loses nothing by it', () => {
  const { clock, bucket } = open(60)
  bucket.tryTake(10)
  clock.now -= 3_600_000
  expect(bucket.available).toBe(50)
  clock.now += 1_000
  expect(bucket.available).toBe(51)
})

it('follows a change of the limit', () => {
  const { clock, bucket } = open(60)
  bucket.setLimit(6)
  expect(bucket.available).toBe(6)
  bucket.tryTake(6)
  bucket.setLimit(60)
  expect(bucket.available).toBe(0)
  clock.now += 1_000
  expect(bucket.available).toBe(1)
})
