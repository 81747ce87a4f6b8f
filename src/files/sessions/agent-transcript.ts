/**
 * Reads the transcripts of coding agents as exchanges: JSON Lines as Claude Code, Codex and OpenClaw write them, or one
 * JSON document with `messages`, as Gemini CLI does. Secrets are redacted.
 */
import type { Exchange } from '../../domain/model-call.ts'
import { filterObjects, isObject, type Json, type JsonObject, parseJson } from '../../lib/json.ts'
import { parseSessionLines } from './session-lines.ts'

const ASSISTANTS: readonly (Json | undefined)[] = ['gemini', 'model', 'assistant']

export function parseAgentTranscript(text: string): readonly Exchange[] {
  const document = parseJson(text)
  const lines = isObject(document) && Array.isArray(document.messages) ? document.messages : null
  const written = lines === null ? text : filterObjects(lines).map(toLine).join('\n')
  // The last line may lack its line break although it is complete.
  const { messages } = parseSessionLines(`${written}\n`, { emailAddresses: false })
  const exchanges: { user: string; assistant: string | null }[] = []
  for (const { role, text: said } of messages) {
    const current = exchanges.at(-1)
    if (role === 'user') exchanges.push({ user: said, assistant: null })
    else if (current !== undefined) {
      current.assistant = current.assistant === null ? said : `${current.assistant}\n${said}`
    }
  }
  return exchanges
}

/** Gemini CLI names the role in `type`, and its parts have no type. */
function toLine({ type, role, content, parts }: JsonObject): string {
  const speaker = ASSISTANTS.includes(role ?? type) ? 'assistant' : (role ?? type ?? null)
  const said = content ?? parts ?? null
  const typed = Array.isArray(said)
    ? filterObjects(said).map((part) => ({ type: 'text', ...part }))
    : said
  return JSON.stringify({ role: speaker, content: typed })
}
