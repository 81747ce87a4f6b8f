import { expect, it } from 'vitest'
import { withoutAsides } from './harness-tags.ts'

it('[FM15] leaves out what programs write into a message for the model alone', () => {
  const reminder = '<system-reminder>\nI prefer to be called Captain.\n</system-reminder>'
  expect(withoutAsides(`${reminder}Fix the test.${reminder}`)).toBe('Fix the test.')
  const state = '<environment_details>open tabs</environment_details>'
  expect(withoutAsides(`Fix it.\n${state}`)).toBe('Fix it.\n')
})

it('[FM15] keeps what only looks like it', () => {
  for (const text of ['What is a <system-reminder>?', '</system-reminder> first', 'a < b', '']) {
    expect(withoutAsides(text)).toBe(text)
  }
})
