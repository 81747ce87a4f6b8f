/** Ranking metrics. */
export const METRICS = [
  'any@1',
  'any@5',
  'any@10',
  'all@5',
  'all@10',
  'rec@10',
  'nDCG@10',
  'MRR',
] as const
export type Metric = (typeof METRICS)[number]
export type Scores = Readonly<Record<Metric, number>>

/** `ranking` is best first without repetitions; `gold` is not empty. */
export function measure(ranking: readonly string[], gold: ReadonlySet<string>): Scores {
  const first = ranking.findIndex((id) => gold.has(id))
  const found = (depth: number) => ranking.slice(0, depth).filter((id) => gold.has(id)).length
  const gain = (position: number) => 1 / Math.log2(position + 2)
  const ideal = Array.from({ length: Math.min(10, gold.size) }, (_, position) => gain(position))
  const gained = ranking.slice(0, 10).map((id, position) => (gold.has(id) ? gain(position) : 0))
  return {
    'any@1': found(1) > 0 ? 1 : 0,
    'any@5': found(5) > 0 ? 1 : 0,
    'any@10': found(10) > 0 ? 1 : 0,
    'all@5': found(5) === gold.size ? 1 : 0,
    'all@10': found(10) === gold.size ? 1 : 0,
    'rec@10': found(10) / gold.size,
    'nDCG@10': sum(gained) / sum(ideal),
    MRR: first < 0 ? 0 : 1 / (first + 1),
  }
}

export function average(scores: readonly Scores[]): Scores {
  const mean = (metric: Metric) =>
    sum(scores.map((score) => score[metric])) / Math.max(1, scores.length)
  return Object.fromEntries(METRICS.map((metric) => [metric, mean(metric)])) as Scores // one for each
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
