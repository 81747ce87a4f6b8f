/** Paths of the providers' APIs besides chat requests: which the gateway knows, and which ids they hold. Pure. */
import type { ApiFormat } from '../../../domain/model-call.ts'

export type ResourcePath = {
  /**
   * `call`: asks a model and leaves nothing behind. `list` and `create`: a collection. `item`: what the ids in the path
   * stand for.
   */
  readonly kind: 'call' | 'list' | 'create' | 'item'
  /** Whose default provider answers where nothing else decides. */
  readonly format: ApiFormat
  readonly ids: readonly string[]
}

const CALLS: Readonly<Record<string, ApiFormat>> = {
  '/v1/completions': 'chat',
  '/v1/moderations': 'chat',
  '/v1/audio/speech': 'chat',
  '/v1/audio/transcriptions': 'chat',
  '/v1/audio/translations': 'chat',
  '/v1/images/generations': 'chat',
  '/v1/images/edits': 'chat',
  '/v1/images/variations': 'chat',
  '/v1/responses/input_tokens': 'responses',
  '/v1/responses/compact': 'responses',
}

type Collection = {
  readonly path: string
  readonly format: ApiFormat
  /** Below the collection; `*` stands for an id. */
  readonly items: readonly string[]
  /** Whether the path of the collection itself belongs to chat requests when it is posted to. */
  readonly isChatPath?: boolean
}

const FILES = ['*', '*/content']

const OPENAI_COLLECTIONS: readonly Collection[] = [
  { path: '/v1/files', format: 'chat', items: FILES },
  { path: '/v1/uploads', format: 'chat', items: ['*/parts', '*/complete', '*/cancel'] },
  { path: '/v1/batches', format: 'chat', items: ['*', '*/cancel'] },
  {
    path: '/v1/vector_stores',
    format: 'responses',
    items: [
      ...['*', '*/search', '*/files', '*/files/*', '*/files/*/content', '*/file_batches'],
      ...['*/file_batches/*', '*/file_batches/*/cancel', '*/file_batches/*/files'],
    ],
  },
  {
    path: '/v1/fine_tuning/jobs',
    format: 'chat',
    items: ['*', '*/cancel', '*/pause', '*/resume', '*/events', '*/checkpoints'],
  },
  { path: '/v1/conversations', format: 'responses', items: ['*', '*/items', '*/items/*'] },
  {
    path: '/v1/containers',
    format: 'responses',
    items: ['*', '*/files', '*/files/*', '*/files/*/content'],
  },
  { path: '/v1/videos', format: 'chat', items: ['*', '*/content', '*/remix'] },
  {
    path: '/v1/chat/completions',
    format: 'chat',
    items: ['*', '*/messages'],
    isChatPath: true,
  },
]

const ANTHROPIC_COLLECTIONS: readonly Collection[] = [
  { path: '/v1/files', format: 'messages', items: FILES },
  { path: '/v1/messages/batches', format: 'messages', items: ['*', '*/cancel', '*/results'] },
  {
    path: '/v1/memory_stores',
    format: 'messages',
    items: [
      ...['*', '*/archive', '*/memories', '*/memories/*'],
      ...['*/memory_versions', '*/memory_versions/*', '*/memory_versions/*/redact'],
    ],
  },
]

const ID = /^[\w.:-]{1,200}$/
const RESPONSE_ITEM = /^\/v1\/responses\/([\w-]{1,200})\/[a-z_]{1,50}$/

/** Null for chat requests and for paths that the gateway does not know. */
export function parseResourcePath(
  method: string,
  path: string,
  isAnthropic: boolean,
): ResourcePath | null {
  const call = Object.hasOwn(CALLS, path) ? CALLS[path] : undefined
  if (call !== undefined) return { kind: 'call', format: call, ids: [] }
  const [, response] = RESPONSE_ITEM.exec(path) ?? []
  if (response !== undefined) return { kind: 'item', format: 'responses', ids: [response] }
  for (const collection of isAnthropic ? ANTHROPIC_COLLECTIONS : OPENAI_COLLECTIONS) {
    const found = parseCollectionPath(method, path, collection)
    if (found !== null) return found
  }
  return null
}

function parseCollectionPath(
  method: string,
  path: string,
  { path: root, format, items, isChatPath }: Collection,
): ResourcePath | null {
  if (path === root) {
    if (method === 'GET' || method === 'HEAD') return { kind: 'list', format, ids: [] }
    return isChatPath === true ? null : { kind: 'create', format, ids: [] }
  }
  if (!path.startsWith(`${root}/`)) return null
  const segments = path.slice(root.length + 1).split('/')
  for (const item of items) {
    const ids = matchSegments(item.split('/'), segments)
    if (ids !== null) return { kind: 'item', format, ids }
  }
  return null
}

/** The ids; null when the path is another one. */
function matchSegments(
  wanted: readonly string[],
  segments: readonly string[],
): readonly string[] | null {
  if (wanted.length !== segments.length) return null
  const isMatch = wanted.every((each, index) => {
    const segment = segments[index] ?? ''
    return each === '*' ? ID.test(segment) && !/^\.+$/.test(segment) : each === segment
  })
  return isMatch ? segments.filter((_, index) => wanted[index] === '*') : null
}
