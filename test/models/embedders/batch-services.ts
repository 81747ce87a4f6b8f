/**
 * Servers that speak the batch protocols of the services, with vectors of the reference embedder. They note what they are
 * asked, and misbehave on request.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { reply } from './embedding-services.ts'

export type Asked = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}
type Line = { readonly [name: string]: unknown }

export type BatchService = {
  readonly url: string
  readonly asked: Asked[]
  /** Paths that were asked for, with their methods. */
  paths(): readonly string[]
  /** The lines of every file that was uploaded. */
  readonly uploads: (readonly Line[])[]
  /** How often a batch is asked for before it has ended. */
  polls: number
  /** How it ends. */
  end: string
  /** What becomes of the lines of an answer. */
  change: (lines: readonly Line[]) => readonly Line[]
  /** Answers in its own way when it returns true. */
  misbehave: (asked: Asked, response: ServerResponse) => boolean
}

type Protocol = {
  serve(service: State, asked: Asked, response: ServerResponse): Promise<unknown>
}
type State = BatchService & {
  readonly files: Map<string, readonly Line[]>
  fileCount: number
  readonly batches: Map<string, { readonly input: string; polls: number; isCancelled: boolean }>
}

export async function startBatchService(
  name: 'openai' | 'voyage' | 'gemini',
): Promise<BatchService> {
  const requests: Asked[] = []
  const uploads: (readonly Line[])[] = []
  const state: State = {
    ...{ url: '', asked: requests, uploads, polls: 2, end: '' },
    paths: () => requests.map(({ method, path }) => `${method} ${path}`),
    change: (lines) => lines,
    misbehave: () => false,
    files: new Map(),
    fileCount: 0,
    batches: new Map(),
  }
  const protocol = name === 'gemini' ? GEMINI : openaiLike(name)
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const one = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      body: Buffer.concat(chunks),
    }
    requests.push(one)
    if (state.misbehave(one, response)) return
    const answer = await protocol.serve(state, one, response)
    if (!response.headersSent) reply(response, answer === undefined ? 404 : 200, answer ?? {})
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(() => resolve()))
  })
  const { port } = server.address() as AddressInfo // it listens on a port
  const version = name === 'gemini' ? 'v1beta' : 'v1'
  return Object.assign(state, { url: `http://127.0.0.1:${port}/${version}` })
}

async function vectorOf(text: string): Promise<readonly number[]> {
  const [vector] = await createHashingEmbedder().embed([text], { purpose: 'document' })
  return Array.from(vector ?? [], (number) => number * 3)
}

function addFile(state: State, lines: readonly Line[]): string {
  const id = `file-${++state.fileCount}`
  state.files.set(id, lines)
  return id
}

function parseLines(text: string): readonly Line[] {
  const lines = text.trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Line) // as sent
}

function sendLines(response: ServerResponse, lines: readonly Line[]): void {
  response.writeHead(200, { 'content-type': 'application/octet-stream' })
  // Cut where it hurts: in the middle of a line.
  const text = lines.map((line) => JSON.stringify(line)).join('\n')
  response.write(text.slice(0, text.length / 2))
  setImmediate(() => response.end(text.slice(text.length / 2)))
}

/** Whether it has ended by now. */
function isDone(state: State, batch: string): boolean {
  const one = state.batches.get(batch)
  if (one === undefined) return false
  one.polls++
  return one.isCancelled || one.polls > state.polls
}

function openaiLike(name: 'openai' | 'voyage'): Protocol {
  const textOf = (line: Line) => {
    const { input } = line.body as { readonly input: string | readonly [string] } // as sent
    return typeof input === 'string' ? input : input[0]
  }
  const answered = async (lines: readonly Line[]) =>
    Promise.all(
      lines.map(async (line) => ({
        id: 'batch_req_1',
        custom_id: line.custom_id,
        response: {
          status_code: 200,
          body: { object: 'list', data: [{ index: 0, embedding: await vectorOf(textOf(line)) }] },
        },
        error: null,
      })),
    )
  return {
    serve: async (state, { method, path, headers, body }, response) => {
      const [, , kind = '', id = '', part] = path.split('/')
      if (method === 'POST' && path === '/v1/files') {
        const type = headers['content-type'] ?? ''
        const form = await new Response(body, { headers: { 'content-type': type } }).formData()
        if (form.get('purpose') !== 'batch') return reply(response, 400, {})
        const lines = parseLines(await (form.get('file') as File).text()) // as sent
        state.uploads.push(lines)
        return { id: addFile(state, lines), object: 'file' }
      }
      if (method === 'POST' && path === '/v1/batches') {
        const { input_file_id: input } = JSON.parse(body.toString())
        const batch = `batch_${name}_${state.batches.size + 1}`
        state.batches.set(batch, { input, polls: 0, isCancelled: false })
        return { id: batch, status: 'validating' }
      }
      const batch = state.batches.get(id)
      if (kind === 'batches' && batch !== undefined) {
        if (part === 'cancel') batch.isCancelled = true
        const about = {
          id,
          input_file_id: batch.input,
          request_counts: { completed: 1, failed: 0 },
        }
        if (!isDone(state, id)) return { ...about, status: 'in_progress' }
        if (batch.isCancelled) return { ...about, status: 'cancelled' }
        const lines = await answered(state.files.get(batch.input) ?? [])
        const output = addFile(state, state.change([...lines].reverse()))
        return { ...about, status: state.end || 'completed', output_file_id: output }
      }
      const file = state.files.get(id)
      if (kind !== 'files' || file === undefined) return undefined
      if (method === 'DELETE') return { id, deleted: state.files.delete(id) }
      if (part === 'content') sendLines(response, file)
      return {}
    },
  }
}

const GEMINI: Protocol = {
  serve: async (state, { method, path, headers, body }, response) => {
    const named = /\/(files|batches)\/([\w-]+)(?::(\w+))?/.exec(path)
    const [, kind, id = '', verb] = named ?? []
    if (path === '/upload/v1beta/files') {
      const place = `${state.url.replace('/v1beta', '')}/upload/session/1`
      const isStart = headers['x-goog-upload-command'] === 'start'
      return reply(response, isStart ? 200 : 400, {}, { 'x-goog-upload-url': place })
    }
    if (path === '/upload/session/1') {
      const lines = parseLines(body.toString())
      state.uploads.push(lines)
      return { file: { name: `files/${addFile(state, lines)}` } }
    }
    if (path.endsWith(':asyncBatchEmbedContent')) {
      const { batch } = JSON.parse(body.toString())
      const name = `b-${state.batches.size + 1}`
      const input = String(batch.inputConfig.fileName).slice('files/'.length)
      state.batches.set(name, { input, polls: 0, isCancelled: false })
      return { name: `batches/${name}`, metadata: { state: 'BATCH_STATE_PENDING' } }
    }
    const batch = state.batches.get(id)
    if (kind === 'batches' && batch !== undefined) {
      if (verb === 'cancel') batch.isCancelled = true
      const name = `batches/${id}`
      const inputConfig = { fileName: `files/${batch.input}` }
      const told = (status: string) => ({ state: `BATCH_STATE_${status}`, inputConfig })
      if (!isDone(state, id)) return { name, done: false, metadata: told('RUNNING') }
      if (state.end !== '') return { name, done: true, metadata: told(state.end) }
      const lines = await Promise.all(
        (state.files.get(batch.input) ?? []).map(async ({ key, request }) => {
          const { content } = request as {
            readonly content: { readonly parts: [{ text: string }] }
          } // as sent
          return { key, response: { embedding: { values: await vectorOf(content.parts[0].text) } } }
        }),
      )
      const responsesFile = `files/${addFile(state, state.change(lines))}`
      return { name, done: true, metadata: told('SUCCEEDED'), response: { responsesFile } }
    }
    const file = state.files.get(id)
    if (kind !== 'files' || file === undefined) return undefined
    if (method === 'DELETE') state.files.delete(id)
    else if (path === `/download/v1beta/files/${id}:download?alt=media`) sendLines(response, file)
    return {}
  },
}
