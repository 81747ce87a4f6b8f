export { countingIds, FakeClock } from '../../src/testing/fake-clock.ts'
