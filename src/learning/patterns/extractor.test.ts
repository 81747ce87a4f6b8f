import { describe, expect, it } from 'vitest'
import { evaluatePatterns } from '../../../evals/patterns.ts'
import { extractPatterns } from './extractor.ts'

/** Category, polarity sign and clause of everything extracted, one string each. */
function read(text: string): readonly string[] {
  return extractPatterns(text).map(
    ({ category, polarity, content }) =>
      `${category} ${polarity === 'affirmed' ? '+' : '-'} ${content}`,
  )
}

describe('[PX1] what stands before a question is a statement', () => {
  it.each([
    [
      "my son is 4 and won't eat vegetables, tips?",
      "relationship + my son is 4 and won't eat vegetables",
    ],
    ['Estou grávida de 5 meses, posso comer sushi?', 'fact + Estou grávida de 5 meses'],
    ['我刚搬到上海，有什么好吃的推荐吗？', 'fact + 我刚搬到上海'],
    [
      'mein sohn ist 4 und isst kein gemüse, tipps?',
      'relationship + mein sohn ist 4 und isst kein gemüse',
    ],
    ["j'habite à nantes, des idées de sorties ?", "fact + j'habite à nantes"],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual([expected])
  })

  it('a question alone is none', () => {
    expect(read('Should I move to Porto, or stay?')).toEqual([])
    expect(read('If I live in Porto, do I pay taxes there?')).toEqual([])
  })
})

describe('[PX1] news in everyday wording', () => {
  it.each([
    ["I'm back at Bosch again", "fact + I'm back at Bosch again"],
    ['we got divorced last month', 'relationship + we got divorced last month'],
    ['got married in June!', 'relationship + got married in June'],
    ['quit smoking!', 'fact + quit smoking'],
    ['my girlfriend and i broke up', 'relationship + my girlfriend and i broke up'],
    ['allergic to penicillin btw', 'fact + allergic to penicillin'],
    ["i've been learning korean for two years", "fact + i've been learning korean for two years"],
    ["i get migraines when it's hot", "fact + i get migraines when it's hot"],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual([expected])
  })

  it.each(["I'm back", 'moved to trash', 'I get an error', 'switched to dark mode, still broken'])(
    'is not: %s',
    (text) => {
      expect(read(text)).toEqual([])
    },
  )
})

describe('[PX1] the whole clause is kept with its polarity', () => {
  it.each([
    ['I like Python', ['preference + I like Python']],
    ["I don't like Python", ["preference - I don't like Python"]],
    ['I dont like Python.', ['preference - I dont like Python']],
    ['I hate mornings', ['preference + I hate mornings']],
    ['I will use Postgres', ['decision + I will use Postgres']],
    ['my favourite editor is vim', ['preference + my favourite editor is vim']],
    ['I never drink coffee', ['pattern - I never drink coffee']],
    ['I prefer tea, but not green tea.', ['preference + I prefer tea, but not green tea']],
    ['I love tea but I hate coffee', ['preference + I love tea', 'preference + I hate coffee']],
    [
      "I'm married, and I'm moving to Oslo in May",
      ["relationship + I'm married", "event + I'm moving to Oslo in May"],
    ],
    ['As a rule, I dislike phone calls', ['preference + As a rule, I dislike phone calls']],
    ['Ich mag keinen Kaffee', ['preference - Ich mag keinen Kaffee']],
    ['Ich mag Tee, aber keinen Kaffee', ['preference + Ich mag Tee, aber keinen Kaffee']],
    ['No me gusta el ruido', ['preference - No me gusta el ruido']],
    ["j'aime pas le lundi", ["preference - j'aime pas le lundi"]],
    ['Não gosto de frio', ['preference - Não gosto de frio']],
    ['我不喜欢下雨', ['preference - 我不喜欢下雨']],
    ['納豆は好きじゃない', ['preference - 納豆は好きじゃない']],
  ])('%s', (text, expected) => {
    expect(read(text)).toEqual(expected)
  })

  it('keeps an apostrophe as it was typed and collapses blanks', () => {
    expect(read('I  don’t\tlike   snow')).toEqual(['preference - I don’t like snow'])
  })
})

describe('[PX2] questions, hypotheticals, quoted and assistant speech are no facts', () => {
  it.each([
    'would I like it?',
    'Do I like Python?',
    'I like Python?',
    'If I like it, I will use Postgres.',
    'I would prefer tea if I were British',
    'Maybe I prefer tea',
    'I will move to Rome if I get the job',
    'Ich ziehe nächstes Jahr nach Rom, falls ich den Job bekomme',
    'Suppose I live in Rome',
    'He said "I love Berlin" and left',
    'The song goes ‘I hate Mondays’',
    '„Ich liebe Berlin“',
    '« Je déteste le lundi »',
    '「私は東京が好きです」',
    '`I prefer tabs`',
    '```\nI prefer tabs\n```',
    '```\nI prefer tabs and the fence never closes',
    '> I live in Madrid',
    'Assistant: I prefer concise answers.\nI always answer.',
    'Assistant: Sure.\r\nI love helping.\r\n',
    'ChatGPT: I love helping',
    '**AI:** I love helping',
    '助手：我喜欢帮助别人',
    'アシスタント：私は猫が好きです',
    'Translate into French: I live in Oslo.\n\nI love skiing.',
    'She said I like tea',
    'My boss thinks I prefer tea',
    'You told me I live in Rome',
    'Er sagt, ich mag Tee',
    'Ella dice que me gusta el té',
    'Elle pense que je préfère le thé',
    'Ele disse que eu gosto de chá',
    '他说我喜欢茶',
    '私はコーヒーが好きですか',
    '我喜欢茶吗',
    'I like this answer',
    'I need you to fix this',
    'I have a question',
    "I'm getting an error",
    "I'll try that",
    'I will let you know',
    "I'm going to paste the log",
    "I'm using the code below",
  ])('%s', (text) => {
    expect(read(text)).toEqual([])
  })

  it('keeps the statement before a question or a request', () => {
    expect(read("I'm vegan, what can I cook tonight?")).toEqual(["fact + I'm vegan"])
    expect(read('I live in Oslo. What should I wear?')).toEqual(['fact + I live in Oslo'])
    expect(read('Soy vegano, ¿qué como?')).toEqual(['fact + Soy vegano'])
  })

  it('ignores transcripts, whoever speaks, and reads what follows', () => {
    expect(read('Assistant: I love tea.\nUser: I hate tea.')).toEqual([])
    expect(read('Bot: I love tea.\n\nI hate tea.')).toEqual(['preference + I hate tea'])
  })

  it('does not take the heading of a remark for a speaker', () => {
    expect(read('Remember: I hate tea')).toEqual(['preference + I hate tea'])
    expect(read('Olga: I hate tea')).toEqual([])
  })

  it('does not take an apostrophe or an inch mark for a quotation', () => {
    expect(read(`I don't like my 27" screen and my wife's name is Jo`)).toEqual([
      `preference - I don't like my 27" screen`,
      `relationship + my wife's name is Jo`,
    ])
  })
})

describe('[PX4] dots inside words do not cut', () => {
  it.each([
    'I prefer node.js over Deno',
    'I use v1.2 every day',
    'I like example.com/a.b?c=d more than others',
    'I love U.S. history and e.g. Lincoln',
    'I live near St. Louis',
    'I never drink coffee after 3 p.m. because of my sleep',
    'Ich habe am 3. Mai Geburtstag',
  ])('%s', (text) => {
    expect(extractPatterns(text).map(({ content }) => content)).toEqual([text])
  })

  it('still ends a sentence at its dot', () => {
    expect(read('I am 34. I live in Rome. i love tea')).toEqual([
      'fact + I am 34',
      'fact + I live in Rome',
      'preference + i love tea',
    ])
  })
})

describe('categories', () => {
  it.each([
    ['I prefer dark mode', 'preference', 'factual'],
    ['We decided to use Rust', 'decision', 'episodic'],
    ['I usually get up early', 'pattern', 'factual'],
    ['My name is Ada', 'fact', 'factual'],
    ['My wife is called Jo', 'relationship', 'factual'],
    ["Next week I'm flying to Rome", 'event', 'episodic'],
  ])('%s is %s and %s', (text, category, type) => {
    expect(extractPatterns(text)).toMatchObject([{ category, type, language: 'en' }])
  })

  it('counts an allergy for more than a plan', () => {
    const [allergy] = extractPatterns('I am allergic to nuts')
    const [plan] = extractPatterns('I plan to run a marathon')
    expect(allergy?.importance).toBeGreaterThan(plan?.importance ?? 10)
  })

  it('reads "cannot have" as harmful', () => {
    const [shellfish] = extractPatterns("i can't do shellfish")
    expect(shellfish).toMatchObject({ category: 'fact', importance: 9 })
    expect(extractPatterns("I can't do this exercise")).toEqual([])
  })

  it('distinguishes related languages by the rest of the text', () => {
    expect(extractPatterns('No como carne. Soy de Sevilla y me gusta el campo.')[0]?.language).toBe(
      'es',
    )
    expect(
      extractPatterns('Nunca uso emojis. Eu moro no Rio e não gosto de frio.')[0]?.language,
    ).toBe('pt')
  })
})

describe('[PX8] the labelled set', () => {
  it('holds at least 300 sentences and both floors', async () => {
    const report = await evaluatePatterns({ data: '', explain: false })
    expect(report.metrics.sentences).toBeGreaterThanOrEqual(300)
    expect(report.floors.filter(({ holds }) => !holds)).toEqual([])
  })
})
