/** Worker process of the local reranker. */
import { serveParentProcess } from '../runtime/worker-server.ts'
import { type CrossEncoder, openCrossEncoder } from './cross-encoder.ts'
import type { RerankerWorkerAnswer, RerankerWorkerRequest } from './reranker-worker-protocol.ts'

let encoder: CrossEncoder | null = null

serveParentProcess(async (request: RerankerWorkerRequest): Promise<RerankerWorkerAnswer> => {
  if (request.kind === 'open') {
    encoder = await openCrossEncoder(request.request)
    return { kind: 'opened' }
  }
  if (encoder === null) throw new Error('Received a pair before the model was opened.')
  return { kind: 'scored', score: await encoder.score(request.pair) }
})
