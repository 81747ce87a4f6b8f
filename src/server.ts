/**
 * Recollect's HTTP server inside another program.
 *
 * @example
 * import { createEngine } from 'recollect'
 * import { startServer } from 'recollect/server'
 *
 * const engine = await createEngine({ path: 'memory.db' })
 * const server = await startServer({ engine })
 */

export {
  createRequestHandler,
  type EmbeddedServer,
  type RequestHandler,
  type ServerOptions,
  startServer,
} from './app/embedded-server.ts'
