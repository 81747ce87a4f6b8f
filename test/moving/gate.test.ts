/** Cues of Osaurus's relevance gate, where the gate is on. */
import { expect, it } from 'vitest'
import { classifyMessage } from '../../src/conversations/gate/gate.ts'

it('[PO54] Osaurus: the gate opens for "we discussed", pronouns and "verbatim"', () => {
  for (const [section, messages] of [
    [
      'episode',
      [
        'What was that thing we discussed?',
        'As we discussed, use the blue one.',
        'Remember when we went to Rome?',
        'What did he say about it?',
        'Where does she live?',
        'Did they like the hotel?',
        "What's her phone number?",
      ],
    ],
    [
      'transcript',
      ['Exact words please', 'Tell me verbatim what I said.', 'Can you give me that verbatim?'],
    ],
    ['identity', ["What's my name?", 'Who am I?']],
    [
      'none',
      [
        'Copy this paragraph verbatim into the file.',
        'Where do they define the function?',
        'How do volcanoes work?',
      ],
    ],
  ] as const) {
    for (const message of messages) {
      const decision = classifyMessage(message, { entities: [] })
      expect([message, decision.section]).toEqual([message, section])
    }
  }
})
