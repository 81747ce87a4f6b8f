/** A worker of the local reranker that answers when it is told to, so that a test decides what is under way. */
import type {
  Pair,
  WorkerAnswer,
  WorkerRequest,
} from '../../src/models/rerankers/reranker-worker-protocol.ts'
import type { ScoringWorker } from '../../src/models/rerankers/scoring-client.ts'

export type FakeScoringWorker = ScoringWorker & {
  /** The pairs that were asked for, in order. */
  readonly asked: Pair[]
  readonly isStopped: () => boolean
  readonly isHeld: () => boolean
  answer(answer: WorkerAnswer): void
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
  const asked: Pair[] = []
  let listener: Parameters<ScoringWorker['listen']>[0] | null = null
  let isStopped = false
  let isHeld = false
  return {
    pid: undefined,
    asked,
    isStopped: () => isStopped,
    isHeld: () => isHeld,
    listen: (given) => {
      listener = given
    },
    send: (request: WorkerRequest) => {
      if (request.kind === 'score') asked.push(request.pair)
    },
    hold: (isNeeded) => {
      isHeld = isNeeded
    },
    stop: async () => {
      isStopped = true
    },
    answer: (message) => listener?.answered(message),
    end: (because) => listener?.ended(because),
  }
}
