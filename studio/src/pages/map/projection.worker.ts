import { type Progress, project, type Vectors } from './projection.ts'

export type FromWorker =
  | ({ readonly kind: 'progress' } & Progress)
  | { readonly kind: 'done'; readonly places: Float32Array }
  | { readonly kind: 'failed'; readonly reason: string }

declare const self: DedicatedWorkerGlobalScope

self.onmessage = ({ data }: MessageEvent<Vectors>) => {
  const tell = (message: FromWorker) => self.postMessage(message)
  try {
    const places = project(data, (progress) => tell({ kind: 'progress', ...progress }))
    tell({ kind: 'done', places })
  } catch (error) {
    tell({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}
