/**
 * `npm run eval -- everyday`: everyday conversations through the HTTP gateway with its defaults and no extraction model,
 * then questions in another session. Counts how often the prompt that reaches the model contains the answer.
 *
 * Every second question is held out: recall is tuned on the others, and misses are listed for those only.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openEmbedder } from '../src/app/models/model-selection.ts'
import type { Embedder } from '../src/models/embedder.ts'
import { groupBy, type ReplayedConversation } from './e2e/conversations.ts'
import { normalize } from './e2e/evidence.ts'
import { openGatewayReplay } from './e2e/gateway-replay.ts'
import { BUDGET } from './e2e/measure.ts'
import { ratio, type Share } from './e2e/metrics.ts'
import type { InjectedContext } from './e2e/replay.ts'
import { evalEmbedding } from './haystack.ts'
import {
  atLeast,
  atMost,
  type EvalOptions,
  type EvalReport,
  type Table,
  timeLeft,
} from './report.ts'

const FOLDER = join('evals', 'everyday')
/** After the last conversation. */
const ASKED_AT = Date.parse('2026-02-10T18:00:00Z')
const SPLITS = ['dev', 'heldout'] as const
const CATEGORIES = [
  'single fact',
  'updated fact',
  'temporal',
  'multi-hop',
  'follow-up',
  'assistant message',
  'preference',
  'abstention',
] as const
/** A little below the measured values of both halves. */
const CORRECT_MIN = 0.88
const CREDIT_MIN = 0.89
const STALE_MAX = 0.1
const UNRELATED_MAX = 0.3

type ConversationLine = {
  readonly person: string
  readonly at: string
  readonly exchanges: readonly { readonly user: string; readonly assistant: string }[]
}

export type EverydayQuestion = {
  readonly person: string
  readonly category: (typeof CATEGORIES)[number]
  readonly question: string
  readonly split: (typeof SPLITS)[number]
  /** Regular expressions that the block must match; empty for unanswerable questions. */
  readonly required?: readonly string[]
  /** The outdated fact. It may be below the required ones, never above. */
  readonly outdated?: string
  /** For unanswerable questions: text that a model could mistake for the answer. */
  readonly misleading?: string
  readonly earlier?: { readonly user: string; readonly assistant: string }
}

export type Verdict = 'correct' | 'half' | 'wrong'
type Judged = EverydayQuestion & {
  readonly context: InjectedContext
  readonly verdict: Verdict
  /** Whether the outdated fact is above the newer one, or without it; null when it is not in the block. */
  readonly isStale: boolean | null
}

export async function evaluateEveryday(options: EvalOptions): Promise<EvalReport> {
  const embedder = openEmbedder(evalEmbedding())
  try {
    return toReport(await judgeAll(embedder, options), options)
  } finally {
    await embedder?.close()
  }
}

export async function readConversations(): Promise<readonly ConversationLine[]> {
  return readLines<ConversationLine>('conversations.jsonl')
}

export async function readQuestions(): Promise<readonly EverydayQuestion[]> {
  return readLines<EverydayQuestion>('questions.jsonl')
}

async function readLines<Line>(name: string): Promise<readonly Line[]> {
  const lines = (await readFile(join(FOLDER, name), 'utf8')).trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Line) // our own file, read whole by the test
}

async function judgeAll(
  embedder: Embedder | null,
  { onProgress }: EvalOptions,
): Promise<readonly Judged[]> {
  const conversationsOf = groupBy(await readConversations(), ({ person }) => person)
  const questionsOf = groupBy(await readQuestions(), ({ person }) => person)
  const remaining = timeLeft(conversationsOf.size)
  const judged: Judged[] = []
  for (const [index, [person, conversations]] of [...conversationsOf].entries()) {
    judged.push(
      ...(await judgePerson(
        embedder,
        conversations.map(toReplayed),
        questionsOf.get(person) ?? [],
      )),
    )
    onProgress?.(`everyday: people ${remaining(index + 1)}`)
  }
  return judged
}

async function judgePerson(
  embedder: Embedder | null,
  conversations: readonly ReplayedConversation[],
  questions: readonly EverydayQuestion[],
): Promise<readonly Judged[]> {
  const replay = await openGatewayReplay(embedder)
  try {
    await replay.write(conversations)
    const judged: Judged[] = []
    for (const question of questions) {
      const { earlier } = question
      const context = await replay.ask({
        text: question.question,
        at: ASKED_AT,
        budget: BUDGET,
        ...(earlier === undefined ? {} : { earlier }),
      })
      judged.push({ ...question, context, ...judge(question, context) })
    }
    return judged
  } finally {
    await replay.close()
  }
}

function toReplayed({ person, at, exchanges }: ConversationLine): ReplayedConversation {
  const message = (text: string) => ({ text, documents: [] })
  return {
    name: `${person} ${at}`,
    at: Date.parse(at),
    exchanges: exchanges.map(({ user, assistant }) => ({
      user: message(user),
      assistant: message(assistant),
    })),
  }
}

/** `half`: a part of the required facts, or all of them below the outdated one; for unanswerable questions, a harmless block. */
export function judge(
  { required = [], outdated, misleading }: EverydayQuestion,
  { block, items }: Pick<InjectedContext, 'block' | 'items'>,
): Pick<Judged, 'verdict' | 'isStale'> {
  const text = normalize(block ?? '')
  if (misleading !== undefined) {
    const isMisleading = find(text, misleading) !== null
    return { verdict: items === 0 ? 'correct' : isMisleading ? 'wrong' : 'half', isStale: null }
  }
  const positions = required.map((pattern) => find(text, pattern))
  const older = outdated === undefined ? null : find(text, outdated)
  const newer = Math.min(...positions.map((position) => position ?? Number.POSITIVE_INFINITY))
  const isStale = older === null ? null : older < newer
  const matches = positions.filter((position) => position !== null).length
  const isComplete = matches === required.length && isStale !== true
  return { verdict: isComplete ? 'correct' : matches > 0 ? 'half' : 'wrong', isStale }
}

function find(text: string, pattern: string): number | null {
  const at = text.search(new RegExp(pattern, 'iu'))
  return at < 0 ? null : at
}

type Score = {
  readonly questions: number
  readonly correct: number
  readonly half: number
  readonly wrong: number
  readonly correctShare: number
  /** A half answer counts 0.5. */
  readonly credit: number
}

function score(judged: readonly Judged[]): Score {
  const count = (wanted: Verdict) => judged.filter(({ verdict }) => verdict === wanted).length
  const [correct, half, wrong] = [count('correct'), count('half'), count('wrong')]
  const of = judged.length
  return {
    questions: of,
    correct,
    half,
    wrong,
    correctShare: ratio({ count: correct, of }),
    credit: ratio({ count: correct + half / 2, of }),
  }
}

/** Blocks with an outdated fact above the newer one or without it, of all blocks with an outdated fact. */
function countStale(judged: readonly Judged[]): Share {
  const known = judged.filter(({ isStale }) => isStale !== null)
  return { count: known.filter(({ isStale }) => isStale === true).length, of: known.length }
}

function countUnrelated(judged: readonly Judged[]): Share {
  const unrelated = judged.filter(({ category }) => category === 'abstention')
  return {
    count: unrelated.filter(({ context }) => context.items > 0).length,
    of: unrelated.length,
  }
}

function toReport(judged: readonly Judged[], { explain }: EvalOptions): EvalReport {
  const all = score(judged)
  const stale = ratio(countStale(judged))
  const unrelated = ratio(countUnrelated(judged))
  const parts = SPLITS.map(
    (split) => [split, judged.filter((each) => each.split === split)] as const,
  )
  return {
    eval: 'everyday',
    metrics: {
      correct: all.correctShare,
      credit: all.credit,
      stale,
      unrelated,
      ...Object.fromEntries(
        parts.flatMap(([split, some]) => [
          [`correct.${split}`, score(some).correctShare],
          [`credit.${split}`, score(some).credit],
          [`stale.${split}`, ratio(countStale(some))],
          [`unrelated.${split}`, ratio(countUnrelated(some))],
        ]),
      ),
    },
    tables: [
      ...parts.map(([split, some]) => toTable(split, some)),
      toTable('both', judged),
      toOrderTable([...parts, ['both', judged]]),
      ...(explain ? [toMissesTable(judged.filter(({ split }) => split === 'dev'))] : []),
    ],
    floors: [
      atLeast('correct', all.correctShare, CORRECT_MIN),
      atLeast('correct with half credit', all.credit, CREDIT_MIN),
      atMost('outdated above newer', stale, STALE_MAX),
      atMost('unrelated questions with a block', unrelated, UNRELATED_MAX),
    ],
  }
}

function toTable(split: string, judged: readonly Judged[]): Table {
  const rows = [
    ...CATEGORIES.map(
      (category) => [category, judged.filter((each) => each.category === category)] as const,
    ),
    ['all', judged] as const,
  ]
  return {
    title: `Everyday questions, ${split}`,
    columns: ['category', 'questions', 'correct', 'half', 'wrong', 'correct', 'credit'],
    rows: rows.map(([name, some]) => {
      const { questions, correct, half, wrong, correctShare, credit } = score(some)
      return [name, questions, correct, half, wrong, correctShare.toFixed(3), credit.toFixed(3)]
    }),
  }
}

function toOrderTable(parts: readonly (readonly [string, readonly Judged[]])[]): Table {
  const render = ({ count, of }: Share) => `${count} of ${of}`
  return {
    title: 'What should not be in a block',
    columns: ['split', 'outdated above newer', 'unrelated questions with a block'],
    rows: parts.map(([split, some]) => [
      split,
      render(countStale(some)),
      render(countUnrelated(some)),
    ]),
  }
}

function toMissesTable(judged: readonly Judged[]): Table {
  return {
    title: 'Misses among the questions that may be tuned on',
    columns: [''],
    rows: judged
      .filter(({ verdict }) => verdict !== 'correct')
      .map((each) => [
        [
          `${each.verdict} [${each.category}, ${each.person}] ${each.question}`,
          `  required: ${(each.required ?? []).join(' and ')}; outdated: ${each.outdated ?? 'none'}`,
          ...(each.context.block ?? `no block: ${each.context.skipped}`)
            .split('\n')
            .map((line) => `  | ${line}`),
          '',
        ].join('\n'),
      ]),
  }
}
