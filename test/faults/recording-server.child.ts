/** A server with the gateway, which records chats until it is killed. Prints its address on a line of its own. */
import { writeSync } from 'node:fs'
import { createEngine } from '../../src/app/composition.ts'
import { readProviders } from '../../src/app/config/providers-file.ts'
import { serveWithGateway } from '../../src/app/gateway-mount.ts'
import { serve } from '../../src/app/serve.ts'

export type RecordingServerInput = {
  readonly store: { readonly path: string } | { readonly postgres: string; readonly schema: string }
  /** A file that names the providers of models. */
  readonly providers: string
}

const { store, providers }: RecordingServerInput = JSON.parse(String(process.argv[2]))
const where =
  'path' in store
    ? { path: store.path }
    : { postgres: store.postgres, postgresOptions: { schema: store.schema } }
const settings = { 'gateway.enabled': true, 'server.requestsPerMinute': 0 }
const engine = await createEngine({ ...where, embedding: false, settings })
const serving = await serveWithGateway(
  { host: '127.0.0.1', port: 0, version: '0.0.0', engine, auth: 'off' },
  { registry: readProviders({ path: providers, isNamed: true, environment: {} }) },
  serve,
)
writeSync(1, `${serving.url}\n`)
