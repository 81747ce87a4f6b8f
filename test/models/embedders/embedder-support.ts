/** What the tests of embedders share. */
import { expect } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import type { Embedder } from '../../../src/models/embedder.ts'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { FakeClock } from '../../fakes/clock.ts'
import { untilAborted } from '../../fakes/embedder.ts'

/** A time limit that no test waits for. */
export const HOUR_MS = 3_600_000

/** Pauses take no time and are noted. A time limit of an hour never comes. */
export class PausingClock extends FakeClock {
  readonly pauses: number[] = []

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (ms >= HOUR_MS) return untilAborted(signal)
    this.pauses.push(ms)
    return super.sleep(ms)
  }
}

export function unavailable(facts: AppError['facts'] = {}): AppError {
  return new AppError('unavailable', 'Out for lunch.', facts)
}

export function refused(): AppError {
  return new AppError('invalid_input', 'I would rather not.')
}

/** What was thrown. */
export async function errorOf(work: Promise<unknown>): Promise<AppError> {
  const outcome: unknown = await work.then(
    () => 'it answered',
    (thrown: unknown) => thrown,
  )
  expect(outcome).toBeInstanceOf(AppError)
  return outcome as AppError // as was just expected
}

export function embedAll(embedder: Embedder, texts: readonly string[]) {
  return embedder.embed(texts, { purpose: 'document' })
}

/** What the reference makes of the texts, to compare with. */
export function expected(texts: readonly string[]): Promise<readonly Float32Array[]> {
  return embedAll(createHashingEmbedder(), texts)
}

export function notes(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `Note number ${index} about kites`)
}
