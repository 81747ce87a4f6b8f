import { expect, it } from 'vitest'
import { AppError } from '../lib/errors.ts'
import { NOOP_TELEMETRY } from '../telemetry/telemetry.ts'
import { recordFailure } from './server-telemetry.ts'

it('[CV7] logs a failure that a request survives, with its stage, owner, request and error', () => {
  const lines: unknown[][] = []
  const telemetry = { ...NOOP_TELEMETRY, log: (...line: unknown[]) => void lines.push(line) }
  const failure = { stage: 'gate', owner: 'ada', requestId: 'req_1' } as const
  const internal = new TypeError('no such field')
  const unavailable = new AppError('unavailable', 'The model cannot be reached.')
  recordFailure(telemetry, { ...failure, error: internal })
  recordFailure(telemetry, { ...failure, error: unavailable })
  const fields = { operation: 'conversations.gate', owner: 'ada', requestId: 'req_1' }
  expect(lines).toEqual([
    ['error', 'operation_failed', { ...fields, outcome: 'internal', error: internal }],
    ['warn', 'operation_failed', { ...fields, outcome: 'unavailable', error: unavailable }],
  ])
})
