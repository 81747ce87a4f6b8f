/** What the services have in common: one POST with texts, one answer with vectors. */

import { parseBaseUrl, parseKey } from '../../../domain/service-endpoint.ts'
import { postJson, type Sender } from '../../../lib/http-client.ts'
import { sendable } from '../../../text/well-formed-text.ts'
import type { EmbedPurpose } from '../../embedder.ts'
import type { RawSource } from '../embedding-validation.ts'

export type RemoteOptions = {
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
export type Protocol = {
  readonly source: string
  readonly baseUrl: string
  /** Below the base address. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  body(texts: readonly string[], purpose: EmbedPurpose): unknown
  /** Undefined when the answer doesn't have the form; what comes back is checked elsewhere. */
  vectors(answer: unknown): unknown
}

export function remoteSource(options: RemoteOptions, protocol: Protocol): RawSource {
  const source = options.source ?? protocol.source
  const base = parseBaseUrl(options.baseUrl ?? protocol.baseUrl, source)
  const sender: Sender = {
    source,
    url: `${base}${protocol.path}`,
    headers: protocol.headers,
    secret: parseKey(options.apiKey, source),
    ...(options.responseBytesMax === undefined ? {} : { bytesMax: options.responseBytesMax }),
  }
  return {
    source,
    model: options.model,
    embed: async (texts, { purpose, signal }) => {
      const body = protocol.body(texts.map(sendable), purpose)
      return protocol.vectors(await postJson(sender, body, signal))
    },
    facts: () => ({ host: new URL(base).host }),
    close: async () => {},
  }
}
