/**
 * `npm run eval -- truth`: what memory holds after facts have changed, through the real write path.
 *
 * Three parts, each with cases that rules may be tuned on (`truth/`, `contradiction/`) and cases by somebody who has not
 * seen the rules (`unseen-truth/`). Of the latter only totals are printed, also with `--explain`.
 *
 * - Pairs: an older and a newer statement of one person, with keyword search alone and with the built-in model.
 * - Chains: several statements in order, then the memories in force.
 * - Conversations: sent through the HTTP gateway in order, then a question about each fact in a new session.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createIdGenerator } from '../src/app/id-generator.ts'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import { createEngineWith, type Engine } from '../src/engine/engine.ts'
import { DAY_MS, HOUR_MS, type Instant } from '../src/lib/time.ts'
import { compareStatements } from '../src/memory/contradiction/statements.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { createInMemoryStore } from '../src/storage/in-memory/in-memory-store.ts'
import { STOP_WORDS } from '../src/text/search/stopwords.ts'
import {
  LABELED_PAIRS,
  type LabeledPair,
  PAIR_LABELS,
  type PairLabel,
} from './contradiction/pairs.ts'
import { type Judged, judgePairs, scoreContradictions } from './contradiction.ts'
import { openGatewayReplay } from './e2e/gateway-replay.ts'
import { BUDGET } from './e2e/measure.ts'
import { evalEmbedding } from './haystack.ts'
import { below, type EvalOptions, type EvalReport, type Table, timeLeft } from './report.ts'

const PARTS = ['development', 'unseen'] as const
type Part = (typeof PARTS)[number]

const FOLDERS: Readonly<Record<Part, string>> = {
  development: join('evals', 'truth'),
  unseen: join('evals', 'unseen-truth'),
}

const FALSE_SUPERSEDE_BELOW = 0.01

type Chain = {
  readonly statements: readonly string[]
  /** The statements that hold at the end. */
  readonly current: readonly number[]
  readonly lang: string
}

type Person = {
  readonly person: string
  readonly conversations: readonly {
    readonly at: string
    readonly exchanges: readonly { readonly user: string; readonly assistant: string }[]
  }[]
  readonly facts: readonly Fact[]
  readonly then: readonly {
    readonly question: string
    readonly asOf: string
    readonly expected: string
  }[]
}

type Fact = {
  readonly slot: string
  readonly current: string
  readonly outdated: readonly string[]
  readonly question: string
}

export async function evaluateTruth(options: EvalOptions): Promise<EvalReport> {
  const pairs = await readPairs()
  const byWords = await judgePairs('words', pairs)
  const byMeaning = await judgePairs('meaning', pairs)
  const chains = await Promise.all(PARTS.map((part) => judgeChains(part)))
  const blocks = await judgeConversations(options)
  const falseSupersede = [byWords, byMeaning].flatMap((judged) =>
    PARTS.map((part) => countFalseSupersede(inPart(judged, part)).share),
  )
  return {
    eval: 'truth',
    metrics: Object.fromEntries(
      PARTS.flatMap((part) => {
        const score = scoreContradictions(inPart(byMeaning, part))
        return [
          [`updatesCaught.${part}`, score.updatesCaught],
          [`duplicatesCaught.${part}`, score.duplicatesCaught],
          [`falseSupersede.${part}`, countFalseSupersede(inPart(byMeaning, part)).share],
        ]
      }),
    ),
    tables: [
      toPairTable('Pairs, keyword search alone', byWords),
      toPairTable('Pairs, with the built-in model', byMeaning),
      toChainTable(chains.flat()),
      toBlockTable(blocks),
      ...(options.explain
        ? [
            toPairMisses(byMeaning.filter(({ set }) => set !== 'unseen')),
            toChainMisses(chains.flat().filter(({ part }) => part === 'development')),
            toBlockMisses(blocks.filter(({ part }) => part === 'development')),
          ]
        : []),
    ],
    floors: [below('falseSupersede', Math.max(...falseSupersede), FALSE_SUPERSEDE_BELOW)],
  }
}

async function readLines<Line>(part: Part, name: string): Promise<readonly Line[]> {
  const text = await readFile(join(FOLDERS[part], `${name}.jsonl`), 'utf8')
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => JSON.parse(line) as Line) // our own files
}

type PairLine = {
  readonly older: string
  readonly newer: string
  readonly label: 'update' | 'duplicate' | 'compatible' | 'conflict'
  readonly lang: LabeledPair['language']
}

/** The pairs of the contradiction eval are all development cases here. */
async function readPairs(): Promise<readonly LabeledPair[]> {
  const parts = await Promise.all(
    PARTS.map(async (set) => {
      const lines = await readLines<PairLine>(set, 'pairs')
      return lines.map(({ older, newer, label, lang }): LabeledPair => {
        const known = label === 'compatible' ? 'unrelated' : label
        return { older, newer, label: known, language: lang, set }
      })
    }),
  )
  const others = LABELED_PAIRS.map((pair): LabeledPair => ({ ...pair, set: 'heldOut' }))
  return [...parts.flat(), ...others]
}

/** The contradiction eval's pairs are marked `heldOut` above, to be told apart from the pairs of this eval. */
function inPart(judged: readonly Judged[], part: Part): readonly Judged[] {
  return judged.filter(({ set }) => (set === 'unseen') === (part === 'unseen'))
}

function countFalseSupersede(judged: readonly Judged[]) {
  const compatible = judged.filter(({ label }) => label === 'unrelated')
  const count = compatible.filter(({ answered }) => answered === 'update').length
  return {
    count,
    of: compatible.length,
    share: compatible.length === 0 ? 0 : count / compatible.length,
  }
}

const PAIR_PARTS = [
  ['this eval, development', ({ set }: Judged) => set === 'development'],
  ['contradiction sets', ({ set }: Judged) => set === 'heldOut'],
  ['unseen', ({ set }: Judged) => set === 'unseen'],
  ['unseen, English', ({ set, language }: Judged) => set === 'unseen' && language === 'en'],
  ['unseen, other languages', ({ set, language }: Judged) => set === 'unseen' && language !== 'en'],
] as const

function toPairTable(title: string, judged: readonly Judged[]): Table {
  return {
    title: `${title}: label (first), then how many were decided as each`,
    columns: ['part', 'label', 'pairs', ...PAIR_LABELS],
    rows: PAIR_PARTS.flatMap(([name, isIn]) =>
      PAIR_LABELS.map((label) => {
        const some = judged.filter((pair) => isIn(pair) && pair.label === label)
        const count = (answer: PairLabel) =>
          some.filter(({ answered }) => answered === answer).length
        return [name, label, some.length, ...PAIR_LABELS.map(count)]
      }),
    ),
  }
}

function toPairMisses(judged: readonly Judged[]): Table {
  return {
    title: 'Pairs decided differently',
    columns: ['label', 'answered', 'language', 'older', 'newer'],
    rows: judged
      .filter(({ label, answered }) => label !== answered)
      .map(({ label, answered, language, older, newer }) => [
        label,
        answered,
        language,
        older,
        newer,
      ]),
  }
}

type JudgedChain = Chain & {
  readonly part: Part
  readonly active: readonly string[]
  /** Current statements that no active memory holds. */
  readonly missing: number
  /** Active memories that no longer hold. */
  readonly outdated: number
}

const CHAIN_START = Date.parse('2025-01-06T09:00:00Z')
const CHAIN_STEP_MS = 30 * DAY_MS

async function judgeChains(part: Part): Promise<readonly JudgedChain[]> {
  const chains = await readLines<Chain>(part, 'chains')
  const { engine, setNow } = openPlainEngine()
  const judged: JudgedChain[] = []
  try {
    for (const [index, chain] of chains.entries()) {
      const scope = { owner: `chain ${index}` }
      for (const [step, content] of chain.statements.entries()) {
        setNow(CHAIN_START + step * CHAIN_STEP_MS)
        await engine.remember(scope, { content })
      }
      const { rows } = await engine.list(scope, { limit: 100 })
      const active = rows.filter(({ status }) => status === 'active').map(({ content }) => content)
      const current = chain.current.map((at) => chain.statements[at] ?? '')
      const saysSame = (a: string, b: string) => a === b || compareStatements(a, b).kind === 'same'
      judged.push({
        ...chain,
        part,
        active,
        missing: current.filter((each) => !active.some((memory) => saysSame(memory, each))).length,
        outdated: active.filter((memory) => !current.some((each) => saysSame(memory, each))).length,
      })
    }
    return judged
  } finally {
    await engine.close()
  }
}

function toChainTable(judged: readonly JudgedChain[]): Table {
  return {
    title: 'Chains',
    columns: [
      'part',
      'chains',
      'end right',
      'something current missing',
      'something outdated active',
    ],
    rows: PARTS.map((part) => {
      const some = judged.filter((chain) => chain.part === part)
      return [
        part,
        some.length,
        some.filter(({ missing, outdated }) => missing + outdated === 0).length,
        some.filter(({ missing }) => missing > 0).length,
        some.filter(({ outdated }) => outdated > 0).length,
      ]
    }),
  }
}

function toChainMisses(judged: readonly JudgedChain[]): Table {
  return {
    title: 'Chains that end wrong',
    columns: ['statements', 'current', 'active'],
    rows: judged
      .filter(({ missing, outdated }) => missing + outdated > 0)
      .map(({ statements, current, active }) => [
        statements.join(' → '),
        current.join(','),
        active.join(' + '),
      ]),
  }
}

type Line = { readonly text: string; readonly isMarked: boolean; readonly isOutdated: boolean }
type JudgedFact = {
  readonly part: Part
  readonly kind: 'changed' | 'unchanged' | 'then'
  readonly question: string
  readonly lines: readonly Line[]
  readonly isPresent: boolean
  /** Whether an outdated line without a mark is above the first current one. */
  readonly isStale: boolean
  readonly repeated: number
}

async function judgeConversations({ onProgress }: EvalOptions): Promise<readonly JudgedFact[]> {
  const embedder = openEmbedder(evalEmbedding())
  const judged: JudgedFact[] = []
  try {
    for (const part of PARTS) {
      const people = await readLines<Person>(part, 'conversations')
      const remaining = timeLeft(people.length)
      for (const [index, person] of people.entries()) {
        judged.push(...(await judgePerson(embedder, person, part)))
        onProgress?.(`truth, ${part}: people ${remaining(index + 1)}`)
      }
    }
    return judged
  } finally {
    await embedder?.close()
  }
}

async function judgePerson(
  embedder: Embedder | null,
  { person, conversations, facts, then }: Person,
  part: Part,
): Promise<readonly JudgedFact[]> {
  const said = (text: string) => ({ text, documents: [] })
  const replay = await openGatewayReplay(embedder)
  try {
    await replay.write(
      conversations.map(({ at, exchanges }) => ({
        name: `${person} ${at}`,
        at: Date.parse(at),
        exchanges: exchanges.map(({ user, assistant }) => ({
          user: said(user),
          assistant: said(assistant),
        })),
      })),
    )
    const askedAt = Math.max(...conversations.map(({ at }) => Date.parse(at))) + DAY_MS + HOUR_MS
    const ask = async (question: string) => {
      const { block } = await replay.ask({ text: question, at: askedAt, budget: BUDGET })
      return (block ?? '').split('\n').filter((line) => line.startsWith('- '))
    }
    const judged: JudgedFact[] = []
    for (const { question, current, outdated } of facts) {
      judged.push({
        part,
        kind: outdated.length > 0 ? 'changed' : 'unchanged',
        question,
        ...judgeLines(await ask(question), current, outdated),
      })
    }
    for (const { question, expected } of then) {
      judged.push({
        part,
        kind: 'then',
        question,
        ...judgeLines(await ask(question), expected, []),
      })
    }
    return judged
  } finally {
    await replay.close()
  }
}

function judgeLines(texts: readonly string[], current: string, outdated: readonly string[]) {
  const matches = (text: string, pattern: string) => new RegExp(pattern, 'iu').test(text)
  const lines = texts.map(
    (text): Line => ({
      text,
      isMarked: /^- \(?earlier\b/i.test(text),
      isOutdated: !matches(text, current) && outdated.some((each) => matches(text, each)),
    }),
  )
  const first = texts.findIndex((text) => matches(text, current))
  const stale = lines.findIndex(({ isOutdated, isMarked }) => isOutdated && !isMarked)
  return {
    lines,
    isPresent: first >= 0,
    isStale: stale >= 0 && (first < 0 || stale < first),
    repeated: texts.filter((text, index) =>
      texts.slice(0, index).some((other) => isRepetition(text, other)),
    ).length,
  }
}

/** A line that repeats nearly all content words of another, or the other way round. */
const REPEATED_SHARE = 0.8

function isRepetition(a: string, b: string): boolean {
  const [one, other] = [contentWords(a), contentWords(b)]
  const least = Math.min(one.size, other.size)
  if (least < 2) return false
  return [...one].filter((word) => other.has(word)).length / least >= REPEATED_SHARE
}

function contentWords(line: string): ReadonlySet<string> {
  const text = line.replace(/^- (?:earlier: )?(?:user: )?/i, '').replace(/ \([\d-]+\)$/, '')
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return new Set(words.filter((word) => !STOP_WORDS.has(word)))
}

function toBlockTable(judged: readonly JudgedFact[]): Table {
  return {
    title: 'Questions after the conversations',
    columns: [
      'part',
      'changed facts',
      'current first',
      'current present',
      'unchanged facts',
      'present',
      'then',
      'present',
      'lines',
      'repeated',
      'outdated',
    ],
    rows: PARTS.map((part) => {
      const some = judged.filter((fact) => fact.part === part)
      const of = (kind: JudgedFact['kind']) => some.filter((fact) => fact.kind === kind)
      const present = (facts: readonly JudgedFact[]) =>
        facts.filter(({ isPresent }) => isPresent).length
      const changed = of('changed')
      const lines = some.filter(({ kind }) => kind !== 'then').flatMap((fact) => fact.lines)
      const share = (count: number) =>
        `${count} (${((100 * count) / (lines.length || 1)).toFixed(1)} %)`
      return [
        part,
        changed.length,
        changed.filter(({ isPresent, isStale }) => isPresent && !isStale).length,
        present(changed),
        of('unchanged').length,
        present(of('unchanged')),
        of('then').length,
        present(of('then')),
        lines.length,
        share(
          some
            .filter(({ kind }) => kind !== 'then')
            .reduce((sum, { repeated }) => sum + repeated, 0),
        ),
        share(lines.filter(({ isOutdated, isMarked }) => isOutdated && !isMarked).length),
      ]
    }),
  }
}

function toBlockMisses(judged: readonly JudgedFact[]): Table {
  return {
    title: 'Blocks with something missing, outdated or repeated',
    columns: [''],
    rows: judged
      .filter(
        ({ isPresent, isStale, repeated, lines }) =>
          !isPresent || isStale || repeated > 0 || lines.some(({ isOutdated }) => isOutdated),
      )
      .map(({ question, isPresent, isStale, repeated, lines }) => [
        [
          `${question} [${isPresent ? '' : 'missing '}${isStale ? 'stale ' : ''}repeated ${repeated}]`,
          ...lines.map(({ text, isOutdated }) => `  ${isOutdated ? '!' : '|'} ${text}`),
        ].join('\n'),
      ]),
  }
}

function openPlainEngine(): { readonly engine: Engine; setNow(ms: number): void } {
  let now = CHAIN_START
  const engine = createEngineWith({
    store: createInMemoryStore(),
    clock: {
      now: () => now as Instant, // whole milliseconds
      sleep: (ms) => new Promise((done) => setTimeout(done, ms)),
    },
    ids: createIdGenerator(),
    settings: {},
  })
  return {
    engine,
    setNow: (ms) => {
      now = ms
    },
  }
}
