/** Extraction tasks: a whole session, or facts only after each turn. */

import type { TurnId } from '../../domain/ids.ts'
import { PAGE_ROWS_MAX } from '../../domain/limits.ts'
import type { Memory } from '../../domain/memory.ts'
import type { Scope } from '../../domain/scope.ts'
import type { Turn } from '../../domain/turn.ts'
import { DAY_MS } from '../../lib/time.ts'
import type { MemoryDependencies } from '../../memory/types.ts'
import { pages } from '../../storage/access/row-pages.ts'
import { type Distillate, parseDistillate } from './distillate.ts'
import {
  buildDistillationPrompt,
  DISTILLATION_VERSION,
  type DistillationContext,
  type PromptMessage,
} from './distillation-prompt.ts'
import {
  buildTurnExtraction,
  EXTRACTED_TURNS_MAX,
  parseTurnFacts,
  TURN_EXTRACTION_VERSION,
} from './turn-prompt.ts'
import { type SelectedTurn, selectTurns } from './turn-selection.ts'

/** `session` extracts an episode, facts and identity statements; `turns` extracts facts from a few turns at a time. */
export type DistillationMode = 'session' | 'turns'

export type DistillationTask = {
  readonly messages: readonly PromptMessage[]
  /** The turns that the model may name as sources. */
  readonly shown: readonly SelectedTurn[]
  /** All turns of the prompt, including those that are only context. */
  readonly prompted: readonly SelectedTurn[]
  readonly isTrivial: boolean
  readonly version: string
  parse(text: string): Distillate
}

export function buildSessionTask(
  turns: readonly Turn[],
  context: DistillationContext,
): DistillationTask {
  const selection = selectTurns(turns)
  const shown = selection.turns.map(({ index }) => index)
  return {
    messages: buildDistillationPrompt(selection, context),
    shown: selection.turns,
    prompted: selection.turns,
    isTrivial: selection.isTrivial,
    version: DISTILLATION_VERSION,
    parse: (text) => parseDistillate(text, shown),
  }
}

/** `before` holds preceding turns as context. */
export function buildTurnsTask(before: readonly Turn[], turns: readonly Turn[]): DistillationTask {
  const isNew = new Set(turns.map(({ id }) => id))
  const all = [...before.slice(-Math.max(0, EXTRACTED_TURNS_MAX - turns.length)), ...turns]
  const extraction = buildTurnExtraction(all, ({ id }) => !isNew.has(id))
  const extracted = extraction?.extracted ?? []
  return {
    messages: extraction?.messages ?? [],
    shown: extracted,
    prompted: extraction?.prompted ?? [],
    isTrivial: extracted.every(({ text }) => text.trim() === ''),
    version: TURN_EXTRACTION_VERSION,
    parse: (text) => {
      const facts = parseTurnFacts(
        text,
        extracted.map(({ index }) => index),
      )
      return { episode: null, facts, identity: [], isEmpty: facts.length === 0, problems: [] }
    },
  }
}

const EPISODES_DAYS = 90
const EPISODES_MAX = 3
const IDENTITY_MAX = 20

/** Loads the background that the prompt needs: identity, recent episodes and the summary so far. */
export async function loadDistillationContext(
  { store, clock }: MemoryDependencies,
  home: Scope,
  turns: readonly Turn[],
  earlier: Memory | null,
  isContinued: boolean,
): Promise<DistillationContext> {
  const trusts = ['user', 'assistant', 'import', 'tool'] as const
  const known = { statuses: ['active'], trusts, validAt: clock.now() } as const
  const [identity, episodes] = await Promise.all([
    store.find('memory', home, {
      where: { ...known, categories: ['identity'] },
      limit: IDENTITY_MAX,
    }),
    store.find('memory', home, {
      where: {
        ...known,
        categories: ['episode'],
        createdFrom: (clock.now() - EPISODES_DAYS * DAY_MS) as Turn['saidAt'],
      },
      limit: EPISODES_MAX + 1,
    }),
  ])
  const statements = identity.rows.map(({ content }) => content).join(' ')
  return {
    happenedAt: turns[0]?.saidAt ?? clock.now(),
    identity: statements === '' ? null : statements,
    earlierEpisodes: episodes.rows
      .filter(({ id }) => id !== earlier?.id)
      .slice(0, EPISODES_MAX)
      .map(({ content }) => content),
    summarySoFar: isContinued ? (earlier?.content ?? null) : null,
  }
}

/** Rows per page when searching for preceding turns. */
const BEFORE_ROWS = 50

/** The last `count` turns before `turns`, in conversation order, without the excluded ones. */
export async function loadPrecedingTurns(
  { store }: MemoryDependencies,
  scope: Scope,
  {
    turns: [first],
    excluded,
    count,
  }: {
    readonly turns: readonly Turn[]
    readonly excluded: ReadonlySet<TurnId>
    readonly count: number
  },
): Promise<readonly Turn[]> {
  if (first === undefined || count <= 0) return []
  const loaded: Turn[] = []
  const query = { where: { disabled: false }, order: 'lastSaid', limit: BEFORE_ROWS } as const
  for await (const page of pages(store, 'turn', scope, query)) {
    loaded.push(
      ...page.filter(({ id, position }) => position < first.position && !excluded.has(id)),
    )
    if (loaded.length >= count) break
  }
  return loaded.sort(compareByPosition).slice(-count)
}

/** The existing enabled turns in conversation order. */
export async function loadTurns(
  { store }: MemoryDependencies,
  scope: Scope,
  ids: readonly TurnId[],
): Promise<readonly Turn[]> {
  const loaded: Turn[] = []
  for (let start = 0; start < ids.length; start += PAGE_ROWS_MAX) {
    const batch = ids.slice(start, start + PAGE_ROWS_MAX)
    const where = { ids: batch, disabled: false }
    const { rows } = await store.find('turn', scope, { where, limit: batch.length })
    loaded.push(...rows)
  }
  return loaded.sort(compareByPosition)
}

function compareByPosition(a: Turn, b: Turn): number {
  return a.position - b.position || a.saidAt - b.saidAt
}
