export const VERDICTS = ['duplicate', 'update', 'conflict', 'unrelated', 'unsure'] as const
export type Verdict = (typeof VERDICTS)[number]

/**
 * Asks a language model how a new statement relates to a stored one: same content, replacement, contradiction without a
 * clear winner, or neither. It is called only for similar statements that rules cannot compare; a failure or `unsure`
 * keeps both. The verdict has the limits of the rules: pinned, newer or more trusted memories are never replaced.
 */
export type Adjudicate = (older: string, newer: string, signal: AbortSignal) => Promise<Verdict>
