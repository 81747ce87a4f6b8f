/**
 * The built-in embedder: a model in a process of its own, so that inference never blocks the event loop.
 *
 * The worker gets one text at a time; all others wait here, where queries overtake documents, cancelled texts cost
 * nothing and a vector never depends on its batch (activations are quantized per batch). The model loads on the first
 * call. When that fails, calls fail with the same reason until a pause is over.
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
  type LocalEmbedderSettings,
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

  /** Without texts, waits until the model is open. */
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
      if (known === null) throw new Error('The model was opened without metadata.')
      const { model, dimensions, tokensMax } = known
      const { languages } = settings
      return {
        ...{ source: SOURCE, model, dimensions, tokensMax },
        ...(languages === null ? {} : { languages }),
        ...(isMultilingual(settings) ? { isApproximateBeyondEnglish: true } : {}),
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

function isMultilingual({ request: { location } }: LocalEmbedderSettings): boolean {
  return location.kind === 'shipped' && location.multilingualFolder !== null
}

function createExchangedModelError(model: string): AppError {
  const message = `The model ${model} was replaced while in use. Restart to embed with the new files.`
  return new AppError('unavailable', message, { model })
}

function assertUsable(vector: Float32Array, dimensions: number | undefined): void {
  if (vector.length === dimensions && isFiniteThroughout(vector)) return
  throw new AppError('unavailable', 'The local model returned an invalid vector.', {
    dimensions: vector.length,
  })
}
