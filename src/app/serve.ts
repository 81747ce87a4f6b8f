/** Starts and stops the HTTP server. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { MANAGEMENT_KEY_ID } from '../admin/api-keys.ts'
import type { RunningServer, ServeOptions } from '../api/cli/host.ts'
import { SIGN_IN_PATH } from '../api/http/builtin-routes.ts'
import {
  allowedHostsFor,
  formatHost,
  isLoopback,
  isWildcard,
} from '../api/http/security/host-validation.ts'
import { createHttpServer, type HttpServer } from '../api/http/server.ts'
import { AppError } from '../lib/errors.ts'
import { getSystemErrorCode } from '../lib/system-error.ts'
import { systemClock } from './system-clock.ts'

/** Next to the code, in the package and in a clone. */
const STUDIO_FOLDER = fileURLToPath(new URL('../../dist-studio', import.meta.url))
const DOCS_FOLDER = fileURLToPath(new URL('../../dist-docs', import.meta.url))

export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { host, port, engine, tls, auth, graceMs } = options
  assertSafeExposure(options)
  const { server, close, issueSignInToken } = createServerWith(options)
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw listenError(host, port, error)
  }
  // Created only now: a server that fails to start must not use up the one time its key is shown.
  const managementKey = auth === 'off' ? null : await engine.admin.keys.ensureManagement()
  const address = server.address() as AddressInfo // it listens on a port, not on a pipe
  const url = `${tls == null ? 'http' : 'https'}://${formatHost(host)}:${address.port}`
  // Behind a proxy every client has the address of this machine.
  const canSignIn = auth !== 'off' && isLoopback(host) && options.trustProxy !== true
  return {
    url,
    managementKey,
    signInUrl: canSignIn
      ? `${url}${SIGN_IN_PATH}?token=${issueSignInToken(MANAGEMENT_KEY_ID)}`
      : null,
    warnings: warningsFor(options),
    close: () => close(graceMs),
  }
}

/** A server that does not listen yet. */
export function createServerWith(options: Omit<ServeOptions, 'port'>): HttpServer {
  const { host, allowedHosts, tls, auth = 'keys', ...rest } = options
  const certificate = tls == null ? null : readCertificate(tls)
  return createHttpServer(
    {
      studioFolder: STUDIO_FOLDER,
      docsFolder: DOCS_FOLDER,
      ...rest,
      auth,
      clock: options.clock ?? systemClock,
      allowedHosts: allowedHostsFor(host, allowedHosts),
      allowsIpAddresses: isWildcard(host),
      isTls: certificate !== null,
    },
    certificate,
  )
}

function assertSafeExposure({ host, auth, hasPublicMetrics: hasOpenMetrics }: ServeOptions): void {
  if (isLoopback(host)) return
  if (auth === 'off') {
    throw new AppError(
      'invalid_input',
      `Without keys, everybody who reaches ${host} could read and change everything. Only a server on 127.0.0.1 may run without keys.`,
      { field: 'auth', host },
    )
  }
  if (hasOpenMetrics === true) {
    const message = `Metrics without a key are only allowed on 127.0.0.1; got ${host}.`
    throw new AppError('invalid_input', message, { field: 'hasOpenMetrics', host })
  }
}

function warningsFor({ host, auth, tls, trustProxy }: ServeOptions): readonly string[] {
  if (auth === 'off') {
    return ['Keys are off: every program on this machine can read and change everything.']
  }
  if (isLoopback(host) || tls != null || trustProxy === true) return []
  return [
    `The server is reachable at ${host} without TLS: keys and memories travel unencrypted. Use TLS, or a proxy that terminates it.`,
  ]
}

function readCertificate({ certFile, keyFile }: NonNullable<ServeOptions['tls']>) {
  const read = (path: string, field: string) => {
    try {
      return readFileSync(path)
    } catch (error) {
      throw new AppError('invalid_input', `${path} cannot be read.`, { field }, error)
    }
  }
  return { cert: read(certFile, 'tls.certFile'), key: read(keyFile, 'tls.keyFile') }
}

function listenError(host: string, port: number, error: unknown): AppError {
  const code = getSystemErrorCode(error)
  const why =
    code === 'EADDRINUSE'
      ? `Port ${port} is in use, perhaps by another Recollect. Choose another one with --port.`
      : code === 'EACCES'
        ? `Port ${port} requires elevated privileges. Choose one above 1023 with --port.`
        : `Cannot listen on ${host}:${port} (${code}).`
  return new AppError('unavailable', why, { host, port }, error)
}
