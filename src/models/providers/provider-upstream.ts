/** Dispatches each request to the upstream of its provider. */
import type { Provider } from '../provider.ts'
import { createNoSocketError, type Upstream } from '../upstream.ts'
import { type BedrockOptions, createBedrockUpstream } from './bedrock/bedrock-upstream.ts'
import { createDemoUpstream, type DemoOptions } from './demo/demo-upstream.ts'
import { createHttpUpstream, type HttpUpstreamOptions } from './http-upstream.ts'

export type UpstreamOptions = HttpUpstreamOptions & DemoOptions & BedrockOptions

export function createUpstream(options: UpstreamOptions = {}): Upstream {
  const demo = createDemoUpstream(options)
  const http = createHttpUpstream(options)
  const bedrock = createBedrockUpstream(http, options)
  const select = ({ kind }: Provider) => {
    if (kind === 'demo') return demo
    return kind === 'bedrock' ? bedrock : http
  }
  return {
    send: (request) => select(request.provider).send(request),
    upgrade: async (request) => {
      const { upgrade } = select(request.provider)
      if (upgrade === undefined) throw createNoSocketError(request.provider.name)
      return upgrade(request)
    },
    close: async () => {
      await Promise.all([demo.close(), http.close()])
    },
  }
}
