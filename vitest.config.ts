import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'evals/**/*.test.ts'],
    globalSetup: 'test/support/global-setup.ts',
    // One less than there are cores would be vitest's choice: one, on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
  },
})
