import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Many tests wait for a process, a server or a browser, so one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    // Nothing is mocked and nothing is kept between files, so that what one has loaded serves the others. Loading takes
    // longer than most of the tests.
    isolate: false,
    // Long, because they only end what hangs: on a machine that has other things to do, everything takes longer.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        test: {
          name: 'studio',
          include: ['test/studio/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts', 'test/support/studio-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'all else',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'evals/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/studio/**'],
        },
      },
    ],
  },
})
