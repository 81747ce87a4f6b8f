import type { Settings } from './settings.ts'

/**
 * Whether a message needs memories at all. Asking costs time and memories cost tokens, so what can do without should;
 * until there are rules for that, every message may have them.
 */
export type DecideRecall = (text: string, settings: Settings) => boolean

export const decideRecall: DecideRecall = () => true
