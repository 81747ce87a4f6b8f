/** Documented token limits of remote models. Few services report them. */
const TOKENS_READ: readonly (readonly [RegExp, number])[] = [
  [/all-minilm/, 256],
  [/paraphrase-multilingual/, 128],
  [/mxbai-embed|granite-embedding/, 512],
  [/snowflake-arctic-embed(?!.*(?:2|long|137m))/, 512],
  [/\bbge-(?:micro|small|base|large)/, 512],
  [/\b(?:multilingual-)?e5-(?:small|base|large)/, 512],
  [/\bgte-(?:small|base|large)(?!.*v1\.5)/, 512],
  [/^embed-.*-v[23]/, 512],
  [/gemini-embedding-001|^text-embedding-00\d|^embedding-001/, 2_048],
  [/nomic-embed-text|embeddinggemma/, 2_048],
  [/^voyage-(?:01|2|lite)/, 4_000],
]

/** Undefined when unknown, or beyond the length of our texts. */
export function getModelTokensMax(model: string): number | undefined {
  return TOKENS_READ.find(([name]) => name.test(model.toLowerCase()))?.[1]
}
