/** Common part of the HTTP services: one POST with texts, one response with vectors. */

import { parseApiKey, parseBaseUrl } from '../../../domain/service-endpoint.ts'
import { type HttpEndpoint, postJson } from '../../../lib/http-client.ts'
import { toSendableText } from '../../../text/well-formed-text.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'

export type RemoteEmbedderOptions = {
  readonly model: string
  /** Sent only to the service; appears in no error, report or log. */
  readonly apiKey?: string
  /** Base URL; each service has a default. */
  readonly baseUrl?: string
  /** Requested dimensions, for models that support it. */
  readonly dimensions?: number
  /** Reported name, if it differs from the service. */
  readonly source?: string
  readonly responseBytesMax?: number
}

/** Request and response format of one service. */
export type EmbeddingProtocol = {
  readonly source: string
  readonly baseUrl: string
  /** Path below the base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  buildRequestBody(texts: readonly string[], purpose: EmbeddingPurpose): unknown
  /** Undefined for an unexpected format; vectors are validated elsewhere. */
  parseVectors(answer: unknown): unknown
}

export function createHttpEmbeddingSource(
  options: RemoteEmbedderOptions,
  protocol: EmbeddingProtocol,
): EmbeddingSource {
  const source = options.source ?? protocol.source
  const base = parseBaseUrl(options.baseUrl ?? protocol.baseUrl, source)
  const sender: HttpEndpoint = {
    serviceName: source,
    url: `${base}${protocol.path}`,
    headers: protocol.headers,
    secret: parseApiKey(options.apiKey, source),
    ...(options.responseBytesMax === undefined
      ? {}
      : { responseBytesMax: options.responseBytesMax }),
  }
  return {
    sourceName: source,
    model: options.model,
    embed: async (texts, { purpose, signal }) => {
      const body = protocol.buildRequestBody(texts.map(toSendableText), purpose)
      return protocol.parseVectors(await postJson(sender, body, signal))
    },
    facts: () => ({ host: new URL(base).host }),
    close: async () => {},
  }
}
