import { describe, expect, it } from 'vitest'
import { listSettingNames, parseSettings, resolveSettings, SETTINGS } from './settings.ts'

describe('settings', () => {
  it('[SE1] every default lies in its own range, and every setting has help', () => {
    for (const name of listSettingNames()) {
      const { default: value, help } = SETTINGS[name]
      expect(parseSettings({ [name]: value })).toEqual({ [name]: value })
      expect(help.length).toBeGreaterThan(20)
    }
  })

  it('[SE1] settings with the same prefix are listed together', () => {
    const prefixes = listSettingNames().map((name) => name.slice(0, name.indexOf('.')))
    const sections = prefixes.filter((prefix, index) => prefix !== prefixes[index - 1])
    expect(sections).toEqual([...new Set(sections)])
  })

  it('[SE2] later levels override earlier ones', () => {
    expect(resolveSettings({ 'recall.limit': 5 }, { 'recall.limit': 7 })['recall.limit']).toBe(7)
    expect(resolveSettings()['recall.limit']).toBe(SETTINGS['recall.limit'].default)
  })

  it('[SE3] rejects unknown names and values out of range', () => {
    expect(() => parseSettings({ recalLimit: 5 })).toThrow('recalLimit')
    expect(() => parseSettings({ toString: 5 })).toThrow('no setting')
    expect(() => parseSettings({ 'recall.limit': 0 })).toThrow(
      '`recall.limit` must be an integer from 1 to 100; got 0.',
    )
    expect(() => parseSettings({ 'recall.limit': 1.5 })).toThrow('integer')
    expect(() => parseSettings({ 'recall.limit': '5' })).toThrow('integer from 1 to 100; got "5"')
    expect(() => parseSettings({ 'recall.fusion': 'magic' })).toThrow(
      'one of adaptive, rrf, weighted; got "magic"',
    )
  })

  it('[SE3] does not repeat an address, which may contain a password', () => {
    const parse = () => parseSettings({ 'vectorStore.qdrantUrl': 'http://ada:secret@host' })
    expect(parse).toThrow('must be a URL')
    expect(parse).not.toThrow('secret')
  })
})
