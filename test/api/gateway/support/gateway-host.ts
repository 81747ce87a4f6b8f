/** A server with the gateway behind it, in front of an upstream of the test's own. */
import { writeFileSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import type { ProviderAnswerListener } from '../../../../src/api/gateway/gateway-request.ts'
import { createEngine } from '../../../../src/app/composition.ts'
import { readProviders } from '../../../../src/app/config/providers-file.ts'
import { serveWithGateway } from '../../../../src/app/gateway-mount.ts'
import { serve } from '../../../../src/app/serve.ts'
import type { SettingValues } from '../../../../src/domain/settings/settings.ts'
import type { Engine } from '../../../../src/engine/engine.ts'
import type { Clock } from '../../../../src/lib/clock.ts'
import { temporaryFile } from '../../../support/temporary-folder.ts'

export type GatewayHost = {
  /** Without `/v1`. */
  readonly url: string
  /** The management key. */
  readonly key: string
  readonly engine: Engine
  close(): Promise<void>
}

export type HostOptions = {
  /** Without `/v1`. */
  readonly upstreamUrl: string
  readonly settings?: SettingValues
  /** Instead of the usual two, as in a file of providers. */
  readonly providers?: object
  readonly auth?: 'keys' | 'off'
  readonly engine?: Engine
  readonly bodyBytesMax?: number
  readonly onAnswer?: ProviderAnswerListener
  /** Of the server, not of the engine. */
  readonly clock?: Clock
}

export async function startGateway(options: HostOptions): Promise<GatewayHost> {
  const { upstreamUrl, settings = {}, auth = 'keys', bodyBytesMax, clock, onAnswer } = options
  const providers = options.providers ?? {
    openai: { kind: 'openai', baseUrl: `${upstreamUrl}/v1`, key: 'sk-upstream' },
    anthropic: { kind: 'anthropic', baseUrl: `${upstreamUrl}/v1`, key: 'sk-ant-upstream' },
  }
  const path = temporaryFile('providers.json')
  writeFileSync(path, JSON.stringify({ providers }), { mode: 0o600 })
  const registry = readProviders({ path, isNamed: true, environment: {} })
  const engine =
    options.engine ??
    (await createEngine({
      embedding: false,
      settings: { 'server.requestsPerMinute': 0, ...settings },
    }))
  const serving = await serveWithGateway(
    {
      ...{ host: '127.0.0.1', port: 0, version: '0.0.0', engine, auth, graceMs: 500 },
      ...(clock === undefined ? {} : { clock }),
      ...(onAnswer === undefined ? {} : { onAnswer }),
    },
    { registry, ...(bodyBytesMax === undefined ? {} : { bodyBytesMax }) },
    serve,
  )
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= serving.close().then(() => engine.close())
    return closing
  }
  onTestFinished(close)
  return { url: serving.url, key: serving.managementKey ?? '', engine, close }
}
