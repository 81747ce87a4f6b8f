/** Dispatches each request to the upstream of its provider. */
import type { Upstream } from '../upstream.ts'
import { createDemoUpstream, type DemoOptions } from './demo/demo-upstream.ts'
import { createHttpUpstream, type HttpUpstreamOptions } from './http-upstream.ts'

export type UpstreamOptions = HttpUpstreamOptions & DemoOptions

export function createUpstream(options: UpstreamOptions = {}): Upstream {
  const demo = createDemoUpstream(options)
  const http = createHttpUpstream(options)
  return {
    send: (request) => (request.provider.kind === 'demo' ? demo : http).send(request),
    close: async () => {
      await Promise.all([demo.close(), http.close()])
    },
  }
}
