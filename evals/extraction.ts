/**
 * Measures how much the pattern extractor learns of what questions ask later, on the conversations of LoCoMo, without a
 * judge.
 *
 * The set names the evidence turns of each question. Counted are the evidence turns from which something was learned, and the
 * words shared with the question that the facts keep. The answers of the set are not used. Turns without a question may be
 * worth learning, too, so precision is reported beside chance.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { extractPatterns } from '../src/learning/patterns/extractor.ts'
import { extractQueryTerms } from '../src/text/search/terms.ts'
import { type EvalDocument, type EvalQuery, loadSet } from './datasets.ts'
import type { EvalOptions, EvalReport, Table } from './report.ts'

const SET = 'locomo'
/** The share of the words common to a question and its evidence that the facts must keep. */
const KEPT_SHARE_MIN = 0.5
const CATEGORIES = { 1: 'multi-hop', 2: 'temporal', 3: 'open-domain', 4: 'single-hop' } as const

type Category = keyof typeof CATEGORIES

/** The statements learned from a turn. */
type Learned = { readonly document: EvalDocument; readonly statements: readonly string[] }

export async function evaluateExtraction({
  data,
  explain,
  sample,
}: EvalOptions): Promise<EvalReport> {
  const path = join(data, SET, 'docs.jsonl.gz')
  if (!existsSync(path)) return skipped(path)
  const set = await loadSet(data, SET)
  const groups = [...new Set(set.documents.map(({ group }) => group))].slice(0, sample)
  const documents = set.documents.filter(({ group }) => groups.includes(group))
  const queries = set.queries.filter(
    ({ group, category, gold }) =>
      groups.includes(group) && Object.hasOwn(CATEGORIES, category) && gold.length > 0,
  )
  const learned = new Map(documents.map((document) => [document.id, learn(document)]))
  return report([...learned.values()], queries, learned, explain)
}

function learn(document: EvalDocument): Learned {
  return { document, statements: extractPatterns(document.text).map(({ content }) => content) }
}

function report(
  turns: readonly Learned[],
  queries: readonly EvalQuery[],
  byId: ReadonlyMap<string, Learned>,
  explain: boolean,
): EvalReport {
  const evidenceIds = new Set(queries.flatMap(({ gold }) => gold))
  const isEvidence = ({ document }: Learned) => evidenceIds.has(document.id)
  const isLearnedFrom = ({ statements }: Learned) => statements.length > 0
  const evidence = turns.filter(isEvidence)
  const others = turns.filter((turn) => !isEvidence(turn))
  const statements = count(turns)
  const metrics = {
    turns: turns.length,
    statements,
    statementsPerTurn: ratio(statements, turns.length),
    learnedFrom: share(turns, isLearnedFrom),
    evidenceLearnedFrom: share(evidence, isLearnedFrom),
    othersLearnedFrom: share(others, isLearnedFrom),
    /** The share of statements from evidence turns; `chance`: the share of evidence among all turns. */
    precision: ratio(count(evidence), statements),
    chance: ratio(evidence.length, turns.length),
    wordsKept: mean(evidence.filter(isLearnedFrom).map(wordsKept)),
    ...overall(queries, byId),
  }
  const rows = (Object.keys(CATEGORIES) as unknown as Category[]).map((category) => {
    const own = queries.filter((query) => query.category === String(category))
    const { questions, anyLearned, allLearned, covered } = overall(own, byId)
    return [CATEGORIES[category], questions, anyLearned, allLearned, covered]
  })
  const all = ['all', metrics.questions, metrics.anyLearned, metrics.allLearned, metrics.covered]
  return {
    eval: 'extraction',
    metrics,
    tables: [
      {
        title: 'What the pattern extractor learns from LoCoMo',
        columns: ['measure', 'value'],
        rows: [
          ['turns', metrics.turns],
          ['statements', metrics.statements],
          ['statements per turn', metrics.statementsPerTurn],
          ['turns that something was learned from', metrics.learnedFrom],
          ['  of those that a question rests on', metrics.evidenceLearnedFrom],
          ['  of the others', metrics.othersLearnedFrom],
          ['statements from turns that a question rests on', metrics.precision],
          ['  by chance', metrics.chance],
          ['words of such a turn that its statements keep', metrics.wordsKept],
        ],
      },
      {
        title:
          'By question: learned from one, or all, of its evidence turns; their shared terms survive',
        columns: ['category', 'questions', 'any', 'all', 'covered'],
        rows: [...rows, all],
      },
      ...(explain ? [missesTable(evidence.filter((turn) => !isLearnedFrom(turn)))] : []),
    ],
    floors: [],
  }
}

function overall(queries: readonly EvalQuery[], byId: ReadonlyMap<string, Learned>) {
  const isKnown = (id: string) => (byId.get(id)?.statements.length ?? 0) > 0
  return {
    questions: queries.length,
    anyLearned: share(queries, ({ gold }) => gold.some(isKnown)),
    allLearned: share(queries, ({ gold }) => gold.every(isKnown)),
    covered: share(queries, ({ gold, question }) =>
      gold.some((id) => covers(byId.get(id), question)),
    ),
  }
}

/** Whether the statements of a turn keep the words by which the question could find them. */
function covers(turn: Learned | undefined, question: string): boolean {
  if (turn === undefined) return false
  const spoken = new Set(extractQueryTerms(turn.document.text))
  const shared = [...new Set(extractQueryTerms(question))].filter((term) => spoken.has(term))
  const statedTerms = new Set(turn.statements.flatMap((statement) => extractQueryTerms(statement)))
  const held = shared.filter((term) => statedTerms.has(term)).length
  return held > 0 && held / shared.length >= KEPT_SHARE_MIN
}

function wordsKept({ document, statements }: Learned): number {
  const spoken = [...new Set(extractQueryTerms(document.text))]
  const statedTerms = new Set(statements.flatMap((statement) => extractQueryTerms(statement)))
  return share(spoken, (term) => statedTerms.has(term))
}

function missesTable(missed: readonly Learned[]): Table {
  return {
    title: 'Turns that a question rests on, and nothing was learned from',
    columns: ['turn', 'text'],
    rows: missed.map(({ document }) => [document.id, document.text.replace(/\s+/gu, ' ')]),
  }
}

/** The data are public, but not part of this repository, so a missing set is no failure. */
function skipped(path: string): EvalReport {
  const title = `Skipped: there is no ${path}. Pass the folder that holds the public sets with --data <folder>.`
  return { eval: 'extraction', metrics: {}, tables: [{ title, columns: [], rows: [] }], floors: [] }
}

function count(turns: readonly Learned[]): number {
  return turns.reduce((sum, { statements }) => sum + statements.length, 0)
}

function share<Item>(items: readonly Item[], is: (item: Item) => boolean): number {
  return ratio(items.filter(is).length, items.length)
}

function mean(values: readonly number[]): number {
  return ratio(
    values.reduce((sum, value) => sum + value, 0),
    values.length,
  )
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}
