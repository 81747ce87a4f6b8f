import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { announcesChange, compareStatements } from './statements.ts'

const verdict = (a: string, b: string) => {
  const comparison = compareStatements(a, b)
  return comparison.kind === 'contradicts' ? comparison.reason : comparison.kind
}

describe('compareStatements', () => {
  it.each([
    ['I like Python', 'i like python.'],
    ['I really like Python', 'I like Python'],
    ['The user likes Python', 'User likes Python'],
    ['My favorite editor is vim', 'My favourite editor is Vim'],
    ["I don't like mushrooms", 'I do not like mushrooms'],
    ['我喜欢北京', '我喜欢北京。'],
    ['No, I like tea', 'I like tea'],
    ['I live in Berlin', 'The user lives in Berlin'],
    ['Estoy casado', 'Estoy casada'],
  ])('[WR3] the same: %s | %s', (a, b) => {
    expect(verdict(a, b)).toBe('same')
    expect(verdict(b, a)).toBe('same')
  })

  it.each([
    ['I like Python', "I don't like Python", 'negation'],
    ['I like Python', 'I never like Python', 'negation'],
    ['I have a dog', "I don't have a dog anymore", 'negation'],
    ['I love spicy food', 'I hate spicy food', 'negation'],
    ['Ich mag Kaffee', 'Ich mag keinen Kaffee', 'negation'],
    ['Me gusta el café', 'No me gusta el café', 'negation'],
    ["J'aime le thé", "Je n'aime pas le thé", 'negation'],
    ['Eu gosto de café', 'Eu não gosto de café', 'negation'],
    ['我喜欢咖啡', '我不喜欢咖啡', 'negation'],
    ["No, I don't like Python", 'I like Python', 'negation'],
    ["I don't like Python, no", 'I like Python', 'negation'],
    ['No, no me gusta Python', 'Me gusta Python', 'negation'],
    ['Não, não gosto de café', 'Gosto de café', 'negation'],
    ["J'aime le café", "Je n'aime plus le café", 'negation'],
    ['I am married', 'I am divorced', 'value'],
    ['Der Nutzer ist verheiratet', 'Ich bin jetzt geschieden', 'value'],
    ['Estoy casada', 'Estoy divorciada', 'value'],
    ['Je suis mariée', 'Je suis divorcée', 'value'],
    ['Sou casado', 'Sou solteiro', 'value'],
    ['我已婚', '我离婚了', 'value'],
    ['結婚しています', '離婚しました', 'value'],
    ['My balance is -5 euros', 'My balance is 5 euros', 'number'],
    ['I have 2 cats', 'I have 3 cats', 'number'],
    ['I live on the second floor', 'I live on the third floor', 'number'],
    ['My desk is on the 2nd floor', 'My desk is on the fourth floor', 'number'],
    ['Ich wohne im zweiten Stock', 'Ich wohne im dritten Stock', 'number'],
    ['Vivo en el segundo piso', 'Vivo en el tercer piso', 'number'],
    ["J'habite au deuxième étage", "J'habite au troisième étage", 'number'],
    ['Moro no segundo andar', 'Moro no terceiro andar', 'number'],
    ['我的办公室在二楼', '我的办公室在三楼', 'number'],
    ['会議室は二階です', '会議室は三階です', 'number'],
    ['The review is on Monday', 'The review is on Tuesday', 'date'],
    ['I live in Berlin', 'I live in Munich', 'value'],
    ['I live in Berlin', 'I moved to Munich', 'value'],
    ['My name is Ada', 'My name is Grace', 'value'],
    ['My favourite editor is vim', 'My favorite editor is emacs', 'value'],
    ['Ich wohne in Köln', 'Ich wohne jetzt in Bonn', 'value'],
    ['Vivo en Madrid', 'Vivo en Sevilla', 'value'],
    ["J'habite à Lyon", "J'habite à Paris", 'value'],
    ['Moro em Lisboa', 'Moro em Porto', 'value'],
    ['我住在北京', '我住在上海', 'value'],
    ['東京に住んでいます', '大阪に住んでいます', 'value'],
  ])('[WR4] a contradiction: %s | %s', (a, b, reason) => {
    expect(verdict(a, b)).toBe(reason)
    expect(verdict(b, a)).toBe(reason)
  })

  it.each([
    ['I like Python', 'I like Java'],
    ['Alice manages Bob', 'Bob manages Alice'],
    ['My favourite editor is vim', 'My favourite colour is blue'],
    ['I live in Berlin', 'I live in Berlin during the week'],
    ['I lived in Paris in 2010', 'I live in Berlin'],
    ['My dog is called Rex and likes the park', 'My cat is called Tom and likes the park'],
    ['I ran 5 km on Monday', 'I ran 10 km with Anna'],
    ['I use node.js', 'I use node'],
    ["I don't eat meat, not even on Sundays", 'I eat meat, even on Sundays'],
    ['Ich mag keinen Kaffee, nie', 'Ich mag Kaffee'],
    ['I work at Google', 'I work at night'],
    ['I work for Google', "I work for my wife's bakery on Sundays"],
    ['I live in Berlin', 'I live in a small apartment'],
    ['I live in Berlin', 'I live in constant fear of deadlines'],
    ['I live in Berlin', 'I moved to a new team'],
    ['I live in Berlin during the week', 'I live in Hamburg on weekends'],
    ['My name is Ada', 'My name is hard to spell'],
    ['My email is ada@example.com', 'My email is full again'],
    ['My phone is +49 123 456', 'My phone is broken'],
    ['My birthday is May 3', 'My birthday is next week'],
    ['I work as a nurse', 'I work as hard as I can'],
    ['My favourite thing is that it is free', 'My favourite thing is that it is fun'],
    ['私は大阪に住んでいます', '妻は東京に住んでいます'],
    ['我在谷歌工作', '我在家工作'],
    ['我住在北京', '我住在公司附近'],
    ['Trabajo en Google', 'Trabajo en casa'],
    ['Je travaille chez Google', 'Je travaille chez moi'],
    ['Ich arbeite bei Siemens', 'Ich arbeite bei offenem Fenster'],
    ['Ich wohne in Berlin', 'Ich wohne in einer WG'],
    ['I now use s3', 'I now use ec2'],
    ['I take 10 mg in the morning', 'I take 20 mg in the evening'],
    ['I do like dogs but not cats', 'I do not like dogs but cats'],
    ['I am allergic to nuts, not to milk', 'I am not allergic to nuts, to milk'],
    ["I can't stand not working", 'I can stand working'],
    ['I eat', 'I eat too much'],
    ['I drink water', 'I drink more water now'],
    ['I study at a university', 'I study at a universe'],
    ['I like organs', 'I like organizations'],
    ['I like tea', 'I like tea?'],
    ['I prefer tea', 'I avoid tea'],
    ['我特别喜欢猫', '我特喜欢猫'],
    ['Call me at 5', 'Call me Bob'],
    ['I moved to Paris in 2010', 'I live in Berlin'],
    ["I don't prefer tea", 'I like tea'],
    ["I don't hate tea", 'I hate tea, and milk'],
    ['Run a && b to build', 'Run a || b to build'],
    ['1', '2'],
    ['<script>alert(1)</script>', '<script>alert(1);</script>'],
    ['', ''],
    ['!!!', '???'],
  ])('[WR3] undecided or compatible: %s | %s', (a, b) => {
    expect(verdict(a, b)).toBe('different')
    expect(verdict(b, a)).toBe('different')
  })

  it('[WR3] is symmetric on any text', () => {
    const words = fc.constantFrom(
      'I',
      'like',
      "don't",
      'not',
      'tea',
      '5',
      'Monday',
      '不',
      '!',
      '\ud800',
    )
    const text = fc.oneof(
      fc.array(words, { maxLength: 8 }).map((list) => list.join(' ')),
      fc.string({ unit: 'binary' }),
    )
    fc.assert(fc.property(text, text, (a, b) => verdict(a, b) === verdict(b, a)))
  })
})

describe('equivalent statements', () => {
  it.each([
    ['By the way, I play the cello', 'I play the cello'],
    ['Remember that I take my tea without sugar', 'I take my tea without sugar'],
    ['My favourite colour is green', 'Green is my favorite color'],
    ['I am employed by Siemens', 'I work at Siemens'],
    ['I have a dog named Rex', "My dog's name is Rex"],
    ['I have two cats', 'I have 2 cats'],
    ['The meeting is at 3 pm', 'The meeting is at 15:00'],
    ['I am thirty-four years old', "I'm 34"],
    ["I can't stand olives", "I don't like olives"],
    ["I'm a big fan of jazz", 'I love jazz'],
    ['I have no siblings', "I don't have any siblings"],
    ['Every morning before breakfast I run', 'I run every morning before breakfast'],
    ['I speak French, German and Dutch', 'I speak French, Dutch and German'],
    ['I live in Tallinn and work in Helsinki', 'I work in Helsinki and live in Tallinn'],
    ['I prefer tea to coffee', "I'd rather drink tea than coffee"],
    ['I am living in Oslo', 'The user lives in Oslo'],
    ['Montags gehe ich schwimmen', 'Ich gehe montags schwimmen'],
    ['Ich hasse Rosenkohl', 'Ich mag keinen Rosenkohl'],
    ['El verde es mi color favorito', 'Mi color favorito es el verde'],
    ["J'ai un chien qui s'appelle Filou", "Mon chien s'appelle Filou"],
    ['Odeio azeitonas', 'Não gosto de azeitonas'],
    ['我有两只猫', '我有2只猫'],
    ['我的职业是护士', '我是护士'],
    ['私は月曜日に泳ぎに行く', '月曜日に泳ぎに行きます'],
  ])('[TR1] %s | %s', (a, b) => {
    expect(verdict(a, b)).toBe('same')
    expect(verdict(b, a)).toBe('same')
  })
})

describe('compatible statements', () => {
  it.each([
    ['I live in Berlin', 'I live in Germany'],
    ['I live in Kreuzberg', 'I live in Berlin'],
    ['I live in Texas', 'I live in Austin'],
    ['我住在北京', '我住在中国'],
    ['My name is Ada', 'My name is Ada Byron'],
    ['I work at Google', 'I work at Google Cloud'],
    ['I live in Berlin', 'I moved to Hamburg once'],
    ['Fact number 12 is about whales', 'Fact number 13 is about whales'],
    ['Room 12 has a projector', 'Room 14 has a projector'],
    ['第3章写完了', '第4章写完了'],
    ['My second child likes tea', 'My third child likes tea'],
    ['The second meeting is in Berlin', 'The third meeting is in Berlin'],
    ['I ran 5 km', 'I ran 10 km'],
    ['I met Anna on Monday', 'I met Anna on Friday'],
    ['I have a meeting on Monday', 'I have a meeting on Tuesday'],
    ['I go swimming on Mondays', 'I go swimming on Thursdays'],
    ['I am tired today', 'I am not tired today'],
    ['I played tennis', "I don't play tennis"],
    ['I have a son named Max', 'I have a son named Leo now'],
    ['My sister is Anna', 'My sister is now Catholic'],
    ['The meeting is in Bonn', 'The meeting is now at 10:00'],
    ['Meine Schwester heißt Anna', 'Meine Schwester ist jetzt Lehrerin'],
    ['Ich lebe in Wien', 'Ich lebe in Trennung'],
    ['Ich arbeite bei Bosch', 'Ich arbeite bei Regen'],
    ['Trabajo en Iberia', 'Trabajo en Madrid'],
    ['I like green tea and coffee', 'I like green coffee and tea'],
    ["I don't usually eat meat", "I don't eat meat"],
    ['I like not working', "I don't like working"],
    ['I saw Anna on Monday before I met Tom', 'I saw Anna before I met Tom on Monday'],
    ['I live in Berlin', 'I have lived in Berlin since 2019'],
    ['I use MySQL for orders', 'I switched from MySQL to PostgreSQL'],
  ])('[TR2] %s | %s', (a, b) => {
    expect(verdict(a, b)).toBe('different')
    expect(verdict(b, a)).toBe('different')
  })

  it('[TR2] handles any text of any length quickly', () => {
    for (const piece of [
      'I live in ',
      'not ',
      'a, b and ',
      '是我最喜欢的',
      'prefer ',
      'は好き',
      '1:',
    ]) {
      const text = piece.repeat(50_000 / piece.length)
      expect(verdict(text, text)).toBe('same')
      expect(verdict(text, 'I live in Berlin')).toBe('different')
    }
  })
})

it.each([
  ['I prefer tea over coffee', 'I prefer coffee over tea', 'value'],
  ['My manager is Paula', 'My manager is now Stefan', 'change'],
  ['The review is on Monday', 'The review was moved to Wednesday', 'change'],
  ['We use MySQL', 'We migrated from MySQL to PostgreSQL', 'change'],
  ['I smoke', 'I quit smoking', 'negation'],
  ['I work for Bosch', 'I left Bosch', 'negation'],
  ['My flight leaves at 9:30', 'My flight leaves at 10:15', 'number'],
  ['会议在星期一', '会议在星期二', 'date'],
  ['The house was built in 1920', 'The house was built in 1925', 'number'],
])('[WR4] %s | %s: %s', (a, b, reason) => {
  expect(verdict(a, b)).toBe(reason)
  expect(verdict(b, a)).toBe(reason)
})

it('[WR4] detects that a statement announces a change', () => {
  for (const text of [
    'I have 3 cats now',
    'Ich wohne jetzt in Bonn',
    '我现在有3只猫',
    'I switched to 4 days',
  ]) {
    expect(announcesChange(text), text).toBe(true)
  }
  expect(announcesChange('I know 3 cats')).toBe(false)
})
