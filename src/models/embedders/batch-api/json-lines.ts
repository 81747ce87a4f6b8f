/** JSON Lines: encoding of uploads and streaming of downloads. */
import { AppError } from '../../../lib/errors.ts'
import { type HttpEndpoint, sendRequest } from '../../../lib/http-client.ts'

/** A vector with 4,096 dimensions takes about 100 KB. */
const LINE_CHARACTERS_MAX = 4_000_000

export function toJsonLines(items: readonly unknown[]): Blob {
  const lines = items.map((item) => `${JSON.stringify(item)}\n`)
  return new Blob(lines, { type: 'application/jsonl' })
}

/** Downloads a file and yields it line by line. */
export function readJsonLines(
  sender: HttpEndpoint,
  take: (line: unknown) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const following = { ...sender, fetch: followingOnce }
  return sendRequest(following, { method: 'GET' }, signal, async (response) => {
    const decoder = new TextDecoder()
    let rest = ''
    const takeWhole = async (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') await take(parseLine(sender, line))
      if (rest.length > LINE_CHARACTERS_MAX)
        throw createInvalidLineError(sender, 'with a line without end')
    }
    for await (const chunk of response.body ?? []) {
      await takeWhole(decoder.decode(chunk, { stream: true }))
    }
    await takeWhole(`${decoder.decode()}\n`)
  })
}

/** Files may be served from signed URLs on other hosts, which must not receive the API key. */
const followingOnce: typeof fetch = async (input, init) => {
  const response = await fetch(input, init)
  const place = response.headers.get('location')
  if (response.status < 300 || response.status >= 400 || place === null) return response
  const from = new URL(String(input))
  const to = new URL(place, from)
  if (to.protocol !== 'https:' && to.origin !== from.origin) return response
  await response.body?.cancel()
  return fetch(to, { redirect: 'manual', ...(init?.signal ? { signal: init.signal } : {}) })
}

function parseLine(sender: HttpEndpoint, line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    throw createInvalidLineError(sender, 'with a line that is no JSON')
  }
}

function createInvalidLineError({ serviceName: source }: HttpEndpoint, what: string): AppError {
  return new AppError('unavailable', `${source} answered ${what}.`, { answer: 'wrong' })
}
