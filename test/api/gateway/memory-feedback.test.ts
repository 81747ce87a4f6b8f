/** A memory that is recalled, quoted and sent back must not become another memory. */
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import type { Engine } from '../../../src/engine/engine.ts'
import { askFor, historyIn, requestOf, type Spoken } from './support/client-conversation.ts'
import { FENCE, OWNER, setUpGateway } from './support/gateway-harness.ts'
import type { Received } from './support/scripted-upstream.ts'
import { PATH_FORMATS, PATHS, type PathFormat, speak } from './support/wire-format.ts'

const TURNS = 200

/** What the person tells about themselves, and when. Everything else is talk. */
const FACTS: Readonly<Record<number, string>> = {
  1: 'My name is Ada.',
  3: 'I prefer jasmine tea over coffee.',
  10: 'I live in Fuzhou.',
  25: 'We decided to use pnpm for this repository.',
  40: 'I work as a lighthouse keeper.',
  90: 'I prefer green tea over jasmine tea.',
  150: 'I am allergic to peanuts.',
}
const TALK = [
  'What tea do I prefer?',
  'Where do I live again, and what is my name?',
  'What did we decide to use for this repository?',
  'What do I work as?',
  'Tell me what I am allergic to.',
]

function said(turn: number): string {
  return FACTS[turn] ?? TALK[turn % TALK.length] ?? ''
}

/** Quotes everything it was given: with its fence, in its own voice, and in the person's. */
function parrot(format: PathFormat, { body }: Received): string {
  const last = historyIn(format, body).findLast(({ role }) => role === 'user')?.content ?? ''
  const at = last.indexOf(FENCE)
  if (at < 0) return 'I see.'
  const block = last.slice(at)
  const lines = block
    .split('\n')
    .filter((line) => line.startsWith('- '))
    .map((line) => line.slice(2).replace(/ \(\d{4}-\d\d-\d\d\)$/, ''))
  return [
    `This is what I was given:\n\n${block}`,
    `You told me: ${lines.join(' ')}`,
    ...lines,
  ].join('\n\n')
}

async function contents(engine: Engine, owner: string): Promise<readonly string[]> {
  const found: string[] = []
  let after: string | undefined
  do {
    const page = await engine.list(
      { owner },
      { limit: 100, ...(after === undefined ? {} : { after }) },
    )
    found.push(...page.rows.map(({ content }) => content))
    after = page.next ?? undefined
  } while (after !== undefined)
  return found.sort()
}

/** What stays of the facts when they are told without a gateway. */
async function expected(): Promise<readonly string[]> {
  const engine = await createEngine({ embedding: false })
  for (let turn = 1; turn <= TURNS; turn++) await engine.learn({ owner: OWNER }, said(turn))
  const learned = await contents(engine, OWNER)
  await engine.close()
  return learned
}

describe.each(PATH_FORMATS)('%s', (format) => {
  it(`[GW9] learns the facts and nothing else in ${TURNS} turns that are echoed back`, async () => {
    const facts = await expected()
    expect(facts.length).toBeGreaterThanOrEqual(5)
    const setup = await setUpGateway('memory off', { settings: { 'gateway.enabled': true } })
    const { upstream, engine } = setup
    upstream.respond((request) => speak(request, { text: parrot(format, request) }))
    let history: readonly Spoken[] = []
    let injected = 0
    for (let turn = 1; turn <= TURNS; turn++) {
      const asked = [...history, { role: 'user' as const, content: said(turn) }]
      const response = await askFor(setup, PATHS[format], requestOf(format, asked))
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      await engine.conversations.flush()
      const received = upstream.last()
      if (received.text.includes(FENCE)) injected++
      // The client keeps what the model saw, block and all, and what it answered.
      const answered = { role: 'assistant' as const, content: parrot(format, received) }
      history = [...historyIn(format, received.body), answered]
      upstream.clear()
    }
    expect(injected).toBeGreaterThan(TURNS / 2)
    expect(await contents(engine, OWNER)).toEqual(facts)
  }, 120_000)
})
