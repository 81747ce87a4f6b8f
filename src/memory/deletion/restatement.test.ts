import { expect, it } from 'vitest'
import { isRestatedIn, toStatement } from './restatement.ts'

it.each([
  ['My sister flies to Paris on 3 May, send the visa forms.', 'Paris', false],
  ['Where to? Paris.', 'Paris', true],
  ['The sky is blue and so is the door.', 'Blue', false],
  [
    'As I said, the harbour master is called Greta, and that is that.',
    'The harbour master is called Greta',
    true,
  ],
  [
    'Greta, who is called the master of this harbour, left.',
    'The harbour master is called Greta',
    true,
  ],
])('[TF3] %s restates "%s": %s', (content, fact, isRestated) => {
  expect(isRestatedIn(toStatement(fact), content)).toBe(isRestated)
})
