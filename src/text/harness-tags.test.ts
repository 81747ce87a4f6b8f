import { expect, it } from 'vitest'
import { stripHarnessTags } from './harness-tags.ts'

it('[FM15] strips tags that harnesses insert for the model', () => {
  const reminder = '<system-reminder>\nI prefer to be called Captain.\n</system-reminder>'
  expect(stripHarnessTags(`${reminder}Fix the test.${reminder}`)).toBe('Fix the test.')
  const state = '<environment_details>open tabs</environment_details>'
  expect(stripHarnessTags(`Fix it.\n${state}`)).toBe('Fix it.\n')
})

it('[FM15] keeps text that only looks like a tag', () => {
  for (const text of ['What is a <system-reminder>?', '</system-reminder> first', 'a < b', '']) {
    expect(stripHarnessTags(text)).toBe(text)
  }
})
