/** What the services have in common: one POST with texts, one answer with vectors. */

import { parseApiKey, parseBaseUrl } from '../../../domain/service-endpoint.ts'
import { type HttpEndpoint, postJson } from '../../../lib/http-client.ts'
import { toSendableText } from '../../../text/well-formed-text.ts'
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'

export type RemoteEmbedderOptions = {
  readonly model: string
  /** Sent to the service and to nobody else: it is in no error, report or log. */
  readonly apiKey?: string
  /** Where the service is; each has its usual address as default. */
  readonly baseUrl?: string
  /** Shorter vectors, of models that can make them. */
  readonly dimensions?: number
  /** Under which name it reports, when not its own. */
  readonly source?: string
  readonly responseBytesMax?: number
}

/** How one service wants to be asked. */
export type EmbeddingProtocol = {
  readonly source: string
  readonly baseUrl: string
  /** Below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  buildRequestBody(texts: readonly string[], purpose: EmbeddingPurpose): unknown
  /** Undefined when the answer doesn't have the form; what comes back is checked elsewhere. */
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
