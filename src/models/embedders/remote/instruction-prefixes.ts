/**
 * Instruction prefixes that well-known models expect before queries or documents. Services that serve any model pass
 * texts on unchanged, and retrieval suffers clearly without the prefix.
 */
import type { EmbeddingPurpose } from '../../embedder.ts'
import type { EmbeddingSource } from '../embedding-validation.ts'

type InstructionPrefixes = { readonly [Purpose in EmbeddingPurpose]: string }

const FOR_SEARCHING: InstructionPrefixes = {
  query: 'Represent this sentence for searching relevant passages: ',
  document: '',
}

/** Matched by part of the model name, whatever the service or tag; as documented by the makers. */
const PROMPTS: readonly (readonly [name: RegExp, prompts: InstructionPrefixes])[] = [
  [/nomic-embed-text/, { query: 'search_query: ', document: 'search_document: ' }],
  // Not its `-instruct` variants, which expect a task description.
  [/\be5-(?:small|base|large)(?!.*instruct)/, { query: 'query: ', document: 'passage: ' }],
  [/\bmxbai-embed-(?:large|xsmall)/, FOR_SEARCHING],
  [/\bbge-(?:small|base|large)-en/, FOR_SEARCHING],
  [/\bsnowflake-arctic-embed(?:2|-[ml]-v2)/, { query: 'query: ', document: '' }],
  [/\bsnowflake-arctic-embed/, FOR_SEARCHING],
]

/** Null for a model that reads both alike, or is not known. */
export function findInstructionPrefixes(model: string): InstructionPrefixes | null {
  const name = model.toLowerCase()
  return PROMPTS.find(([pattern]) => pattern.test(name))?.[1] ?? null
}

export function withInstructionPrefixes(raw: EmbeddingSource): EmbeddingSource {
  const prompts = findInstructionPrefixes(raw.model)
  if (prompts === null) return raw
  return {
    ...raw,
    embed: (texts, options) =>
      raw.embed(
        texts.map((text) => `${prompts[options.purpose]}${text}`),
        options,
      ),
  }
}
