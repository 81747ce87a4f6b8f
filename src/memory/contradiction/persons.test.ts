import { describe, expect, it } from 'vitest'
import { rewriteToFirstPerson } from './persons.ts'
import { parseStatement } from './statements.ts'

const attributeOf = (content: string) => parseStatement(content).attribute

describe('statements in the third person', () => {
  it.each([
    ['The user lives in Oslo.', 'I live in Oslo.'],
    ['The user currently studies law.', 'I currently study law.'],
    ['The user was in Oslo.', 'I was in Oslo.'],
    ["The user doesn't watch films.", "I don't watch films."],
    ['Die Nutzerin lebt in Köln.', 'Ich lebe in Köln.'],
    ['Der Name des Nutzers ist Max.', 'Mein Name ist Max.'],
    ['La usuaria se mudó a Bilbao.', 'Me mudé a Bilbao.'],
    ['Al usuario no le gusta el té.', 'no me gusta el té.'],
    ["L'utilisatrice vit à Nice.", 'Je vis à Nice.'],
    ["La sœur de l'utilisateur vit à Nice.", 'Ma sœur vit à Nice.'],
    ['O utilizador não gosta de chá.', 'não gosto de chá.'],
    ['用户的妹妹住在上海。', '我的妹妹住在上海。'],
    ['ユーザーの母は大阪に住んでいる。', '私の母は大阪に住んでいる。'],
    // No person is meant.
    ['用户界面是深色的。', '用户界面是深色的。'],
    ['Nutzer wohnen überall.', 'Nutzer wohnen überall.'],
  ])('[AJ10] %s becomes: %s', (statement, own) => {
    expect(rewriteToFirstPerson(statement)).toBe(own)
  })

  it.each([
    ['Anna works at Siemens.', 'employer of anna', 'one'],
    ['Anna Schmidt has moved to Oslo.', 'home of anna schmidt', 'one'],
    ["The user's mother lives in Oslo.", 'home of my mother', 'one'],
    ["The user's sister lives in Oslo.", 'home of my sister', 'usually one'],
    ["The user's brother Tom lives in Oslo.", 'home of my brother tom', 'one'],
    ['Anna wohnt jetzt in Köln.', 'home of anna', 'one'],
    ['Anna arbeitet bei Siemens.', 'employer of anna', 'usually one'],
    ['La hermana del usuario vive en Sevilla.', 'home of mi hermana', 'usually one'],
    ['Claire habite à Nice.', 'home of claire', 'one'],
    ['A mãe do usuário mora em Faro.', 'home of minha mãe', 'one'],
    ['用户的妈妈住在北京。', 'home of 我的妈妈', 'one'],
    ['田中さんは東京に住んでいる。', 'home of 田中さん', 'one'],
    ['ユーザーの妹は東京に住んでいる。', 'home of 妹', 'usually one'],
  ] as const)('[AJ10] %s sets the %s (%s)', (statement, name, cardinality) => {
    expect(attributeOf(statement)).toMatchObject({ name, cardinality })
  })

  it.each([
    'Everyone lives in Oslo.',
    'She lives in Oslo.',
    'Anna lives in constant fear.',
    'Anna works at night.',
    'Anna lived in Oslo.',
    'Anna wants to live in Oslo.',
    'Anna does not live in Oslo.',
    'Die Firma lebt in Angst.',
    '小明住在北京。',
  ])('[AJ10] %s sets nothing', (statement) => {
    expect(attributeOf(statement)).toBeNull()
  })
})
