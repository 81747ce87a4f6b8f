import { expect, it } from 'vitest'
import { readConfig } from './config.ts'

const read = (environment: Record<string, string>) =>
  readConfig({}, environment, { platform: 'linux', home: '/home/ada' }).postgresOptions

it('[PG3] reads limits, replicas, row security and what to do without pgvector from the environment', () => {
  expect(read({})).toEqual({ replicas: [], rowLevelSecurity: false })
  expect(
    read({
      RECOLLECT_POSTGRES_SCHEMA: 'memories',
      RECOLLECT_POSTGRES_POOL_SIZE: '4',
      RECOLLECT_POSTGRES_STATEMENT_TIMEOUT_MS: '0',
      RECOLLECT_POSTGRES_CONNECTION_TIMEOUT_MS: '500',
      RECOLLECT_POSTGRES_REPLICAS: 'postgresql://one/m, postgresql://two/m',
      RECOLLECT_POSTGRES_REPLICA_LAG_MS_MAX: '100',
      RECOLLECT_POSTGRES_ROW_LEVEL_SECURITY: '1',
      RECOLLECT_POSTGRES_PGVECTOR_FALLBACK: 'exact',
    }),
  ).toEqual({
    schema: 'memories',
    poolSize: 4,
    statementTimeoutMs: 0,
    connectionTimeoutMs: 500,
    replicas: ['postgresql://one/m', 'postgresql://two/m'],
    replicaLagMsMax: 100,
    rowLevelSecurity: true,
    pgvectorFallback: 'exact',
  })
})

it.each([
  ['RECOLLECT_POSTGRES_POOL_SIZE', '0'],
  ['RECOLLECT_POSTGRES_POOL_SIZE', 'many'],
  ['RECOLLECT_POSTGRES_PGVECTOR_FALLBACK', 'approximate'],
])('[PG3] refuses %s=%s', (name, value) => {
  expect(() => read({ [name]: value })).toThrow(name)
})
