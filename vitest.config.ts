import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'

export default defineConfig({
  // Outside of node_modules, so that a new installation keeps the durations by which slow files run first.
  cacheDir: '.cache/vite',
  test: {
    globalSetup: 'test/support/global-setup.ts',
    // Many tests wait for a process, a server or a browser, so one more than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    // Nothing is mocked and no state outlives a file, so files share what a worker has loaded. Loading takes longer than
    // most of the tests.
    isolate: false,
    // Transformed modules are reused by the next run.
    experimental: { fsModuleCache: true, fsModuleCachePath: '.cache/vitest' },
    // Long, because they only end what hangs: on a machine that has other things to do, everything takes longer.
    testTimeout: 180_000,
    hookTimeout: 300_000,
    // A busy machine may fail a test. `scripts/test.mjs` lists every test that needed a retry.
    retry: ['true', '1'].includes(process.env.CI ?? '') ? 2 : 0,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      {
        extends: true,
        // `npm run test:unit`: pure code, beside its tests. Needs no build, server, browser or data.
        test: { name: 'unit', include: ['src/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'integration',
          include: ['test/**/*.test.ts', 'evals/**/*.test.ts'],
          exclude: [...configDefaults.exclude, 'test/studio/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'studio',
          include: ['test/studio/**/*.test.ts'],
          globalSetup: ['test/support/global-setup.ts', 'test/support/studio-setup.ts'],
        },
      },
    ],
  },
})
