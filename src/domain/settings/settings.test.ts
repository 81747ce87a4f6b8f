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

  it('[SE2] later levels override earlier ones', () => {
    expect(resolveSettings({ 'recall.limit': 5 }, { 'recall.limit': 7 })['recall.limit']).toBe(7)
    expect(resolveSettings()['recall.limit']).toBe(SETTINGS['recall.limit'].default)
  })

  it('[SE3] refuses unknown names and values out of range', () => {
    expect(() => parseSettings({ recalLimit: 5 })).toThrow('recall.limit')
    expect(() => parseSettings({ toString: 5 })).toThrow('no setting')
    expect(() => parseSettings({ 'recall.limit': 0 })).toThrow('from 1 to 100')
    expect(() => parseSettings({ 'recall.limit': 1.5 })).toThrow('whole number')
    expect(() => parseSettings({ 'recall.limit': '5' })).toThrow('whole number')
    expect(() => parseSettings({ 'recall.fusion': 'magic' })).toThrow(
      'one of adaptive, rrf, weighted',
    )
  })
})
