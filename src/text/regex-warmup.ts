/**
 * A regular expression is compiled when it is first used, and anew at the second use; apart for texts in Latin letters and
 * for others. That takes a millisecond or two each time, and a first statement would use hundreds of them at once.
 */

const SAMPLES = ['a', 'a', 'あ', 'あ'] as const

/** Leaves nothing to compile for whoever uses them next. Others may have their turn after each piece. */
export function* warmUpPatterns(rules: readonly RegExp[]): Generator<void> {
  for (const rule of rules) {
    for (const sample of SAMPLES) {
      rule.lastIndex = 0
      rule.test(sample)
      yield
    }
    rule.lastIndex = 0
  }
}
