/**
 * Diagnostics for operators: test the embedder, the reranker and the language model. Failures are
 * results, not errors.
 */
import { z } from 'zod'
import { parseScope } from '../../../domain/scope.ts'
import { AppError, toAppError } from '../../../lib/errors.ts'
import { withTimeout } from '../../../lib/timeout.ts'
import { innerProduct } from '../../../lib/vector-math.ts'
import { isoTime } from '../memory-schema.ts'
import { defineOperation } from '../operation.ts'
import { resolveOwner, scopeFields } from '../scope-fields.ts'

/** Enough to load a model, or for a reasoning model to answer. */
const TRIAL_MS = 90_000

const outcome = {
  works: z.boolean(),
  latencyMs: z.number(),
  error: z
    .object({
      code: z.string(),
      message: z.string(),
      retryAt: z.string().nullable().describe('When it may work again, if known.'),
    })
    .nullable(),
}

type Outcome<Result> = {
  readonly works: boolean
  readonly latencyMs: number
  readonly error: z.output<typeof outcome.error>
  readonly result: Result | null
}

/** A bug is reported as such; any other failure is a result. */
async function runTrial<Result>(
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Outcome<Result>> {
  const startedAt = performance.now()
  const done = await withTimeout(TRIAL_MS, (late) => work(AbortSignal.any([late, signal])))
  const latencyMs = Math.round((performance.now() - startedAt) * 10) / 10
  if (done.kind === 'done') return { works: true, latencyMs, error: null, result: done.result }
  const { code, message, facts } = done.error
  if (code === 'internal' || code === 'cancelled') throw done.error
  const retryAt = typeof facts.until === 'number' ? isoTime(facts.until) : null
  return { works: false, latencyMs, error: { code, message, retryAt }, result: null }
}

const sample = z.string().min(1).max(2_000)
const SAMPLE_TEXT = 'She moved to Lisbon last spring.'

export const testEmbedding = defineOperation({
  name: 'memory.embeddingTest',
  summary:
    'Tests the embedding model: embeds a text, measures latency and the similarity to a second text.',
  access: 'manage',
  input: z.strictObject({
    text: sample.optional(),
    other: sample.optional().describe('A text to compare with.'),
  }),
  output: z.object({
    ...outcome,
    source: z.string().nullable(),
    model: z.string().nullable(),
    dimensions: z.int().nullable().describe('As probed.'),
    similarity: z.number().nullable().describe('Cosine similarity of the two texts.'),
  }),
  http: { method: 'POST', path: '/api/memory/embedding-test' },
  run: async ({ engine, signal }, { text = SAMPLE_TEXT, other }) => {
    const { result, ...trial } = await runTrial(signal, (stop) =>
      // Unique text, so that no cache hides the latency.
      engine.admin.models.embed([`${text} ${crypto.randomUUID()}`], {
        purpose: 'document',
        signal: stop,
      }),
    )
    const similarity =
      result === null || other === undefined
        ? null
        : await runTrial(signal, (stop) =>
            engine.admin.models.embed([text, other], { purpose: 'document', signal: stop }),
          )
    const [left, right] = similarity?.result?.vectors ?? []
    return {
      ...trial,
      source: result?.model.source ?? null,
      model: result?.model.model ?? null,
      dimensions: result?.model.dimensions ?? null,
      similarity:
        left === undefined || right === undefined ? null : rounded(innerProduct(left, right)),
    }
  },
})

const SAMPLE_PROMPT = 'Where does she live?'

/** The first one answers the question. */
const SAMPLE_DOCUMENTS = [
  'She moved to Lisbon last spring.',
  'The kettle is broken.',
  'Rent is due on Monday.',
]

export const testRerank = defineOperation({
  name: 'memory.rerankTest',
  summary: 'Tests the reranker on three texts.',
  access: 'manage',
  input: z.strictObject({}),
  output: z.object({
    ...outcome,
    model: z.string().nullable(),
    isCorrect: z.boolean().nullable().describe('Whether the answering text was ranked first.'),
  }),
  http: { method: 'POST', path: '/api/memory/rerank-test' },
  run: async ({ engine, signal }) => {
    const { result, ...trial } = await runTrial(signal, (stop) =>
      engine.admin.models.rerank(SAMPLE_PROMPT, SAMPLE_DOCUMENTS, stop),
    )
    return {
      ...trial,
      model: result?.model ?? null,
      isCorrect: result === null ? null : result.ranked[0]?.index === 0,
    }
  },
})

export const listModels = defineOperation({
  name: 'model.list',
  summary: 'Lists language-model providers and whether their API keys are configured.',
  access: 'manage',
  input: z.strictObject({}),
  output: z.object({
    providers: z.array(
      z.object({
        name: z.string(),
        kind: z.string(),
        hasKey: z.boolean().describe('Also true where no key is required.'),
        models: z
          .array(z.string())
          .describe('As `provider/model`; other models can be requested too.'),
      }),
    ),
    aliases: z.array(z.string()),
    error: z.string().nullable().describe('Why the provider configuration is unusable.'),
  }),
  http: { method: 'GET', path: '/api/models' },
  run: async ({ engine }) => {
    try {
      const { providers, aliases } = await engine.admin.models.providers()
      const listed = providers.map(({ name, kind, hasKey, models }) => ({
        ...{ name, kind, hasKey },
        models: models.map((model) => `${name}/${model}`),
      }))
      return { providers: listed, aliases: [...aliases], error: null }
    } catch (thrown) {
      const error = toAppError(thrown)
      if (error.code === 'internal') throw error
      return { providers: [], aliases: [], error: error.message }
    }
  },
})

const SAMPLE_QUESTION = 'This is a test of the connection. Answer with one word: ready.'

/** More than one word needs, because reasoning models use tokens before they answer. */
const ANSWER_TOKENS_MAX = 1_024
const ANSWER_CHARACTERS_SHOWN = 200

export const testModel = defineOperation({
  name: 'model.test',
  summary: 'Tests a language model with a one-word request, charged to the budget of an owner.',
  access: 'manage',
  input: z.strictObject({
    owner: scopeFields.owner,
    apiKeyId: scopeFields.apiKeyId,
    model: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .describe("For example `openai/gpt-6-luna`. Default: the owner's extraction model."),
  }),
  output: z.object({
    ...outcome,
    model: z.string(),
    answer: z.string().nullable(),
    tokens: z.object({ input: z.int(), output: z.int() }).nullable(),
  }),
  http: { method: 'POST', path: '/api/models/test' },
  run: async (context, { model, ...input }) => {
    const { engine, signal } = context
    const owner = resolveOwner(context, input, 'manage')
    const name =
      model ??
      (await engine.admin.settings.resolve(parseScope({ owner }).owner))['learning.extractionModel']
    if (name === '') {
      const message = '`model` is required: name one, or set `learning.extractionModel`.'
      throw new AppError('invalid_input', message, { field: 'model' })
    }
    const { result, ...trial } = await runTrial(signal, (stop) =>
      engine.admin.models.complete(owner, {
        model: name,
        messages: [{ role: 'user', content: SAMPLE_QUESTION }],
        json: false,
        outputTokensMax: ANSWER_TOKENS_MAX,
        signal: stop,
      }),
    )
    return {
      ...trial,
      model: name,
      answer: result === null ? null : result.text.trim().slice(0, ANSWER_CHARACTERS_SHOWN),
      tokens: result && { ...result.tokens },
    }
  },
})

function rounded(similarity: number): number {
  return Math.round(similarity * 1_000) / 1_000
}
