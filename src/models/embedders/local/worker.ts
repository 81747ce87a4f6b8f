/** Worker process of the local embedder. */
import { serveParentProcess } from '../../runtime/worker-server.ts'
import type { EmbedderWorkerAnswer, EmbedderWorkerRequest } from './embedder-worker-protocol.ts'
import { type OnnxEmbeddingModel, openEmbeddingModel } from './onnx-embedding-model.ts'

let model: OnnxEmbeddingModel | null = null

serveParentProcess(async (request: EmbedderWorkerRequest): Promise<EmbedderWorkerAnswer> => {
  if (request.kind === 'open') {
    model = await openEmbeddingModel(request.request)
    return { kind: 'opened', model: model.opened }
  }
  if (model === null) throw new Error('Received a text before the model was opened.')
  return { kind: 'embedded', vector: await model.embed(request.text, request.purpose) }
})
