import { setTimeout as delay } from 'node:timers/promises'
import type { Clock } from '../lib/clock.ts'
import type { Instant } from '../lib/time.ts'

export const systemClock: Clock = {
  now: () => Date.now() as Instant, // the only cast from system time to our timestamp
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal })
  },
}
