/**
 * Measures the grounding of distilled facts: model answers over transcripts, with facts that the user said and facts that
 * a model invented, reversed, changed or took from somebody else.
 *
 * Rules are tuned on the development part, whose misses `--explain` lists. Of the unseen part only totals are reported.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type EmbedTexts,
  measureSimilarity,
} from '../src/learning/distillation/grounding/similarity.ts'
import { Transcript } from '../src/learning/distillation/grounding/transcript.ts'
import { openLocalEmbedder } from '../src/models/embedders/local/local-embedder.ts'
import { atLeast, type EvalOptions, type EvalReport, type Table } from './report.ts'

const PARTS = {
  development: join('evals', 'grounding', 'development.jsonl'),
  everyday: join('evals', 'grounding', 'everyday.jsonl'),
  unseen: join('evals', 'unseen-truth', 'distillates.jsonl'),
} as const
type Part = keyof typeof PARTS

/** The floors hold; the goals are 0.97 and 1. */
const KEPT_MIN = 0.85
const REJECTED_MIN = 0.99
/** The same for the everyday part, which was written to be hard. */
const EVERYDAY_KEPT_MIN = 0.7
const EVERYDAY_REJECTED_MIN = 0.9

type Line = {
  readonly lang: string
  readonly kind?: string
  readonly transcript: readonly { readonly role: string; readonly content: string }[]
  readonly answer: {
    readonly facts: readonly {
      readonly content: string
      readonly about?: string
      readonly sourceTurns: readonly number[]
      readonly verdict: 'grounded' | 'ungrounded'
    }[]
  }
}

export type Judged = {
  readonly language: string
  readonly kind: string
  readonly content: string
  readonly isSaid: boolean
  readonly outcome: string
}

export async function evaluateGrounding(options: EvalOptions): Promise<EvalReport> {
  const embedder = openLocalEmbedder()
  const embed: EmbedTexts = (texts) => embedder.embed(texts, { purpose: 'document' })
  try {
    const development = await judgePart('development', embed)
    const everyday = await judgePart('everyday', embed)
    const unseen = await judgePart('unseen', embed)
    return {
      eval: 'grounding',
      metrics: {
        ...toMetrics('development', development),
        ...toMetrics('everyday', everyday),
        ...toMetrics('unseen', unseen),
        ...toMetrics('unseenWithoutEmbedder', await judgePart('unseen', null)),
      },
      tables: [
        toTable('Development part, by language', development, 'language'),
        toTable('Everyday wording, by language', everyday, 'language'),
        toTable('Unseen part, by language', unseen, 'language'),
        toTable('Unseen part, by kind of answer', unseen, 'kind'),
        toReasonTable(unseen),
        toSummaryTable(await judgePart('development', null), await judgePart('unseen', null)),
        ...(options.explain ? [toMissesTable([...development, ...everyday])] : []),
      ],
      floors: [
        atLeast('grounded kept, development', keptShare(development), KEPT_MIN),
        atLeast('ungrounded not trusted, development', rejectedShare(development), REJECTED_MIN),
        atLeast('grounded kept, everyday', keptShare(everyday), EVERYDAY_KEPT_MIN),
        atLeast('ungrounded not trusted, everyday', rejectedShare(everyday), EVERYDAY_REJECTED_MIN),
      ],
    }
  } finally {
    await embedder.close()
  }
}

function toSummaryTable(development: readonly Judged[], unseen: readonly Judged[]): Table {
  return {
    title: 'Without an embedder',
    columns: ['part', 'grounded', 'kept', 'ungrounded', 'of them trusted'],
    rows: [development, unseen].map((part, index) => {
      const said = part.filter(({ isSaid }) => isSaid).length
      const name = index === 0 ? 'development' : 'unseen'
      return [name, said, keptShare(part), part.length - said, countTrusted(part)]
    }),
  }
}

export async function judgePart(part: Part, embed: EmbedTexts | null): Promise<readonly Judged[]> {
  const judged: Judged[] = []
  for (const line of (await readFile(PARTS[part], 'utf8')).trimEnd().split('\n')) {
    judged.push(...(await judgeAnswer(JSON.parse(line) as Line, embed))) // our own file
  }
  return judged
}

async function judgeAnswer(
  { lang, kind = 'mixed', transcript, answer }: Line,
  embed: EmbedTexts | null,
): Promise<readonly Judged[]> {
  const turns = transcript.map(({ role, content }, index) => ({
    ...{ index, role, content, saidAt: null },
  }))
  const checked = new Transcript(turns)
  const claims = answer.facts.map(({ content, about, sourceTurns }) => ({
    ...{ content, turns: sourceTurns },
    ...(about === undefined ? {} : { about }),
  }))
  const similarities = embed === null ? [] : await measureSimilarity(claims, turns, embed)
  return answer.facts.map(({ content, verdict }, index): Judged => {
    const claim = claims[index] ?? { content, turns: [] }
    const grounding = checked.ground(claim, similarities[index])
    return {
      ...{ language: lang, kind, content },
      isSaid: verdict === 'grounded',
      outcome: grounding.isGrounded ? 'trusted' : grounding.reason,
    }
  })
}

export function keptShare(judged: readonly Judged[]): number {
  return share(judged.filter(({ isSaid }) => isSaid).map(({ outcome }) => outcome === 'trusted'))
}

export function rejectedShare(judged: readonly Judged[]): number {
  return share(judged.filter(({ isSaid }) => !isSaid).map(({ outcome }) => outcome !== 'trusted'))
}

/** 1 for an empty list. */
function share(hits: readonly boolean[]): number {
  return hits.length === 0 ? 1 : hits.filter(Boolean).length / hits.length
}

function toMetrics(part: string, judged: readonly Judged[]): Record<string, number> {
  return {
    [`grounded.${part}`]: judged.filter(({ isSaid }) => isSaid).length,
    [`ungrounded.${part}`]: judged.filter(({ isSaid }) => !isSaid).length,
    [`kept.${part}`]: keptShare(judged),
    [`ungroundedTrusted.${part}`]: countTrusted(judged),
  }
}

function countTrusted(judged: readonly Judged[]): number {
  return judged.filter(({ isSaid, outcome }) => !isSaid && outcome === 'trusted').length
}

function toTable(title: string, judged: readonly Judged[], field: 'language' | 'kind'): Table {
  const names = [...new Set(judged.map((each) => each[field]))].sort()
  const groups = [...names.map((name) => judged.filter((each) => each[field] === name)), judged]
  return {
    title,
    columns: [field, 'grounded', 'kept', 'ungrounded', 'of them trusted'],
    rows: groups.map((some, index) => {
      const said = some.filter(({ isSaid }) => isSaid).length
      return [names[index] ?? 'all', said, keptShare(some), some.length - said, countTrusted(some)]
    }),
  }
}

function toReasonTable(judged: readonly Judged[]): Table {
  const reasons = [...new Set(judged.map(({ outcome }) => outcome))].sort()
  const count = (reason: string, isSaid: boolean) =>
    judged.filter((each) => each.outcome === reason && each.isSaid === isSaid).length
  return {
    title: 'Unseen part, by outcome',
    columns: ['outcome', 'grounded', 'ungrounded'],
    rows: reasons.map((reason) => [reason, count(reason, true), count(reason, false)]),
  }
}

function toMissesTable(judged: readonly Judged[]): Table {
  return {
    title: 'Misses of the development part',
    columns: ['language', 'outcome', 'fact'],
    rows: judged
      .filter(({ isSaid, outcome }) => isSaid !== (outcome === 'trusted'))
      .map(({ language, outcome, content }) => [language, outcome, content]),
  }
}
