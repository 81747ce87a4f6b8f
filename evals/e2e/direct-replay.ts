/** Replays through the engine: `ingest` writes, and `conversations.prepare` reads as the gateway does. */
import { WIRE_FORMATS } from '../../src/api/gateway/formats/index.ts'
import type { Embedder } from '../../src/models/embedder.ts'
import { countItems, messagesOf, OWNER, openReplayEngine, type Replay } from './replay.ts'

export interface DirectReplay extends Replay {
  /** Stores a memory as a program that uses the library does. */
  remember(content: string, at: number): Promise<void>
}

export async function openDirectReplay(embedder: Embedder | null): Promise<DirectReplay> {
  const { engine, setNow, setBudget, settle, findInjected } = await openReplayEngine(embedder)
  let questionCount = 0
  return {
    remember: async (content, at) => {
      setNow(at)
      await engine.remember({ owner: OWNER }, { content })
    },
    write: async (conversations) => {
      for (const { name, at, exchanges } of conversations) {
        setNow(at)
        await engine.learning.ingest({
          owner: OWNER,
          conversation: name,
          turns: exchanges.map(({ user, assistant }) => ({
            user: user.text,
            assistant: assistant?.text ?? null,
          })),
          sessionDate: at,
        })
      }
      await settle(conversations)
    },
    ask: async (question) => {
      setNow(question.at)
      await setBudget(question.budget)
      questionCount++
      const messages = messagesOf(question)
      const prepared = await engine.conversations.prepare({
        requestId: `question-${questionCount}`,
        scope: { owner: OWNER, session: `question-${questionCount}` },
        format: 'chat',
        model: 'gpt-test',
        provider: 'openai',
        request: WIRE_FORMATS.chat.parseRequest({ model: 'gpt-test', messages }),
        contextWindow: null,
        options: { memory: true, inject: true, extract: false },
        signal: new AbortController().signal,
      })
      engine.conversations.recordOutcome(prepared, {
        placement: prepared.block === null ? null : 'turn-end',
        skipped: prepared.skipped,
        status: 200,
        answer: null,
        firstByteMs: null,
        totalMs: 0,
        toolCalls: [],
      })
      const { receipt: id } = prepared
      const receipt =
        id === null ? null : await engine.conversations.receipts.get({ owner: OWNER }, id)
      return {
        block: prepared.block,
        tokens: prepared.tokens,
        items: countItems(prepared.count, receipt),
        ...(await findInjected(receipt)),
        skipped: prepared.skipped,
        degraded: prepared.degraded,
        prepareMs: receipt?.timings.prepareMs ?? 0,
      }
    },
    close: () => engine.close(),
  }
}
