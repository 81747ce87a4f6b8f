/**
 * The built-in embedder: a model on this machine, in a process of its own, so that the event loop never waits for it.
 *
 * One text at a time is on its way to the worker, all others wait here: queries can overtake, cancelled texts cost
 * nothing, and a text's vector never depends on its company (activations are quantised per batch). The model is loaded
 * at the first call. When that fails, calls fail with the same reason for a moment before it is tried again.
 */
import { throwIfAborted } from '../../../lib/abort.ts'
import { AppError } from '../../../lib/errors.ts'
import { isFiniteThroughout } from '../../../lib/vector-math.ts'
import { truncateText } from '../../../text/well-formed-text.ts'
import type { Embedder, EmbeddingPurpose } from '../../embedder.ts'
import { createOrderError, WorkerClient } from '../../runtime/worker-client.ts'
import { withDocumentWorker } from './document-worker.ts'
import {
  type EmbedderWorker,
  startEmbedderWorker,
  startLowPriorityWorker,
} from './embedder-worker-process.ts'
import type { EmbedderWorkerRequest, LoadedModel, ModelAnswer } from './embedder-worker-protocol.ts'
import {
  DEFAULT_TOKENS_MAX,
  type LocalEmbedderOptions,
  parseLocalOptions,
} from './local-embedder-options.ts'
import { createRequestQueue, type EmbeddingRequest } from './request-queue.ts'

const SOURCE = 'transformers'
const MODEL_NAME = 'local model'

export function openLocalEmbedder(options: LocalEmbedderOptions = {}): Embedder {
  return withDocumentWorker(
    openLocalEmbedderWith(startEmbedderWorker, options),
    () => openLocalEmbedderWith(startLowPriorityWorker, options),
    options.now === undefined ? {} : { now: options.now },
  )
}

export function openLocalEmbedderWith(
  startWorker: () => EmbedderWorker,
  options: LocalEmbedderOptions = {},
): Embedder {
  const settings = parseLocalOptions(options)
  const queue = createRequestQueue(settings.queueMax)
  let known: LoadedModel | null = null
  let warmUpMs: number | null = null
  const client = new WorkerClient<EmbedderWorkerRequest, ModelAnswer, EmbeddingRequest>({
    ...{ startWorker, queue, answerTimeoutMs: settings.answerTimeoutMs, now: settings.now },
    ...{ modelName: MODEL_NAME, serviceName: 'embedder', facts: { model: settings.name } },
    openRequest: { kind: 'open', request: settings.request },
    onOpened: (answer, startupMs) => {
      if (answer.kind !== 'opened') return createOrderError(MODEL_NAME)
      if (known !== null && known.model !== answer.model.model) {
        return createExchangedModelError(settings.name)
      }
      known = answer.model
      warmUpMs = Math.round(startupMs)
      return null
    },
  })

  /** Without texts, only waits until the model is open. */
  async function embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal: AbortSignal | undefined,
  ): Promise<readonly Float32Array[]> {
    const vectors: Float32Array[] = []
    const call: EmbeddingRequest = {
      ...{ texts, purpose, vectors },
      nextRequest: () => {
        const text = texts[vectors.length]
        if (text === undefined) return null
        return { kind: 'embed', text: truncateText(text, settings.textLengthMax), purpose }
      },
      takeAnswer: (answer) => {
        if (answer.kind !== 'embedded') throw createOrderError(MODEL_NAME)
        assertUsable(answer.vector, known?.dimensions)
        vectors.push(answer.vector)
      },
    }
    await client.run(call, signal)
    return vectors
  }

  return {
    async describe(signal) {
      throwIfAborted(signal)
      if (known === null) await embed([], 'query', signal)
      if (known === null) throw new Error('A model was opened without being known.')
      const { model, dimensions, tokensMax } = known
      const { languages } = settings
      return {
        ...{ source: SOURCE, model, dimensions, tokensMax },
        ...(languages === null ? {} : { languages }),
      }
    },

    async embed(texts, { purpose, signal }) {
      return texts.length === 0 ? [] : embed([...texts], purpose, signal)
    },

    report: () => ({
      source: SOURCE,
      model: known?.model ?? settings.name,
      state: client.state,
      facts: {
        threads: known?.threads ?? settings.request.threads,
        tokensMax: known?.tokensMax ?? settings.request.tokensMax ?? DEFAULT_TOKENS_MAX,
        queuedTexts: queue.pendingTexts(),
        ...(known === null ? {} : { runtime: known.runtime, dimensions: known.dimensions }),
        ...(warmUpMs === null ? {} : { warmUpMs }),
        ...(known?.nativeRuntimeError ? { nativeRuntimeError: known.nativeRuntimeError } : {}),
      },
    }),

    close: () => client.close(),
  }
}

function createExchangedModelError(model: string): AppError {
  const message = `The model ${model} was exchanged while it was in use. Start again to embed with the new one.`
  return new AppError('unavailable', message, { model })
}

function assertUsable(vector: Float32Array, dimensions: number | undefined): void {
  if (vector.length === dimensions && isFiniteThroughout(vector)) return
  throw new AppError('unavailable', 'The local model gave a vector that can’t be used.', {
    dimensions: vector.length,
  })
}
