/** Models behind a scripted provider, which speaks the real protocols. */
import { onTestFinished } from 'vitest'
import { AppError } from '../../../src/lib/errors.ts'
import type { CompletionRequest } from '../../../src/models/language-model.ts'
import { createProviderLanguageModel } from '../../../src/models/llm/provider-language-model.ts'
import type { Provider, ProviderRegistry } from '../../../src/models/provider.ts'
import { createUpstream } from '../../../src/models/providers/provider-upstream.ts'
import { openUpstream } from '../../api/gateway/support/scripted-upstream.ts'
import { PausingClock } from '../embedders/embedder-support.ts'
import { provider } from '../providers/upstream-support.ts'

export const KEY = 'sk-secret-of-the-provider'
export const SECRET_WORDS = 'The safe opens with 4711.'

export async function openModel(fields: Partial<Provider> = {}) {
  const upstream = await openUpstream({ text: 'Noted.' })
  const transport = createUpstream()
  onTestFinished(async () => {
    await transport.close()
    await upstream.close()
  })
  const clock = new PausingClock()
  const registry: ProviderRegistry = {
    providers: [
      provider(`${upstream.url}/v1`, { key: KEY, ...fields }),
      provider('', { name: 'demo', kind: 'demo' }),
    ],
    aliases: { fast: 'scripted/tiny' },
    defaults: { chat: 'scripted', responses: null, messages: null, gemini: null },
  }
  // Without jitter, pauses can be told.
  const model = createProviderLanguageModel({
    registry,
    upstream: transport,
    clock,
    random: () => 0.5,
  })
  return { model, upstream, clock }
}

export function question(fields: Partial<CompletionRequest> = {}): CompletionRequest {
  return {
    model: 'scripted/some-model',
    messages: [
      { role: 'system', content: 'Answer as JSON.' },
      { role: 'user', content: SECRET_WORDS },
    ],
    json: false,
    outputTokensMax: 500,
    signal: new AbortController().signal,
    ...fields,
  }
}

/** Everything that could be shown or logged of an error. */
export function shown(error: AppError): string {
  const texts: string[] = []
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    texts.push(each.message, JSON.stringify(each instanceof AppError ? each.facts : {}))
  }
  return texts.join('\n')
}
