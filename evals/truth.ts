/**
 * How well writing tells what a new statement is to what is known, on pairs labelled by hand (`truth/pairs.ts`).
 *
 * Each pair goes the real way: an owner of its own, the older statement remembered, then the newer one, and what became
 * of it. Twice: with words alone, and with the built-in model, whose neighbours may bring in other candidates. What is
 * missed is shown of the pairs that rules may be tuned on only.
 */

import { createIdGenerator } from '../src/app/id-generator.ts'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import { createEngineWith, type Engine } from '../src/engine/engine.ts'
import type { Instant } from '../src/lib/time.ts'
import { createInMemoryStore } from '../src/storage/in-memory/in-memory-store.ts'
import { createInMemoryVectorIndex } from '../src/storage/in-memory/in-memory-vector-index.ts'
import { above, atLeast, below, type EvalOptions, type EvalReport, type Table } from './report.ts'
import {
  TRUTH_LABELS,
  TRUTH_LANGUAGES,
  TRUTH_PAIRS,
  TRUTH_SETS,
  type TruthLabel,
  type TruthPair,
  type TruthSet,
} from './truth/pairs.ts'

const FALSE_SUPERSEDE_BELOW = 0.01
const DUPLICATES_CAUGHT_ABOVE = 0.9

/** Of wording that no rule was made for. It is what they reach: rules are not tuned on these pairs, and must not get worse. */
export const UNSEEN_DUPLICATES_CAUGHT = 0.67
const FIRST_AT = Date.parse('2026-01-05T09:00:00Z')
const SECOND_AT = Date.parse('2026-02-09T09:00:00Z')
const MINUTE_MS = 60_000

type Outcome = Awaited<ReturnType<Engine['remember']>>['outcome']

export type Judged = TruthPair & { readonly answered: TruthLabel }

export type TruthScore = {
  readonly pairs: number
  /** Of the pairs where nothing is to be replaced, because nothing changed or nobody knows which one holds: the share where it was. */
  readonly falseSupersede: number
  readonly duplicatesCaught: number
  readonly updatesCaught: number
  readonly conflictsSeen: number
  readonly unrelatedKept: number
}

export async function evaluateTruth(options: EvalOptions): Promise<EvalReport> {
  const byWords = await judgePairs('words')
  const byMeaning = await judgePairs('meaning')
  const promised = [byWords, byMeaning].flatMap((judged) => [
    scoreTruth(judged),
    scoreTruth(inSet(judged, 'heldOut')),
  ])
  const unseen = [byWords, byMeaning].map((judged) => scoreTruth(inSet(judged, 'unseen')))
  const perSet = TRUTH_SETS.map((set) => named(set, scoreTruth(inSet(byMeaning, set))))
  const perLanguage = TRUTH_LANGUAGES.map((language) =>
    named(language, scoreTruth(byMeaning.filter((pair) => pair.language === language))),
  )
  return {
    eval: 'truth',
    metrics: {
      ...scoreTruth(byMeaning),
      ...named('words', scoreTruth(byWords)),
      ...Object.assign({}, ...perSet, ...perLanguage),
    },
    tables: [
      ...tablesOf('with words alone', byWords),
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

/** All older statements first, so that with a model they can get their vectors before the newer ones come. */
export async function judgePairs(
  by: 'words' | 'meaning',
  pairs: readonly TruthPair[] = TRUTH_PAIRS,
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
      // Far enough apart that a model that was late once is asked again.
      now = SECOND_AT + index * MINUTE_MS * 2
      const { outcome } = await engine.remember({ owner: `pair ${index}` }, { content: pair.newer })
      judged.push({ ...pair, answered: labelOf(outcome) })
    }
    return judged
  } finally {
    await engine.close()
  }
}

function labelOf(outcome: Outcome): TruthLabel {
  switch (outcome) {
    case 'create':
      return 'unrelated'
    case 'supersede':
      return 'update'
    // Without a key, a memory is updated in place only when the same is said with more about it.
    case 'update':
    case 'duplicate':
      return 'duplicate'
    case 'conflict':
      return 'conflict'
  }
}

export function scoreTruth(judged: readonly Judged[]): TruthScore {
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

function rightShare(judged: readonly Judged[], label: TruthLabel): number {
  const meant = judged.filter((pair) => pair.label === label)
  return share(meant, ({ answered }) => answered === label, 1)
}

function share(pairs: readonly Judged[], holds: (pair: Judged) => boolean, ofNone: number): number {
  return pairs.length === 0 ? ofNone : pairs.filter(holds).length / pairs.length
}

function inSet(judged: readonly Judged[], set: TruthSet): readonly Judged[] {
  return judged.filter((pair) => pair.set === set)
}

function named(name: string, score: TruthScore): Record<string, number> {
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
    ...TRUTH_LANGUAGES.map(
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
      const score = scoreTruth(some)
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
    columns: ['label', ...TRUTH_LABELS],
    rows: TRUTH_LABELS.map((label) => [
      label,
      ...TRUTH_LABELS.map(
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
