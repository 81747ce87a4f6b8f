/** A model that knows what it is asked for, and says to each question what it is told to say. */
import type {
  Completion,
  CompletionRequest,
  LanguageModel,
} from '../../src/models/language-model.ts'

/** Text, something to be written as JSON, an error, or what is to be done when it is asked. */
type Answer = string | object | Error | (() => Promise<string>)

const QUESTIONS = {
  verdict: 'You compare two statements',
  summary: 'put them into one shorter text',
  narrative: 'about who they are',
  distillate: 'You are given a conversation',
} as const
type Question = keyof typeof QUESTIONS

/** A verdict can be said in its word alone. */
export type Answers = { [question in Question]?: Answer }

const VERDICTS: readonly unknown[] = ['duplicate', 'update', 'conflict', 'unrelated', 'unsure']

export class AnsweringModel implements LanguageModel {
  readonly requests: CompletionRequest[] = []
  readonly answers: Answers

  constructor(answers: Answers) {
    this.answers = { ...answers }
  }

  async complete(request: CompletionRequest): Promise<Completion> {
    this.requests.push(request)
    request.signal.throwIfAborted()
    const question = questionOf(request)
    const answer = question === null ? undefined : this.answers[question]
    if (answer === undefined) throw new Error('Nobody said what to answer to that.')
    if (answer instanceof Error) throw answer
    const said = typeof answer === 'function' ? await answer() : answer
    const meant = VERDICTS.includes(said) ? { verdict: said } : said
    const text = typeof meant === 'string' ? meant : JSON.stringify(meant)
    return { text, isTruncated: false, tokens: { input: 100, output: 10 } }
  }

  /** What it was shown with each question of a kind. */
  asked(question: Question): readonly string[] {
    return this.requests
      .filter((request) => questionOf(request) === question)
      .map(({ messages }) => messages.at(-1)?.content ?? '')
  }
}

function questionOf({ messages }: CompletionRequest): Question | null {
  const [task] = messages
  const found = Object.entries(QUESTIONS).find(([, words]) => task?.content.includes(words))
  return (found?.[0] as Question | undefined) ?? null // a name of the table
}
