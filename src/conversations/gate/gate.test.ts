import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { GATE_EDGE_CHARACTERS_MAX } from '../../text/speech/message-text.ts'
import { classifyMessage } from './gate.ts'
import { GATE_SECTIONS, type GateSection } from './types.ts'

const NOBODY = { entities: [] }
const sectionOf = (message: string, entities: readonly string[] = []) =>
  classifyMessage(message, { entities }).section

describe('[GA1] each section, in each language', () => {
  it.each<[GateSection, string]>([
    ['identity', 'What do you know about me?'],
    ['identity', 'Was weißt du über mich?'],
    ['identity', '¿Qué sabes de mí?'],
    ['identity', "Qu'est-ce que tu sais sur moi ?"],
    ['identity', "Où est-ce que j'habite ?"],
    ['identity', 'O que você sabe sobre mim?'],
    ['identity', '你知道我是谁吗'],
    ['identity', '私の名前は何ですか'],
    ['pinned', 'What should I cook tonight?'],
    ['pinned', 'Was soll ich heute kochen?'],
    ['pinned', '¿Qué cocino esta noche?'],
    ['pinned', 'Qu’est-ce que je pourrais cuisiner ?'],
    ['pinned', 'O que posso cozinhar hoje?'],
    ['pinned', '今晚吃什么好'],
    ['pinned', '今夜は何を食べればいい？'],
    ['episode', 'What did we decide last week?'],
    ['episode', 'Was haben wir letzte Woche beschlossen?'],
    ['episode', '¿Qué decidimos la semana pasada?'],
    ['episode', "Qu'est-ce qu'on a décidé la semaine dernière ?"],
    ['episode', 'O que decidimos na semana passada?'],
    ['episode', '我们上周决定了什么'],
    ['episode', '先週は何を決めたっけ'],
    ['transcript', 'What were my exact words?'],
    ['transcript', 'Was waren meine genauen Worte?'],
    ['transcript', '¿Cuáles fueron mis palabras exactas?'],
    ['transcript', 'Quels étaient mes mots exacts ?'],
    ['transcript', 'Quais foram as minhas palavras exatas?'],
    ['transcript', '我的原话是什么'],
    ['transcript', '私が言った言葉をそのまま教えて'],
    ['none', 'How tall is Everest?'],
    ['none', 'Wie hoch ist der Everest?'],
    ['none', '¿Qué altura tiene el Everest?'],
    ['none', "Quelle est la hauteur de l'Everest ?"],
    ['none', 'Qual é a altura do Everest?'],
    ['none', '珠穆朗玛峰有多高'],
    ['none', 'エベレストの高さは？'],
  ])('%s: %s', (section, message) => {
    expect(sectionOf(message)).toBe(section)
  })

  it('is found in one sentence of a long message', () => {
    const work = 'The parser reads one line at a time and keeps a stack of open brackets. '
    expect(sectionOf(work.repeat(20))).toBe('none')
    expect(sectionOf(`${work.repeat(20)}What did we decide last week?`)).toBe('episode')
  })
})

describe('[GA2] the most specific reference decides', () => {
  it('a known name is not outranked by a word of time', () => {
    expect(sectionOf('Before the call with Tomasz I need a summary.', ['Tomasz'])).toBe('pinned')
    expect(sectionOf('Is it warm in Lisbon in May?', ['Lisbon'])).toBe('pinned')
  })

  it('what was said about a name outranks the name', () => {
    expect(sectionOf('What did we decide about Atlas last week?', ['Atlas'])).toBe('episode')
    expect(sectionOf('What were my exact words about Atlas?', ['Atlas'])).toBe('transcript')
  })
})

describe('[GA3] what refers to nothing', () => {
  it.each([
    'Fix my code.',
    'My function returns undefined.',
    'Put the check before the loop.',
    'How warm is Rome in May?',
    'Show the commits of last week.',
    'Translate it word for word.',
    'Print exactly five lines.',
    'Repeat after me, verbatim: abc',
    'Remember to close the file.',
    'Please remember that I am vegan.',
    "Don't forget my semicolons.",
    'If I told you the sky is green, would you believe it?',
    'Where do I put the config file?',
    'What did I do wrong here?',
    'I went to the dentist yesterday.',
    'What does `what is my name` print?',
    'Write a poem called "What did we decide last week?"',
    '```\n// what did we decide last week?\n```\nWhy does this not compile?',
    '> what do you know about me?\n\nIs this a good question for an interview?',
    'Mein Code läuft nicht.',
    'Mi código no funciona.',
    'Mon code ne marche pas.',
    'Meu código não funciona.',
    '我的代码不能运行',
    '私のコードが動かない',
    '',
    '   ',
    '?',
  ])('%s', (message) => {
    expect(classifyMessage(message, NOBODY).section).toBe('none')
  })
})

describe('[GA4] names', () => {
  it.each<[string, string]>([
    ['How is LUNA doing?', 'Luna'],
    ["Is Luna's food still in stock?", 'luna'],
    ['Write to O’Brien.', "O'Brien"],
    ['Is project  nightingale late?', 'Project Nightingale'],
    ['Ｌｕｎａ is hungry', 'Luna'],
    ['Luna能吃葡萄吗', 'Luna'],
    ['团团能吃葡萄吗', '团团'],
    ['モカは元気かな', 'モカ'],
    ['Ask Mark for the key.', 'Mark'],
    ['Грета придёт?', 'Грета'],
  ])('%s names %s', (message, entity) => {
    expect(sectionOf(message, [entity])).toBe('pinned')
  })

  it.each<[string, string]>([
    ['How high is Annapurna?', 'Anna'],
    ['Can I trust it?', 'Rust'],
    ['snake_case or my_luna_2?', 'luna'],
    ['Mark the task as done.', 'Mark'],
    ['please mark it', 'Mark'],
    ['モカシンの洗い方', 'モカ'],
    ['What is the time?', 'the'],
    ['What is it?', 'it'],
    ['猫的寿命', '猫'],
    ['anything', ''],
    ['anything', '\u200b'],
  ])('%s does not name "%s"', (message, entity) => {
    expect(sectionOf(message, [entity])).toBe('none')
  })
})

describe('[GA5] any text', { timeout: 60_000 }, () => {
  const FRAGMENTS = [
    'what did we ',
    'decide ',
    'my my ',
    'who am i ',
    'Luna ',
    '我',
    '我们上周',
    'っけ',
    '\u200b',
    '\ud83c',
    '"',
    '```\n',
    '. ',
    '\n',
    'é',
    'ﷺ',
    'x'.repeat(50),
  ]
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.constantFrom(...FRAGMENTS), { maxLength: 30 }).map((parts) => parts.join('')),
  )

  it('gets one section, and the same again', () => {
    fc.assert(
      fc.property(anyText, fc.array(anyText, { maxLength: 3 }), (message, entities) => {
        const decision = classifyMessage(message, { entities })
        expect(GATE_SECTIONS).toContain(decision.section)
        expect(classifyMessage(message, { entities })).toEqual(decision)
      }),
    )
  })

  it.each([
    'WHAT DID WE DECIDE LAST WEEK',
    'what\u200b did\u2060 we de\u00adcide\ufeff last week?',
    'ｗｈａｔ ｄｉｄ ｗｅ ｄｅｃｉｄｅ last week',
    'what   did\twe\u00a0decide last week',
  ])('means the same in another dress: %j', (message) => {
    expect(sectionOf(message)).toBe('episode')
  })

  it('is read at its beginning and its end only', () => {
    const filler = 'All work and no play. '.repeat(GATE_EDGE_CHARACTERS_MAX)
    const question = 'What did we decide last week? '
    expect(sectionOf(question + filler)).toBe('episode')
    expect(sectionOf(filler + question)).toBe('episode')
    expect(sectionOf(filler + question + filler)).toBe('none')
  })

  /** Work beyond the edges would take minutes for these, not seconds. */
  it.each([
    'my my my ',
    'what ',
    'what did i ',
    'we we ',
    'a ',
    'a',
    ' ',
    '. ',
    '\u200b',
    '"',
    "'",
    '`',
    '```\n',
    '> ',
    'é',
    'qué é ',
    'que ei ',
    "qu'est-ce que ",
    'was haben wir ',
    'ge',
    '我',
    '我们上周',
    '来着',
    'っけ',
    '私の',
    'ﷺ',
    '\ud83c',
  ])('%j a megabyte long is answered', (unit) => {
    const message = unit.repeat(Math.ceil(1_000_000 / unit.length))
    const entities = Array.from({ length: 1_000 }, (_, index) => `${unit}${index}`)
    expect(GATE_SECTIONS).toContain(classifyMessage(message, { entities }).section)
  })
})

it('[GA6] the reason holds no word of the message', () => {
  const { reason: because } = classifyMessage('How is Xanthippe doing?', {
    entities: ['Xanthippe'],
  })
  expect(because).toBe('It names something that is known.')
})
