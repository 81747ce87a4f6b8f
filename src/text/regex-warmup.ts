/**
 * A regular expression is compiled when it is first used, and anew at the second use; apart for texts in Latin letters and
 * for others. That takes a millisecond or two each time, and a first statement would use hundreds of them at once.
 */
import { attributeRules } from '../memory/contradiction/attributes.ts'
import { personRules } from '../memory/contradiction/persons.ts'
import { wordingRules } from '../memory/contradiction/plain-wording.ts'

const SAMPLES = ['a', 'a', 'あ', 'あ'] as const

/** Those that two statements are compared with. */
export function truthRules(): readonly RegExp[] {
  return [...wordingRules(), ...personRules(), ...attributeRules()]
}

/** Leaves nothing to compile for whoever uses them next. Others may have their turn after each piece. */
export function* warming(rules: readonly RegExp[]): Generator<void> {
  for (const rule of rules) {
    for (const sample of SAMPLES) {
      rule.lastIndex = 0
      rule.test(sample)
      yield
    }
    rule.lastIndex = 0
  }
}
