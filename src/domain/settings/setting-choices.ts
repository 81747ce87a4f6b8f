/** The choices of settings that other code refers to. */

/** How recall searches. `exact` and `recent` are the same: the newest memories, whatever the question. */
export const STRATEGIES = ['hybrid', 'semantic', 'keyword', 'recent', 'exact'] as const

export const FUSIONS = ['adaptive', 'rrf', 'weighted'] as const

export type Fusion = (typeof FUSIONS)[number]

/** `auto`: citations only where the answer is private. */
export const CITATION_MODES = ['auto', 'on', 'off'] as const

export const QUANTIZATIONS = ['none', 'int8', 'binary'] as const
