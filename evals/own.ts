/**
 * A small built-in data set: conversations of two people and an assistant over a year, and questions about them. Small enough
 * for every test run, with one category of questions for each capability of recall.
 */
import type { EvalDocument, EvalQuery, EvalSet } from './datasets.ts'

/** Session, day and turns. The first word of a line is the id of the turn, followed by `speaker: text`. */
const CONVERSATIONS: readonly (readonly [string, string, string])[] = [
  [
    'kitchen',
    '2025-02-03',
    `
    k1 Mara: I finally signed the contract for the flat in Ghent.
    k2 Joris: Congratulations! When do you get the keys?
    k3 Mara: On the first of April, if the notary is quick.
    k4 Joris: Will you paint it yourself?
    k5 Mara: Only the kitchen. I want it in a dark green.
    k6 Joris: My brother has a ladder that you can borrow.
    k7 Mara: Lovely. Is he still working for the harbour?
    k8 Joris: No, he started as a nurse in January and likes it.
    `,
  ],
  [
    'marathon',
    '2025-05-19',
    `
    m1 Joris: My knee is fine again, so I ran eighteen kilometres on Sunday.
    m2 Mara: Does that mean you will do the marathon after all?
    m3 Joris: Yes, the one in Rotterdam. I paid the fee yesterday.
    m4 Mara: What did the physiotherapist say?
    m5 Joris: To swim twice a week and leave out the stairs.
    m6 Mara: I could come along to the pool, I need to move more.
    m7 Joris: Thursdays at seven, then. Bring your own lock.
    `,
  ],
  [
    'work',
    '2025-09-08',
    `
    w1 user: For the invoicing service we settled on PostgreSQL; MySQL was the other candidate.
    w2 assistant: Noted. PostgreSQL will make the audit tables easier, because of its row security.
    w3 user: The first release goes out on 14 October, with only PDF export.
    w4 assistant: I suggest that you freeze the schema a week before that.
    w5 user: My manager is Ingrid now, since Paul left for the Berlin office.
    w6 assistant: I will address the status reports to her.
    w7 user: Please keep answers short, and never use bullet points.
    w8 user: The staging server is called otter and lives at staging.example.org.
    w9 user: Our error budget for the quarter is 0.2 percent.
    `,
  ],
  [
    'health',
    '2025-11-30',
    `
    h1 user: I am allergic to penicillin; the rash last winter was awful.
    h2 assistant: I will keep that in mind whenever medicine comes up.
    h3 user: Dr. Okafor wants to see me again in six weeks because of the blood pressure.
    h4 user: I take ten milligrams of ramipril every morning.
    h5 user: Coffee after noon keeps me awake, so I switched to rooibos.
    h6 user: My daughter Lotte turned four last week and wants to learn the violin.
    h7 user: We moved the swimming lesson to Wednesdays.
    `,
  ],
  [
    'travel',
    '2026-01-12',
    `
    t1 user: We booked the night train to Vienna for the second week of July.
    t2 user: The hotel is the small one behind the museum quarter, with the courtyard.
    t3 assistant: Shall I look for concerts during that week?
    t4 user: Yes, but nothing longer than two hours because of Lotte.
    t5 user: My passport runs out in June, so it has to be renewed before.
    t6 assistant: The town hall takes about ten days for a new one.
    t7 user: 去年我们在上海住了三个月，最喜欢的是早上的豆浆。
    t8 user: Mein Vater wohnt seit dem Herbst in einem Pflegeheim in Lübeck.
    `,
  ],
]

/** Class, question, and the names of what answers it. */
const QUESTIONS: readonly (readonly [string, string, string])[] = [
  ['words', 'Who signed a contract for a flat in Ghent?', 'k1'],
  ['words', 'Which marathon did Joris sign up for?', 'm3'],
  ['words', 'What is the error budget for the quarter?', 'w9'],
  ['words', 'What is the staging server called?', 'w8'],
  ['words', 'What am I allergic to?', 'h1'],
  ['words', 'staging.example.org', 'w8'],
  ['words', 'ramipril', 'h4'],
  ['words', '豆浆', 't7'],
  ['words', 'Wo wohnt mein Vater?', 't8'],
  ['meaning', 'What colour will Mara use on the walls?', 'k5'],
  ['meaning', 'Which database did we pick?', 'w1'],
  ['meaning', 'How should replies be written?', 'w7'],
  ['meaning', 'Which antibiotic must I avoid?', 'h1'],
  ['meaning', 'What do I drink in the afternoon?', 'h5'],
  ['meaning', 'Which pills do I swallow daily?', 'h4'],
  ['meaning', 'How old is my child?', 'h6'],
  ['meaning', 'Who is my boss?', 'w5'],
  ['meaning', 'Which document has to be renewed before the holiday?', 't5'],
  ['meaning', 'Where are we staying in Austria?', 't2'],
  ['meaning', 'How are we getting to Austria?', 't1'],
  ['meaning', 'What instrument does Lotte want to play?', 'h6'],
  ['context', 'What did the physiotherapist tell Joris to do?', 'm5'],
  ['context', 'On which day do Mara and Joris go to the pool?', 'm7'],
  ['context', 'When does Mara get the keys of the flat?', 'k3'],
  ['context', "What does Joris's brother do for a living?", 'k8'],
  ['context', 'How long may the concerts be?', 't4'],
  ['speaker', 'What did Joris say about his knee?', 'm1'],
  ['speaker', 'What did you suggest about the schema?', 'w4'],
  ['speaker', 'What did you say about the new passport?', 't6'],
  ['time', 'What did I tell you about my health in November 2025?', 'h1 h3 h4'],
  ['time', 'What did Mara say in February 2025?', 'k1 k3 k5 k7'],
  ['unrelated', 'What is the boiling point of tungsten hexafluoride?', ''],
  ['unrelated', 'Who won the curling championship in 1987?', ''],
  ['unrelated', 'Which clause of the lease covers the warehouse roof?', ''],
  ['unrelated', 'How many moons does Uranus have?', ''],
  ['unrelated', 'Explain the rules of baseball.', ''],
  ['unrelated', 'What is the capital of Mongolia?', ''],
  ['unrelated', 'Translate this poem into Finnish.', ''],
  ['unrelated', 'How do I sort an array in Rust?', ''],
]

const GROUP = 'own'

export function loadOwnSet(): EvalSet {
  const documents = CONVERSATIONS.flatMap(([session, ts, lines]) =>
    lines
      .trim()
      .split('\n')
      .map((line): EvalDocument => {
        const [, id = '', speaker = '', text = ''] = /^\s*(\w+) (\w+): (.*)$/.exec(line) ?? []
        return { id, group: GROUP, session, ts, speaker, text, caption: null }
      }),
  )
  const queries = QUESTIONS.map(([category, question, gold], position): EvalQuery => {
    return {
      id: String(position),
      group: GROUP,
      question,
      category,
      gold: gold === '' ? [] : gold.split(' '),
      goldSessions: [],
      askedAt: '2026-01-20',
      isUnanswerable: gold === '',
    }
  })
  return { documents, queries }
}
