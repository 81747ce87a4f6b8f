/**
 * Query expansion for questions about the user's own life. "Where do I live?" shares no word with "we relocated to Porto",
 * and an embedding model of short texts rates them as unrelated. Such a question is searched together with words of its
 * likely answers, which count less than its own, like the messages before a follow-up.
 */

type Slot = { readonly questions: readonly string[]; readonly answers: string }

const SLOTS: readonly Slot[] = [
  {
    questions: [
      'where (?:do|did) (?:i|we) live',
      'where (?:am i|are we) (?:living|based|at home)',
      "what(?:'s| is) my (?:home )?(?:address|city|town)",
      'wo (?:wohne|lebe) ich|wo (?:wohnen|leben) wir',
      'dónde vivo|dónde vivimos',
      "où est-ce que j'habite|où j'habite|où habitons-nous",
      'onde (?:eu )?moro|onde moramos',
    ],
    answers:
      'I live in this city. We moved, we relocated. My home, my house, my apartment. umgezogen, gezogen, wohne, mudé, mudamos, déménagé, habite, moro',
  },
  {
    questions: [
      'where (?:do|did) (?:i|we) work',
      'who (?:do|did) i work for',
      'what do i do (?:for a living|for work)',
      "what(?:'s| is) my (?:job|employer|profession|occupation|company)",
      'wo arbeite ich|was arbeite ich|was bin ich von beruf',
      'dónde trabajo|en qué trabajo',
      'où est-ce que je travaille|où je travaille',
      'onde (?:eu )?trabalho',
    ],
    answers:
      'I work at this company. My new job. I started at, I joined, I quit, I left, I was hired, promoted. arbeite, angefangen, trabajo, empecé, travaille, commencé, trabalho, comecei',
  },
  {
    questions: [
      '(?:am i|are we) (?:married|engaged|single)',
      "(?:who|what(?:'s| is)) my (?:wife|husband|partner|spouse|girlfriend|boyfriend)",
    ],
    answers: 'My wife, my husband, my partner. We married, got engaged, divorced, split up.',
  },
  {
    questions: ['how old am i', "when(?:'s| is) my birthday", 'when was i born', 'wie alt bin ich'],
    answers: 'My birthday. I turned this age. I was born. I am years old.',
  },
  {
    questions: ['(?:what|which) (?:car|vehicle) (?:do|did) i', 'what do i drive'],
    answers: 'I drive a car. I bought, sold, leased a car.',
  },
  {
    questions: [
      'what (?:am i|are we) allergic',
      "what can(?:'t| not|not) i eat",
      "what(?:'s| is) my diet",
    ],
    answers: 'I am allergic, intolerant, vegan, vegetarian. I do not eat.',
  },
  {
    questions: [
      "what(?:'s| is) my (?:nephew|niece|son|daughter|baby)(?:'s name)? ?(?:called|named)?",
      'do i have (?:kids|children)',
    ],
    answers: 'She had her baby. It is a boy, it is a girl. They named, my son, my daughter.',
  },
]

const EXPANSIONS = SLOTS.map(({ questions, answers }) => ({
  pattern: new RegExp(`(?<![\\p{L}\\p{N}])(?:${questions.join('|')})(?![\\p{L}\\p{N}])`, 'iu'),
  answers,
}))
const QUESTION_CHARACTERS_MAX = 100

/** Words of likely answers; null unless a short question asks for a common fact about the user. */
export function expandSlotQuestion(question: string): string | null {
  if (question.length > QUESTION_CHARACTERS_MAX) return null
  return EXPANSIONS.find(({ pattern }) => pattern.test(question))?.answers ?? null
}
