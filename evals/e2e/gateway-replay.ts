/**
 * Replays through the HTTP gateway: every exchange is a chat completion with the history so far, which a scripted
 * upstream answers with the recorded assistant turn. What counts is the prompt that the upstream receives.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readProviders } from '../../src/app/config/providers-file.ts'
import { serveWithGateway } from '../../src/app/gateway-mount.ts'
import { serve } from '../../src/app/serve.ts'
import { FENCE_CLOSE, FENCE_OPEN } from '../../src/domain/context-block.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { openUpstream, type Upstream } from '../../test/api/gateway/support/scripted-upstream.ts'
import { PATHS, speak } from '../../test/api/gateway/support/wire-format.ts'
import type { ReplayedConversation } from './conversations.ts'
import {
  countItems,
  type Message,
  messagesOf,
  type OpenReplay,
  OWNER,
  openReplayEngine,
} from './replay.ts'

const MODEL = 'gpt-test'
/** Between two exchanges of a conversation. */
const EXCHANGE_MS = 60_000

export const openGatewayReplay: OpenReplay = async (embedder) => {
  const { engine, setNow, setBudget, settle, findInjected } = await openReplayEngine(embedder)
  const upstream = await openUpstream()
  const gateway = await openGateway(engine, upstream)
  const replayOne = async ({ at, exchanges }: ReplayedConversation) => {
    const history: Message[] = []
    for (const [index, { user, assistant }] of exchanges.entries()) {
      setNow(at + index * EXCHANGE_MS)
      history.push({ role: 'user', content: user.text })
      upstream.queue((request) => speak(request, { text: assistant?.text ?? '' }))
      await gateway.complete(history)
      if (assistant !== null) history.push({ role: 'assistant', content: assistant.text })
      await engine.conversations.flush()
      upstream.clear()
    }
  }
  return {
    write: async (conversations) => {
      for (const conversation of conversations) await replayOne(conversation)
      await settle(conversations)
    },
    ask: async (question) => {
      setNow(question.at)
      await setBudget(question.budget)
      upstream.clear()
      const header = await gateway.complete(messagesOf(question), {
        'x-recollect-no-extract': 'true',
      })
      const fields = parseMemoryHeader(header)
      const { receipt: id = null } = fields
      const receipt =
        id === null ? null : await engine.conversations.receipts.get({ owner: OWNER }, id)
      return {
        block: blockIn(upstream.last().body),
        tokens: Number(fields.tokens ?? 0),
        items: countItems(Number(fields.count ?? 0), receipt),
        ...(await findInjected(receipt)),
        skipped: fields.reason ?? null,
        degraded: receipt?.degraded ?? [],
        prepareMs: receipt?.timings.prepareMs ?? 0,
      }
    },
    close: async () => {
      await gateway.close()
      await upstream.close()
      await engine.close()
    },
  }
}

async function openGateway(engine: Engine, upstream: Upstream) {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-eval-'))
  const path = join(folder, 'providers.json')
  const openai = { kind: 'openai', baseUrl: `${upstream.url}/v1`, key: 'sk-upstream' }
  writeFileSync(path, JSON.stringify({ providers: { openai } }), { mode: 0o600 })
  const registry = readProviders({ path, isNamed: true, environment: {} })
  rmSync(folder, { recursive: true })
  const serving = await serveWithGateway(
    { host: '127.0.0.1', port: 0, version: '0.0.0', engine, graceMs: 500 },
    { registry },
    serve,
  )
  const { secret } = await engine.admin.keys.create({
    name: 'eval',
    defaultOwner: OWNER,
    role: 'agent',
  })
  return {
    /** The header that says what memory did. */
    complete: async (
      messages: readonly Message[],
      headers: Readonly<Record<string, string>> = {},
    ) => {
      const response = await fetch(`${serving.url}${PATHS.chat}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${secret}`,
          ...headers,
        },
        body: JSON.stringify({ model: MODEL, messages }),
      })
      const body = await response.text()
      if (!response.ok) throw new Error(`The gateway answered ${response.status}: ${body}`)
      return response.headers.get('x-recollect-memory') ?? ''
    },
    close: () => serving.close(),
  }
}

/** `injected; count=1; tokens=40; receipt=rcp_…` */
function parseMemoryHeader(header: string): {
  readonly [name in 'count' | 'tokens' | 'receipt' | 'reason']?: string
} {
  const fields = header.split(';').map((field) => field.trim().split('='))
  return Object.fromEntries(fields.filter(({ length }) => length === 2))
}

/** The block in the last user message of a request. */
function blockIn(body: unknown): string | null {
  const { messages = [] } = body as { readonly messages?: readonly Message[] } // as the gateway sends it
  const prompt = messages.map(({ content }) => content).join('\n')
  const start = prompt.indexOf(FENCE_OPEN)
  const end = prompt.indexOf(FENCE_CLOSE, start)
  return start < 0 || end < 0 ? null : prompt.slice(start, end + FENCE_CLOSE.length)
}
