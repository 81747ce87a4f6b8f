/** Starts and stops the HTTP server. */
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { AppError } from '../core/errors.ts'
import type { ServeOptions, Serving } from '../doors/cli/host.ts'
import { createHttpServer, hostName } from '../doors/http/app.ts'

const LOOPBACK_NAMES = ['127.0.0.1', 'localhost', '[::1]']
const GRACE_MS = 5_000

export async function serve({ host, port, engine, version }: ServeOptions): Promise<Serving> {
  const bracketed = host.includes(':') ? `[${host}]` : host
  const hosts = [...LOOPBACK_NAMES, hostName(bracketed)]
  const server = createHttpServer({ engine, version, hosts })
  server.listen(port, host)
  try {
    await once(server, 'listening')
  } catch (error) {
    throw cannotListen(host, port, error)
  }
  const address = server.address() as AddressInfo // it listens on a port, not on a pipe
  let closing: Promise<void> | undefined
  return {
    url: `http://${bracketed}:${address.port}`,
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeIdleConnections()
        setTimeout(() => server.closeAllConnections(), GRACE_MS).unref()
      })
      return closing
    },
  }
}

function cannotListen(host: string, port: number, error: unknown): AppError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const why =
    code === 'EADDRINUSE'
      ? `Port ${port} is taken, perhaps by another Recollect. Choose another one with --port.`
      : code === 'EACCES'
        ? `Port ${port} may not be used without special rights. Choose one above 1023 with --port.`
        : `Cannot listen on ${host}:${port} (${code}).`
  return new AppError('unavailable', why, { host, port }, error)
}
