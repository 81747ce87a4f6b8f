/** A worker of the local reranker that answers when it is told to, so that a test decides what is under way. */
import type { ScoringWorker } from '../../src/models/rerankers/local-reranker.ts'
import type {
  RerankerWorkerAnswer,
  RerankerWorkerRequest,
  TextPair,
} from '../../src/models/rerankers/reranker-worker-protocol.ts'

export type FakeScoringWorker = ScoringWorker & {
  /** The pairs that were asked for, in order. */
  readonly asked: TextPair[]
  readonly isStopped: () => boolean
  readonly isHeld: () => boolean
  answer(answer: RerankerWorkerAnswer): void
  end(because: string): void
}

export type FakeScoringWorkers = {
  readonly start: () => ScoringWorker
  readonly started: FakeScoringWorker[]
}

export function fakeScoringWorkers(): FakeScoringWorkers {
  const started: FakeScoringWorker[] = []
  return {
    started,
    start: () => {
      const worker = fakeScoringWorker()
      started.push(worker)
      return worker
    },
  }
}

function fakeScoringWorker(): FakeScoringWorker {
  const requests: TextPair[] = []
  let listener: Parameters<ScoringWorker['listen']>[0] | null = null
  let isStopped = false
  let isHeld = false
  return {
    pid: undefined,
    asked: requests,
    isStopped: () => isStopped,
    isHeld: () => isHeld,
    listen: (given) => {
      listener = given
    },
    send: (request: RerankerWorkerRequest) => {
      if (request.kind === 'score') requests.push(request.pair)
    },
    keepAlive: (isNeeded) => {
      isHeld = isNeeded
    },
    stop: async () => {
      isStopped = true
    },
    answer: (message) => listener?.onAnswer(message),
    end: (because) => listener?.onExit(because),
  }
}
