/** Newline-delimited JSON: responses that are read line by line. */
import { ApiError } from './client.ts'

export async function* linesOf(body: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}

export type Progress = { readonly done: number; readonly total: number }

type Line<Result> = {
  readonly progress?: Progress
  readonly result?: Result
  readonly error?: { readonly code: string; readonly message: string }
}

/** Sends a request whose response reports progress before its result. */
export async function postWithProgress<Result>(
  path: string,
  body: object | FormData,
  onProgress: (progress: Progress) => void,
): Promise<Result> {
  const isForm = body instanceof FormData
  const response = await fetch(path, {
    method: 'POST',
    credentials: 'same-origin',
    headers: {
      accept: 'application/x-ndjson',
      ...(isForm ? {} : { 'content-type': 'application/json' }),
    },
    body: isForm ? body : JSON.stringify(body),
  })
  if (!response.ok || response.body === null) {
    const { error } = (await response.json().catch(() => ({}))) as { error?: object } // written by the server
    throw new ApiError(response.status, error ?? {})
  }
  for await (const text of linesOf(response.body)) {
    if (text === '') continue
    const { progress, result, error } = JSON.parse(text) as Line<Result> // written by the server
    if (progress !== undefined) onProgress(progress)
    if (error !== undefined) throw new ApiError(response.status, error as object)
    if (result !== undefined) return result
  }
  throw new ApiError(0, { code: 'unreachable', retryable: true })
}
