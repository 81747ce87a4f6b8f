/** A worker of the local embedder that answers when it is told to, so that a test decides what is under way. */

import type {
  EmbedderWorker,
  EmbedderWorkerListener,
} from '../../src/models/embedders/local/embedder-worker-process.ts'
import type {
  EmbedderWorkerAnswer,
  LoadedModel,
} from '../../src/models/embedders/local/embedder-worker-protocol.ts'

export type FakeWorker = EmbedderWorker & {
  /** The texts that were asked for, in order. */
  readonly asked: string[]
  readonly isStopped: boolean
  readonly isHeld: boolean
  open(model?: Partial<LoadedModel>): void
  answer(answer: EmbedderWorkerAnswer): void
  /** Answers the text that was asked for last. */
  embed(vector?: Float32Array): void
  end(because: string): void
}

export type FakeWorkers = { readonly start: () => EmbedderWorker; readonly started: FakeWorker[] }

export function fakeWorkers(): FakeWorkers {
  const started: FakeWorker[] = []
  return {
    started,
    start: () => {
      const worker = fakeWorker()
      started.push(worker)
      return worker
    },
  }
}

function fakeWorker(): FakeWorker {
  const requests: string[] = []
  let listener: EmbedderWorkerListener | null = null
  let isStopped = false
  let isHeld = false
  const answer = (message: EmbedderWorkerAnswer) => listener?.onAnswer(message)
  return {
    pid: undefined,
    asked: requests,
    get isStopped() {
      return isStopped
    },
    get isHeld() {
      return isHeld
    },
    listen: (given) => {
      listener = given
    },
    send: (request) => {
      if (request.kind === 'embed') requests.push(request.text)
    },
    keepAlive: (isNeeded) => {
      isHeld = isNeeded
    },
    stop: async () => {
      isStopped = true
    },
    open: (model = {}) =>
      answer({
        kind: 'opened',
        model: {
          model: 'fake',
          dimensions: 2,
          runtime: 'fake 1',
          threads: 1,
          tokensMax: 256,
          nativeRuntimeError: null,
          ...model,
        },
      }),
    answer,
    embed: (vector = Float32Array.of(1, 0)) => answer({ kind: 'embedded', vector }),
    end: (because) => listener?.onExit(because),
  }
}
