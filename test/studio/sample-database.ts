/** A database with some weeks of one person's life in it: talks, memories, receipts, doubts, files and background work. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createIdGenerator } from '../../src/app/id-generator.ts'
import type { OwnerId } from '../../src/domain/ids.ts'
import { createEngineWith, type Engine } from '../../src/engine/engine.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { answerOf, clientOf } from '../conversations/conversations-support.ts'
import { FakeClock } from '../fakes/clock.ts'
import { ScriptedModel } from '../fakes/language-model.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import {
  CONFLICT,
  KNOWN,
  NARRATIVE,
  NOTES,
  QUESTIONS,
  SUSPECT,
  TALKS,
  type Talk,
} from './sample-texts.ts'

const DAY_MS = 86_400_000
const DAYS = 30
const DOUBTS_DAYS_AGO = 6
const OWNER = { owner: 'default' }
const MODELS = ['openai/gpt-5-mini', 'anthropic/claude-sonnet', 'ollama/qwen3'] as const

type Life = {
  readonly engine: Engine
  /** Moves the clock to so many days before now, and no way back. */
  readonly goTo: (daysAgo: number) => void
  readonly ask: ReturnType<typeof clientOf>['ask']
}

export async function fillHousehold(path: string, now = Date.now()): Promise<void> {
  const clock = new FakeClock(now - DAYS * DAY_MS)
  const engine = createEngineWith({
    store: await openSqliteStore({ path, now: () => clock.now() }),
    clock,
    ids: createIdGenerator(),
    settings: { 'gateway.contextTimeoutMs': 30_000, 'learning.extractionMode': 'manual' },
    languageModel: new ScriptedModel(
      ...TALKS.filter(({ daysAgo }) => daysAgo > DOUBTS_DAYS_AGO).map(learnedFrom),
      NARRATIVE,
      ...TALKS.filter(({ daysAgo }) => daysAgo <= DOUBTS_DAYS_AGO).map(learnedFrom),
    ),
  })
  await engine.admin.settings.change('default' as OwnerId, { 'gateway.enabled': true })
  await engine.admin.settings.change(null, { 'learning.extractionModel': 'anthropic/claude-haiku' })
  const goTo = (daysAgo: number) => {
    clock.advance(Math.max(0, now - daysAgo * DAY_MS - clock.now()))
  }
  const life = { engine, goTo, ask: clientOf(engine).ask }
  await live(life)
  await engine.close()
}

async function live(life: Life): Promise<void> {
  const { engine, goTo } = life
  let asked = 0
  for (let daysAgo = DAYS - 1; daysAgo >= 0; daysAgo--) {
    goTo(daysAgo + 0.5)
    for (const known of KNOWN.filter((_, index) => index % 8 === daysAgo % 8 && daysAgo > 20)) {
      await engine.remember(OWNER, { ...known, entities: [...known.entities] })
    }
    for (const talk of TALKS) if (talk.daysAgo === daysAgo) await have(life, talk)
    goTo(daysAgo + 0.2)
    for (let time = 0; time < 1 + ((daysAgo * 7) % 4); time++) await askAgain(life, asked++)
    if (daysAgo === DOUBTS_DAYS_AGO) await leaveDoubts(engine)
  }
}

/** A talk that is recorded as it goes, and distilled when it is over. */
async function have({ engine, ask }: Life, { session, model, said }: Talk): Promise<void> {
  const scope = { ...OWNER, session }
  const before: string[] = []
  for (const [user, assistant] of said) {
    const usage = { input: 900 + user.length * 3, output: assistant.length, cached: null }
    await ask([...before, user], answerOf(assistant, { usage }), { scope, model })
    before.push(user, assistant)
  }
  await engine.learning.distill(scope)
}

async function askAgain({ ask }: Life, time: number): Promise<void> {
  const question = QUESTIONS[time % QUESTIONS.length] ?? ''
  const usage = {
    input: 700 + ((time * 137) % 900),
    output: 90 + ((time * 61) % 300),
    cached: null,
  }
  await ask([question], answerOf('Here you are.', { usage }), {
    scope: { ...OWNER, session: `ask-${time % 3}` },
    model: MODELS[((time * 5) % 7) % MODELS.length] ?? MODELS[0],
    wants: { extract: false },
  })
}

async function leaveDoubts(engine: Engine): Promise<void> {
  for (const content of CONFLICT) await engine.remember(OWNER, { content, category: 'fact' })
  for (const content of SUSPECT) await engine.remember(OWNER, { content, trust: 'suspect' })
  const { rows } = await engine.list(OWNER, { contains: 'Trieste, above' })
  const home = rows[0]?.id ?? ''
  await engine.edit(OWNER, home, { content: 'I live in Trieste, above the bakery of Bruna' })
  await engine.edit(OWNER, home, { importance: 8, pinned: true })
  await engine.remember({ owner: 'workshop' }, { content: 'The alarm code is kept in the safe' })
  await engine.learning.consolidate(OWNER)
}

function learnedFrom({ summary, topics, decisions, actionItems, facts }: Talk): object {
  return {
    episode: { summary, topics, decisions, actionItems },
    facts: facts.map((fact) => ({ ...fact, turns: [0] })),
    identity: ['Nell Varga repairs clocks in Trieste'],
  }
}

/** A folder with notes, as a workspace has them. */
export function notesFolder(): string {
  const folder = join(temporaryFolder(), 'notes')
  for (const [name, text] of Object.entries(NOTES)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return folder
}
