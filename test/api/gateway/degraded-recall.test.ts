/** What recall had to do without is told to whoever looks at the answer. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { askFor, requestOf } from './support/client-conversation.ts'
import { patientEmbedder } from './support/faulty-parts.ts'
import {
  FACT,
  FENCE,
  type GatewaySetup,
  MEMORY_HEADER,
  QUESTION,
  setUpGateway,
} from './support/gateway-harness.ts'
import { PATHS } from './support/wire-format.ts'

async function ask({ url, upstream }: GatewaySetup, time: number) {
  const body = requestOf('chat', [
    { role: 'user', content: `${QUESTION} ${'Really? '.repeat(time)}` },
  ])
  const response = await askFor({ url, key: '' }, PATHS.chat, body)
  await response.arrayBuffer()
  expect(upstream.last().text).toContain(FENCE)
  return response.headers.get(MEMORY_HEADER) ?? ''
}

it('[RA27] an embedder that hangs leaves what words find, and header, receipt and health tell of it', async () => {
  const { part, become } = patientEmbedder()
  const engine = await createEngine({
    embedding: part,
    settings: {
      'gateway.enabled': true,
      'server.requestsPerMinute': 0,
      'gateway.contextTimeoutMs': 30_000,
      'recall.retrieverTimeoutMs': 300,
    },
  })
  const setup = await setUpGateway('memory on', { engine, auth: 'off' })
  onTestFinished(() => become('well'))
  await engine.remember({ owner: 'default' }, { content: FACT })
  await engine.admin.reindex()
  become('hangs')
  const told: string[] = []
  for (let time = 0; time < 5; time++) told.push(await ask(setup, time))
  for (const header of told) {
    expect(header).toMatch(/^injected; count=[1-9]; tokens=\d+; receipt=rcp_\w+; degraded=vector$/)
  }
  await engine.conversations.flush()
  const read = async (path: string) => (await fetch(`${setup.url}${path}`)).json()
  const { receipts } = (await read('/api/receipts')) as { receipts: { degraded: string[] }[] }
  expect(receipts.map(({ degraded }) => degraded)).toEqual(told.map(() => ['vector']))
  expect(await read('/health/ready')).toMatchObject({
    status: 'degraded',
    reasons: expect.arrayContaining([expect.stringContaining('embedding model')]),
  })
})
