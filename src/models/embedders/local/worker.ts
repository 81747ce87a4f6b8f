/** The process that runs a model for `embedder.ts`. */
import { serveParent } from '../../runtime/worker-server.ts'
import type { WorkerAnswer, WorkerRequest } from './embedder-worker-protocol.ts'
import { type LocalModel, openModel } from './onnx-embedding-model.ts'

let model: LocalModel | null = null

serveParent(async (request: WorkerRequest): Promise<WorkerAnswer> => {
  if (request.kind === 'open') {
    model = await openModel(request.request)
    return { kind: 'opened', model: model.opened }
  }
  if (model === null) throw new Error('A text came before the model was opened.')
  return { kind: 'embedded', vector: await model.embed(request.text, request.purpose) }
})
