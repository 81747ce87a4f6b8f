/**
 * Measures how the write path classifies a new statement against a stored one, on hand-labeled pairs
 * (`contradiction/pairs.ts`).
 *
 * Each pair goes through `remember`: an owner of its own, the older statement, then the newer one. Once with keyword search
 * only, and once with the built-in model, whose vectors may add candidates. Misses are listed for the tuning pairs only.
 */

import { createIdGenerator } from '../src/app/id-generator.ts'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import { createEngineWith, type Engine } from '../src/engine/engine.ts'
import type { Instant } from '../src/lib/time.ts'
import { createInMemoryStore } from '../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../src/storage/in-memory/in-memory-vector-index.ts'
import {
  LABELED_PAIRS,
  type LabeledPair,
  PAIR_LABELS,
  PAIR_LANGUAGES,
  PAIR_SETS,
  type PairLabel,
  type PairSet,
} from './contradiction/pairs.ts'
import { above, atLeast, below, type EvalOptions, type EvalReport, type Table } from './report.ts'

const FALSE_SUPERSEDE_BELOW = 0.01
const DUPLICATES_CAUGHT_ABOVE = 0.9

/** Floors for the held-out pairs, as measured: rules are not tuned on them, and must not get worse. */
export const UNSEEN_DUPLICATES_CAUGHT = 0.67
const FIRST_AT = Date.parse('2026-01-05T09:00:00Z')
const SECOND_AT = Date.parse('2026-02-09T09:00:00Z')
const MINUTE_MS = 60_000

type Outcome = Awaited<ReturnType<Engine['remember']>>['outcome']

export type Judged = LabeledPair & { readonly answered: PairLabel }

export type ContradictionScore = {
  readonly pairs: number
  /** The share of pairs without a replacement (no change, or an unclear conflict) that were decided as one. */
  readonly falseSupersede: number
  readonly duplicatesCaught: number
  readonly updatesCaught: number
  readonly conflictsSeen: number
  readonly unrelatedKept: number
}

export async function evaluateContradiction(options: EvalOptions): Promise<EvalReport> {
  const byWords = await judgePairs('words')
  const byMeaning = await judgePairs('meaning')
  const promised = [byWords, byMeaning].flatMap((judged) => [
    scoreContradictions(judged),
    scoreContradictions(inSet(judged, 'heldOut')),
  ])
  const unseen = [byWords, byMeaning].map((judged) => scoreContradictions(inSet(judged, 'unseen')))
  const perSet = PAIR_SETS.map((set) => named(set, scoreContradictions(inSet(byMeaning, set))))
  const perLanguage = PAIR_LANGUAGES.map((language) =>
    named(language, scoreContradictions(byMeaning.filter((pair) => pair.language === language))),
  )
  return {
    eval: 'contradiction',
    metrics: {
      ...scoreContradictions(byMeaning),
      ...named('words', scoreContradictions(byWords)),
      ...Object.assign({}, ...perSet, ...perLanguage),
    },
    tables: [
      ...tablesOf('lexical only', byWords),
      ...tablesOf('with the built-in model', byMeaning),
      toConfusionTable(byMeaning),
      ...(options.explain ? [toMissesTable(inSet(byMeaning, 'development'))] : []),
    ],
    floors: [
      below(
        'falseSupersede',
        Math.max(...[...promised, ...unseen].map((score) => score.falseSupersede)),
        FALSE_SUPERSEDE_BELOW,
      ),
      above(
        'duplicatesCaught',
        Math.min(...promised.map((score) => score.duplicatesCaught)),
        DUPLICATES_CAUGHT_ABOVE,
      ),
      atLeast(
        'duplicatesCaught.unseen',
        Math.min(...unseen.map((score) => score.duplicatesCaught)),
        UNSEEN_DUPLICATES_CAUGHT,
      ),
    ],
  }
}

/** Writes all older statements first, so that they have vectors before the newer ones are written. */
export async function judgePairs(
  by: 'words' | 'meaning',
  pairs: readonly LabeledPair[] = LABELED_PAIRS,
): Promise<readonly Judged[]> {
  const store = createInMemoryStore()
  const embedder = by === 'meaning' ? openEmbedder({ source: 'transformers' }) : null
  let now = FIRST_AT
  const engine = createEngineWith({
    store,
    clock: {
      now: () => now as Instant,
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    },
    ids: createIdGenerator(),
    settings: {},
    ...(embedder === null ? {} : { embedder, vectors: createInMemoryVectorIndex(store) }),
  })
  try {
    for (const [index, { older }] of pairs.entries()) {
      await engine.remember({ owner: `pair ${index}` }, { content: older })
    }
    if (embedder !== null) await engine.admin.reindex()
    const judged: Judged[] = []
    for (const [index, pair] of pairs.entries()) {
      // Far enough apart for the circuit breaker of a late model to close.
      now = SECOND_AT + index * MINUTE_MS * 2
      const { outcome } = await engine.remember({ owner: `pair ${index}` }, { content: pair.newer })
      judged.push({ ...pair, answered: labelOf(outcome) })
    }
    return judged
  } finally {
    await engine.close()
  }
}

function labelOf(outcome: Outcome): PairLabel {
  switch (outcome) {
    case 'create':
      return 'unrelated'
    case 'supersede':
      return 'update'
    // Without a key, only a restatement with further details updates a memory in place.
    case 'update':
    case 'duplicate':
      return 'duplicate'
    case 'conflict':
      return 'conflict'
  }
}

export function scoreContradictions(judged: readonly Judged[]): ContradictionScore {
  const nothingToReplace = judged.filter(({ label }) => label !== 'update')
  return {
    pairs: judged.length,
    falseSupersede: share(nothingToReplace, ({ answered }) => answered === 'update', 0),
    duplicatesCaught: rightShare(judged, 'duplicate'),
    updatesCaught: rightShare(judged, 'update'),
    conflictsSeen: rightShare(judged, 'conflict'),
    unrelatedKept: rightShare(judged, 'unrelated'),
  }
}

function rightShare(judged: readonly Judged[], label: PairLabel): number {
  const meant = judged.filter((pair) => pair.label === label)
  return share(meant, ({ answered }) => answered === label, 1)
}

function share(pairs: readonly Judged[], holds: (pair: Judged) => boolean, ofNone: number): number {
  return pairs.length === 0 ? ofNone : pairs.filter(holds).length / pairs.length
}

function inSet(judged: readonly Judged[], set: PairSet): readonly Judged[] {
  return judged.filter((pair) => pair.set === set)
}

function named(name: string, score: ContradictionScore): Record<string, number> {
  return Object.fromEntries(Object.entries(score).map(([key, value]) => [`${key}.${name}`, value]))
}

function tablesOf(how: string, judged: readonly Judged[]): readonly Table[] {
  return [
    toTable(`Pairs that rules were tuned on, ${how}`, inSet(judged, 'development')),
    toTable(`Pairs held out, ${how}`, inSet(judged, 'heldOut')),
    toTable(`Pairs written when the rules stood, ${how}`, inSet(judged, 'unseen')),
  ]
}

function toTable(title: string, judged: readonly Judged[]): Table {
  const rows = [
    ...PAIR_LANGUAGES.map(
      (language) => [language, judged.filter((pair) => pair.language === language)] as const,
    ),
    ['all', judged] as const,
  ]
  return {
    title,
    columns: [
      'language',
      'pairs',
      'false supersede',
      'duplicates',
      'updates',
      'conflicts',
      'kept apart',
    ],
    rows: rows.map(([name, some]) => {
      const score = scoreContradictions(some)
      return [
        name,
        score.pairs,
        score.falseSupersede,
        score.duplicatesCaught,
        score.updatesCaught,
        score.conflictsSeen,
        score.unrelatedKept,
      ]
    }),
  }
}

function toConfusionTable(judged: readonly Judged[]): Table {
  return {
    title: 'What was labelled (down) and answered (across)',
    columns: ['label', ...PAIR_LABELS],
    rows: PAIR_LABELS.map((label) => [
      label,
      ...PAIR_LABELS.map(
        (answered) =>
          judged.filter((pair) => pair.label === label && pair.answered === answered).length,
      ),
    ]),
  }
}

function toMissesTable(judged: readonly Judged[]): Table {
  return {
    title: 'Misses among the pairs that may be tuned on',
    columns: ['language', 'label', 'answered', 'older', 'newer'],
    rows: judged
      .filter((pair) => pair.label !== pair.answered)
      .map(({ language, label, answered, older, newer }) => [
        language,
        label,
        answered,
        older,
        newer,
      ]),
  }
}
