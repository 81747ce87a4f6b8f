import { describe, expect, it } from 'vitest'
import { detectWritingSystem, isReadableFrom, scoreCoverage } from './writing-system.ts'

describe('[FX32] the writing system of a text', () => {
  it.each([
    ['spaced', 'How do I drain a node?'],
    ['spaced', 'Как удалить узел?'],
    ['spaced', `A page in English that names ${'somebody by the name of '.repeat(4)}王伟.`],
    ['spaced', ''],
    ['shared', '每个节点的 Pod 数量'],
    ['shared', `<!-- ${'words of another page '.repeat(10)}-->每个节点的数量最多是多少`],
    ['kana', 'ノードの数'],
    ['kana', `${'監査'.repeat(500)}${'のログ'.repeat(50)}`],
    ['hangul', '노드를 비우는 방법'],
  ])('[FX32] %s: %s', (system, text) => {
    expect(detectWritingSystem(text)).toBe(system)
  })

  it('[FX32] tells which texts a reader can read; ideographs alone may be Japanese', () => {
    expect(isReadableFrom('spaced', 'spaced')).toBe(true)
    expect(isReadableFrom('spaced', 'shared')).toBe(false)
    expect(isReadableFrom('shared', 'kana')).toBe(true)
    expect(isReadableFrom('kana', 'shared')).toBe(false)
  })

  it('[FX32] scales coverage in scripts without spaces', () => {
    expect(scoreCoverage(0.3, 'spaced')).toBe(0.3)
    expect(scoreCoverage(0.3, 'shared')).toBeCloseTo(0.5)
    expect(scoreCoverage(0.9, 'kana')).toBe(1)
  })
})
