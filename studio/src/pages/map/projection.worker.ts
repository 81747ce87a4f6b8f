import { type Progress, project, type Vectors } from './projection.ts'

export type WorkerMessage =
  | ({ readonly kind: 'progress' } & Progress)
  | { readonly kind: 'done'; readonly positions: Float32Array }
  | { readonly kind: 'failed'; readonly reason: string }

declare const self: DedicatedWorkerGlobalScope

self.onmessage = ({ data }: MessageEvent<Vectors>) => {
  const post = (message: WorkerMessage) => self.postMessage(message)
  try {
    const positions = project(data, (progress) => post({ kind: 'progress', ...progress }))
    post({ kind: 'done', positions })
  } catch (error) {
    post({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}
