/** The memories of `recollect demo`: several years of a fictional person, with corrections and mistakes. */
import type { MemoryCategory, MemoryType } from '../../../../domain/memory.ts'

export type DemoStep =
  | {
      readonly does: 'say'
      /** Referenced by later steps. */
      readonly name?: string
      readonly content: string
      readonly category: MemoryCategory
      readonly type?: MemoryType
      readonly key?: string
      readonly importance?: number
      readonly pinned?: boolean
      readonly validFrom?: string
      readonly validUntil?: string
      readonly entities?: string[]
    }
  | { readonly does: 'edit'; readonly name: string; readonly content: string }
  | { readonly does: 'forget'; readonly name: string }

export const DEMO: readonly DemoStep[] = [
  { does: 'say', content: 'My name is Nell Varga.', category: 'fact', importance: 9, pinned: true },
  { does: 'say', content: 'I repair clocks and old music boxes.', category: 'fact', importance: 8 },
  { does: 'say', content: 'I live in Graz.', category: 'fact', importance: 8 },
  { does: 'say', content: 'I live in Trieste now.', category: 'fact', importance: 8 },
  { does: 'say', content: 'I speak Hungarian, German and a little Italian.', category: 'fact' },
  {
    does: 'say',
    content: 'My brother Tamás keeps bees in Pécs and sends honey every September.',
    category: 'relationship',
    entities: ['Tamás'],
  },
  {
    does: 'say',
    content: 'Signora Bruna from the bakery downstairs has a key to the workshop.',
    category: 'relationship',
    entities: ['Bruna'],
  },
  {
    does: 'say',
    content: 'My apprentice Leo starts on Mondays and Thursdays after school.',
    category: 'relationship',
    entities: ['Leo'],
  },
  { does: 'say', content: 'I prefer tea over coffee before noon.', category: 'preference' },
  {
    does: 'say',
    content: 'I am allergic to walnuts.',
    category: 'fact',
    importance: 10,
    pinned: true,
  },
  { does: 'say', content: 'I eat no meat, but fish on Fridays is fine.', category: 'preference' },
  {
    does: 'say',
    content: 'When friends come to dinner I like to make mushroom paprikash with dumplings.',
    category: 'preference',
  },
  { does: 'say', content: 'I cannot work while the radio is on.', category: 'preference' },
  { does: 'say', content: 'I have 2 cats.', category: 'fact' },
  { does: 'say', content: 'I have 3 cats.', category: 'fact' },
  {
    does: 'say',
    name: 'desk',
    key: 'commission',
    content: 'I am restoring a ship’s chronometer for the maritime museum.',
    category: 'decision',
    importance: 7,
    entities: ['maritime museum'],
  },
  {
    does: 'edit',
    name: 'desk',
    content:
      'The chronometer for the maritime museum needs a new balance spring, ordered from Besançon.',
  },
  {
    does: 'edit',
    name: 'desk',
    content: 'The chronometer for the maritime museum runs again, two seconds slow a day.',
  },
  {
    does: 'say',
    content: 'We decided to use shellac instead of modern varnish on every case made before 1900.',
    category: 'decision',
    importance: 7,
  },
  {
    does: 'say',
    content: 'Invoices go out on the last working day of the month, with 30 days to pay.',
    category: 'pattern',
  },
  {
    does: 'say',
    content: 'Always answer me in short sentences, and never before nine in the morning.',
    category: 'pattern',
    importance: 8,
  },
  {
    does: 'say',
    content: 'Sailed to Piran with Leo and his mother; we saw dolphins off the lighthouse.',
    category: 'event',
    type: 'episodic',
    validFrom: '2026-05-16',
    entities: ['Leo', 'Piran'],
  },
  {
    does: 'say',
    content: 'The cuckoo clock of the town hall fell from the wall and has to be rebuilt.',
    category: 'event',
    type: 'episodic',
    validFrom: '2026-02-03',
  },
  {
    does: 'say',
    name: 'number',
    content: 'The combination of the old safe is the year the workshop opened.',
    category: 'fact',
  },
  { does: 'forget', name: 'number' },
  {
    does: 'say',
    content: 'The workshop is closed for the holidays.',
    category: 'event',
    type: 'episodic',
    validFrom: '2025-08-04',
    validUntil: '2025-08-24',
  },
  {
    does: 'say',
    content:
      'To open a stuck watch back: warm it in the hand for a minute, then turn with the rubber ball.',
    category: 'pattern',
    type: 'procedural',
  },
  { does: 'say', content: 'I want to learn to build a harpsichord one day.', category: 'general' },
]
