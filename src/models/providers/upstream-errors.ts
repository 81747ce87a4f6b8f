/** Transport errors on the way to a provider, with advice and without any part of the request. */
import { AppError } from '../../lib/errors.ts'
import { getField } from '../../lib/json.ts'
import type { Provider } from '../provider.ts'

/** No connection was made, so the request cannot have been processed. */
const NOT_CONNECTED: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'ECONNRESET'],
  ...['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EADDRNOTAVAIL', 'ETIMEDOUT'],
])
/** The peer had closed the pooled connection before the write. */
const CLOSED: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED'])

export function isConnectFailure(thrown: unknown): boolean {
  return NOT_CONNECTED.has(codeOf(thrown) ?? '')
}

export function isConnectionClosed(thrown: unknown): boolean {
  return CLOSED.has(codeOf(thrown) ?? '')
}

export function createUnreachableError(
  provider: Provider,
  host: string,
  thrown: unknown,
): AppError {
  if (thrown instanceof AppError) return thrown
  const { name } = provider
  const reason = codeOf(thrown)
  const facts = { provider: name, host, ...(reason === null ? {} : { reason }) }
  const how = reason === null ? '' : ` (${reason})`
  return new AppError(
    'unavailable',
    `The provider ${name} could not be reached at ${host}${how}.${describeFix(reason)}`,
    facts,
  )
}

function describeFix(reason: string | null): string {
  if (reason === null) return ''
  if (reason === 'ECONNREFUSED') return ' Nothing listens there: is it running?'
  if (reason === 'ENOTFOUND') return ' The name is not known: check its base URL.'
  if (/CERT|SIGNATURE|SELF_SIGNED|ALTNAME/.test(reason)) {
    return ' Its certificate is not trusted: for one of your own, start with NODE_EXTRA_CA_CERTS.'
  }
  if (reason === 'EPROTO' || reason.startsWith('ERR_SSL')) {
    return ' It does not speak TLS there: check whether its base URL begins with https:// or http://.'
  }
  return ''
}

export type TimeoutPhase = keyof ProviderTimeouts
type ProviderTimeouts = Provider['timeouts']

const LATE: Readonly<Record<TimeoutPhase, string>> = {
  connectMs: 'could not be connected to',
  firstByteMs: 'did not begin to answer',
  idleMs: 'stopped in the middle of its answer and sent nothing more',
}

export function createTimeoutError(
  provider: Provider,
  host: string,
  phase: TimeoutPhase,
): AppError {
  const ms = provider.timeouts[phase]
  const message = `The provider ${provider.name} ${LATE[phase]} within ${ms} ms. To allow more time, set "${phase}" in its "timeouts".`
  return new AppError('timeout', message, { provider: provider.name, host, phase, ms })
}

/** Such as ECONNREFUSED; of the first attempt when several addresses were tried. */
function codeOf(thrown: unknown): string | null {
  const errors = getField(thrown, 'errors')
  for (const error of [thrown, Array.isArray(errors) ? errors[0] : undefined]) {
    const code = getField(error, 'code')
    if (typeof code === 'string' && /^[A-Z0-9_]{2,60}$/.test(code)) return code
  }
  return null
}
