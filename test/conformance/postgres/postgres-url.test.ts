import { describe, it } from 'vitest'
import { openFreshStore } from '../../support/postgres-servers.ts'
import { describeStore } from '../store/store.suite.ts'

const url = process.env.TEST_POSTGRES_URL

if (url === undefined) {
  describe.skip('postgres (TEST_POSTGRES_URL): it is not set', () => it('was not run', () => {}))
} else {
  describeStore('postgres (TEST_POSTGRES_URL)', () => openFreshStore(url))
}
