/** What the other stores promise holds on PostgreSQL as well: a server of its own where there is one, which is faster. */
import { afterAll, onTestFinished } from 'vitest'
import { openPostgresStore } from '../../src/storage/postgres/postgres-store.ts'
import { describeSystem } from '../admin/admin.suite.ts'
import { describeAsked } from '../learning/run-on-demand.suite.ts'
import { describeSummaries } from '../learning/summaries.suite.ts'
import { describeForgottenTurns } from '../memory/turn-suppression.suite.ts'
import { describeRepeatedTurns } from '../recall/repeated-turns.suite.ts'
import {
  freshSchema,
  openFreshStore,
  runSql,
  startPglite,
  startServer,
} from '../support/postgres-servers.ts'
import { describeReceiptTexts } from './receipt-texts.suite.ts'
import { describeReceipts } from './receipts.suite.ts'
import { describeBatches } from './recording-batches.suite.ts'

const found = await startServer()
const server = found.kind === 'server' ? found : await startPglite()
afterAll(() => server.stop())

const open = () => openFreshStore(server.url, { poolSize: 1 })

describeSystem('on postgres', open)
describeReceipts('on postgres', open)
describeBatches('on postgres', open)

describeReceiptTexts('on postgres', open)
describeForgottenTurns('on postgres', open)
describeRepeatedTurns('on postgres', open)
describeSummaries('on postgres', open)
describeAsked('by two on one PostgreSQL', async () => {
  const schema = freshSchema()
  // Not with one of the stores: either may end before the other.
  onTestFinished(async () => void (await runSql(server.url, `DROP SCHEMA "${schema}" CASCADE`)))
  const options = { connectionString: server.url, schema, poolSize: 1 }
  return [await openPostgresStore(options), await openPostgresStore(options)]
})
