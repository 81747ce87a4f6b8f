/** The paths of the gateway, for the description of the API. */
import type { MountedPath } from '../http/server-options.ts'

const JSON_BODY = 'application/json'
const FORM_BODY = 'multipart/form-data'

export const GEMINI_PATHS: readonly MountedPath[] = [
  chat('/v1beta/models/{model}:generateContent', 'An answer (Gemini), with memory.'),
  chat('/v1beta/models/{model}:streamGenerateContent', 'A streamed answer (Gemini), with memory.'),
  chat('/v1beta/models/{model}:countTokens', 'Counts the tokens of contents (Gemini).'),
  chat('/v1beta/models/{model}:embedContent', 'Embeds a content (Gemini).'),
  chat('/v1beta/models/{model}:batchEmbedContents', 'Embeds contents (Gemini).'),
  { method: 'GET', path: '/v1beta/models', summary: 'Lists the models of all providers.' },
]

export const GATEWAY_PATHS: readonly MountedPath[] = [
  chat('/v1/chat/completions', 'Chat completions (OpenAI), with memory.'),
  chat('/v1/responses', 'Responses (OpenAI), with memory.'),
  chat('/v1/messages', 'Messages (Anthropic), with memory.'),
  chat('/v1/messages/count_tokens', 'Counts the tokens of a message (Anthropic).'),
  chat('/v1/responses/input_tokens', 'Counts the tokens of an input (OpenAI).'),
  chat('/v1/responses/compact', 'Compacts an input (OpenAI).'),
  chat('/v1/completions', 'Text completions (OpenAI).'),
  chat('/v1/embeddings', 'Embeddings, by the provider of the model or by the built-in model.'),
  chat('/v1/rerank', 'Reranks documents with the reranker of memory.'),
  chat('/v1/moderations', 'Moderations (OpenAI).'),
  chat('/v1/images/generations', 'Generates images (OpenAI).'),
  { ...chat('/v1/audio/speech', 'Speaks a text (OpenAI).'), answer: 'audio/mpeg' },
  form('/v1/audio/transcriptions', 'Transcribes audio (OpenAI).'),
  form('/v1/audio/translations', 'Translates audio (OpenAI).'),
  form('/v1/images/edits', 'Edits images (OpenAI).'),
  form('/v1/images/variations', 'Varies images (OpenAI).'),
  { method: 'GET', path: '/v1/models', summary: 'Lists the models of all providers.' },
  { method: 'GET', path: '/v1/models/{id}', summary: 'One model.' },
  { method: 'GET', path: '/v1/chat/completions', summary: 'Lists stored chat completions.' },
  ...item('/v1/chat/completions/{id}', 'stored chat completion'),
  ...item('/v1/responses/{id}', 'stored response'),
  ...collection('/v1/files', 'file', FORM_BODY),
  ...collection('/v1/batches', 'batch').filter(({ method }) => method !== 'DELETE'),
  ...collection('/v1/messages/batches', 'message batch (Anthropic)'),
  ...collection('/v1/memory_stores', 'memory store (Anthropic)'),
  ...collection('/v1/vector_stores', 'vector store'),
  ...collection('/v1/conversations', 'conversation').filter(
    ({ method, path }) => method !== 'GET' || path.includes('{'),
  ),
  ...collection('/v1/containers', 'container'),
  ...collection('/v1/fine_tuning/jobs', 'fine-tuning job').filter(
    ({ method }) => method !== 'DELETE',
  ),
]

function chat(path: string, summary: string): MountedPath {
  return { method: 'POST', path, summary, body: JSON_BODY }
}

function form(path: string, summary: string): MountedPath {
  return { method: 'POST', path, summary, body: FORM_BODY }
}

function item(path: string, noun: string): readonly MountedPath[] {
  return [
    { method: 'GET', path, summary: `Reads a ${noun}.` },
    { method: 'DELETE', path, summary: `Deletes a ${noun}.` },
  ]
}

/** Paths below an item, such as its contents, are passed on as well and not listed. */
function collection(path: string, noun: string, body = JSON_BODY): readonly MountedPath[] {
  return [
    { method: 'POST', path, summary: `Creates a ${noun}.`, body },
    { method: 'GET', path, summary: `Lists each ${noun} of the owner.` },
    ...item(`${path}/{id}`, noun),
  ]
}
