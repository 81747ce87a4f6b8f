/** How memories are looked for. `exact` and `recent` are the same: the newest, whatever the question. */

export const STRATEGIES = ['hybrid', 'semantic', 'keyword', 'recent', 'exact'] as const

export const FUSIONS = ['adaptive', 'rrf', 'weighted'] as const

export type Fusion = (typeof FUSIONS)[number]
