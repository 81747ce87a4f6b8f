/** The cost of recording a turn: from the end of a request until its commit. */

import { createIdGenerator } from '../../src/app/id-generator.ts'
import { systemClock } from '../../src/app/system-clock.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import type { Change } from '../../src/storage/store.ts'
import { Texts } from '../texts.ts'
import { OWNER, type Shape } from './owner.ts'

const EXCHANGES = 2_000
const EXCHANGES_PER_SESSION = 10
const WARM_UP = 200

export type Recorded = {
  /** Until the turns are in the store, with the signal and the job: reads, the decision, and one commit. */
  readonly keepMs: readonly number[]
  /** Of the commit. */
  readonly commitMs: readonly number[]
  /** Until all that the request leaves behind is there: what patterns learn from it, and its receipt. */
  readonly wholeMs: readonly number[]
  /** Commits that hold turns, for each exchange. */
  readonly commits: number
}

export async function measureRecording(input: Shape): Promise<Recorded> {
  const store = await openSqliteStore({ path: input.path, now: Date.now })
  const lastCommit = { commits: 0, commitMs: 0, at: 0 }
  const watched = {
    ...store,
    commit: async (changes: readonly Change[]) => {
      const began = performance.now()
      const outcome = await store.commit(changes)
      if (changes.some((change) => change.op === 'put' && change.table === 'turn')) {
        lastCommit.commits++
        lastCommit.at = performance.now()
        lastCommit.commitMs = lastCommit.at - began
      }
      return outcome
    },
  }
  const settings = {
    'gateway.enabled': true,
    'gateway.contextEnabled': false,
    'learning.extractionModel': 'bench/core',
  }
  const engine = createEngineWith({
    store: watched,
    clock: systemClock,
    ids: createIdGenerator(),
    settings,
    languageModel: { complete: () => Promise.reject(new Error('Nobody runs jobs here.')) },
  })
  const texts = new Texts(input.seed)
  const messages: string[] = []
  const keepMs: number[] = []
  const commitMs: number[] = []
  const wholeMs: number[] = []
  for (let n = 0; n < WARM_UP + EXCHANGES; n++) {
    if (n % EXCHANGES_PER_SESSION === 0) messages.length = 0
    if (n === WARM_UP) lastCommit.commits = 0
    messages.push(texts.next())
    const answer = texts.next()
    const session = `session-${Math.floor(n / EXCHANGES_PER_SESSION)}`
    const began = await record(engine, session, messages, answer)
    if (n >= WARM_UP) {
      keepMs.push(lastCommit.at - began)
      commitMs.push(lastCommit.commitMs)
      wholeMs.push(performance.now() - began)
    }
    messages.push(answer)
  }
  await engine.close()
  return { keepMs, commitMs, wholeMs, commits: lastCommit.commits / EXCHANGES }
}

/** As the gateway does it: the client sends the conversation so far. Gives when the answer had ended. */
async function record(
  { conversations }: Engine,
  session: string,
  messages: readonly string[],
  answer: string,
): Promise<number> {
  const prepared = await conversations.prepare({
    requestId: 'req_bench',
    scope: { owner: OWNER, session },
    format: 'chat',
    model: 'bench/chat',
    provider: 'bench',
    contextWindow: null,
    signal: new AbortController().signal,
    request: {
      model: 'chat',
      isStreaming: false,
      endUser: null,
      instructions: '',
      exchanges: messages.flatMap((user, index) =>
        index % 2 === 0 ? [{ user, assistant: messages[index + 1] ?? null }] : [],
      ),
      toolResults: [],
      isMidAnswer: false,
      previousResponseId: null,
      conversationId: null,
      characters: messages.join('').length,
      outputTokensMax: null,
    },
    options: { memory: true, inject: false, extract: true },
  })
  const began = performance.now()
  conversations.recordOutcome(prepared, {
    placement: null,
    skipped: prepared.skipped,
    status: 200,
    answer: { id: null, text: answer, isComplete: true, usage: null },
    firstByteMs: 1,
    totalMs: 1,
    toolCalls: [],
  })
  await conversations.flush()
  return began
}
