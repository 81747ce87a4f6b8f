/**
 * Measures explicit requests: "remember that …", "forget that …" and standing instructions. A request is right when its kind
 * agrees with the label and its content has the expected words. Of the unseen messages, only totals are reported.
 */
import { parseMemoryRequests } from '../src/learning/patterns/memory-requests.ts'
import { ratio, readLabels, UNSEEN } from './labels.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

const RIGHT_MIN = 0.95
const KINDS = ['remember', 'forget', 'instruction', 'none'] as const

type Labelled = {
  readonly text: string
  readonly lang: string
  readonly expected: { readonly kind: (typeof KINDS)[number]; readonly contains: readonly string[] }
}

export async function evaluateRequests({ explain }: EvalOptions): Promise<EvalReport> {
  const developed = await readLabels<Labelled>('evals', 'requests', 'requests.jsonl')
  const unseen = await readLabels<Labelled>(UNSEEN, 'requests.jsonl')
  const right = getRightShare(developed)
  return {
    eval: 'requests',
    metrics: { right, 'right.unseen': getRightShare(unseen) },
    tables: [
      toKindTable('Requests that rules are tuned on', developed),
      toKindTable('Unseen requests', unseen),
      ...(explain ? [toMissesTable(developed)] : []),
    ],
    floors: [atLeast('right', right, RIGHT_MIN)],
  }
}

function isRight({ text, expected: { kind, contains } }: Labelled): boolean {
  const requests = parseMemoryRequests(text)
  if (kind === 'none') return requests.length === 0
  return requests.some(
    (request) =>
      request.kind === kind &&
      contains.every((words) => request.content.toLowerCase().includes(words.toLowerCase())),
  )
}

function getRightShare(labels: readonly Labelled[]): number {
  return ratio(labels.filter(isRight).length, labels.length)
}

function toKindTable(title: string, labels: readonly Labelled[]): Table {
  const languages = [...new Set(labels.map(({ lang }) => lang))]
  const rowOf = (name: string, some: readonly Labelled[]) => [
    name,
    some.length,
    getRightShare(some),
  ]
  return {
    title,
    columns: ['kind or language', 'messages', 'right'],
    rows: [
      ...KINDS.map((kind) =>
        rowOf(
          kind,
          labels.filter(({ expected }) => expected.kind === kind),
        ),
      ),
      ...languages.map((language) =>
        rowOf(
          language,
          labels.filter(({ lang }) => lang === language),
        ),
      ),
      rowOf('all', labels),
    ],
  }
}

function toMissesTable(labels: readonly Labelled[]): Table {
  return {
    title: 'Misses',
    columns: ['language', 'expected', 'found', 'text'],
    rows: labels
      .filter((each) => !isRight(each))
      .map(({ text, lang, expected }) => [
        lang,
        `${expected.kind}: ${expected.contains.join(', ')}`,
        parseMemoryRequests(text)
          .map(({ kind, content }) => `${kind}: ${content}`)
          .join(' | '),
        text.replace(/\n/gu, '⏎'),
      ]),
  }
}
