import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // One less than there are cores would be vitest's choice: one, on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        // Functions that keep nothing: files need no process of their own, and what one has loaded serves the others.
        test: { name: 'core', include: ['src/core/**/*.test.ts'], isolate: false },
      },
      {
        extends: true,
        test: {
          name: 'all else',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'evals/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'src/core/**'],
        },
      },
    ],
  },
})
