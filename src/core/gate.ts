import type { Settings } from './settings.ts'

/**
 * Whether a message needs memories at all. Every message may have them: recall itself finds nothing where nothing fits,
 * and the rules in `gate/`, which the setting `relevanceGateMode` is for, still miss too many unusual wordings to stand
 * before it.
 */
export type DecideRecall = (text: string, settings: Settings) => boolean

export const decideRecall: DecideRecall = () => true
