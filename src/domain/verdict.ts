/** Asking someone else what a new statement is to a known one, where rules can't tell. */

export const VERDICTS = ['duplicate', 'update', 'conflict', 'unrelated', 'unsure'] as const
export type Verdict = (typeof VERDICTS)[number]

/**
 * What `newer` is to `older`, as a language model judges it: says the same, holds in its place, contradicts it without
 * telling which one is right, or neither. It is asked only about statements that are close and that rules keep apart;
 * to fail or to be unsure leaves it at that. Its verdict is bound by the same limits as the rules: nothing pinned,
 * newer or better trusted gives way to it.
 */
export type Adjudicate = (older: string, newer: string, signal: AbortSignal) => Promise<Verdict>
