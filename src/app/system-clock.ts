import { setTimeout as delay } from 'node:timers/promises'
import type { Instant } from '../domain/ids.ts'
import type { Clock } from '../lib/clock.ts'

export const systemClock: Clock = {
  now: () => Date.now() as Instant, // the one place where the system's time becomes ours
  sleep: async (ms, signal) => {
    await delay(ms, undefined, { signal })
  },
}
