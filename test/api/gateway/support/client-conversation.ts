/** Conversations as clients keep them, in each of the three formats. */
import type { PathFormat } from './wire-format.ts'

export type Spoken = { readonly role: 'user' | 'assistant'; readonly content: string }

/** The request that a client sends who keeps its whole history; what grows stands last, as caches want it. */
export function requestOf(
  format: PathFormat,
  history: readonly Spoken[],
  fields: object = {},
): object {
  const system = 'You are a barista who remembers the guests.'
  const tools = [toolOf(format)]
  switch (format) {
    case 'chat':
      return {
        model: 'gpt-test',
        ...fields,
        tools,
        messages: [{ role: 'system', content: system }, ...history],
      }
    case 'responses':
      return { model: 'gpt-test', ...fields, instructions: system, tools, input: history }
    case 'messages':
      return { model: 'claude-test', max_tokens: 300, ...fields, system, tools, messages: history }
  }
}

function toolOf(format: PathFormat): object {
  const schema = { type: 'object', properties: { city: { type: 'string' } } }
  switch (format) {
    case 'chat':
      return { type: 'function', function: { name: 'weather', parameters: schema } }
    case 'responses':
      return { type: 'function', name: 'weather', parameters: schema, strict: false }
    case 'messages':
      return { name: 'weather', input_schema: schema }
  }
}

/** The messages of a request, without the system's. */
export function historyIn(
  format: PathFormat,
  body: Readonly<Record<string, unknown>>,
): readonly Spoken[] {
  const list = body[format === 'responses' ? 'input' : 'messages'] as readonly Spoken[] // as `requestOf` made it
  return list.filter(({ role }) => role === 'user' || role === 'assistant')
}

/** Asks, and gives the whole answer's body. */
export async function askFor(
  { url, key }: { readonly url: string; readonly key: string },
  path: string,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}
