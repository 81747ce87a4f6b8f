import { describe, expect, it } from 'vitest'
import { resolveSettings, type SettingValues } from '../../domain/settings/settings.ts'
import { selectVectorReplica, environmentQdrantKey, type VectorStoreOptions } from './vector-store-selection.ts'

const URL = 'http://127.0.0.1:6333'

function configured(
  settings: SettingValues,
  options: VectorStoreOptions = {},
  key: string | null = null,
) {
  return selectVectorReplica(resolveSettings(settings), key, options)
}

describe('the mirror that settings name', () => {
  it('[VT3] is none by itself, and the one that an address or a folder is set for', () => {
    expect(configured({})).toEqual({ kind: 'none' })
    expect(configured({ qdrantUrl: URL })).toMatchObject({ kind: 'mirror', name: 'qdrant' })
    expect(configured({ lancedbFolder: 'x' })).toMatchObject({ kind: 'mirror', name: 'lancedb' })
    for (const vectorStore of ['embedded', 'sqlite-vec'] as const) {
      expect(configured({ qdrantUrl: URL, vectorStore })).toEqual({ kind: 'none' })
    }
  })

  it('[VT3] is refused where something is missing', () => {
    expect(configured({ vectorStore: 'qdrant' })).toMatchObject({ kind: 'refused', name: 'qdrant' })
    expect(configured({ vectorStore: 'lancedb' })).toMatchObject({ kind: 'refused' })
    expect(configured({ vectorStore: 'lancedb' }, { folder: 'x' })).toMatchObject({
      kind: 'mirror',
      identity: 'x',
    })
    expect(configured({ vectorStore: 'pgvector' })).toMatchObject({ kind: 'refused' })
    const onPgvector = (index: { readonly kind: string; readonly reason?: string }) =>
      selectVectorReplica(resolveSettings({ vectorStore: 'pgvector' }), null, { index })
    expect(onPgvector({ kind: 'pgvector' })).toEqual({ kind: 'none' })
    expect(onPgvector({ kind: 'plain', reason: 'not installed' })).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('pgvector can’t be used: not installed'),
    })
  })

  it('[VT3] is another one when anything about it is, and its identity does not tell the key', () => {
    const one = configured({ qdrantUrl: URL }, {}, 'secret-key')
    const others = [
      configured({ qdrantUrl: `${URL}/x` }, {}, 'secret-key'),
      configured({ qdrantUrl: URL }, {}, 'another-key'),
      configured({ qdrantUrl: URL, qdrantQuantization: 'int8' }, {}, 'secret-key'),
      configured({ qdrantUrl: URL, qdrantPrefix: 'mine' }, {}, 'secret-key'),
    ]
    const identities = [one, ...others].map((each) => ('identity' in each ? each.identity : ''))
    expect(new Set(identities).size).toBe(5)
    expect(identities.join()).not.toContain('secret')
  })

  it('[VT15] is not LanceDB where the memories are encrypted', () => {
    const options = { folder: 'x', isEncrypted: true }
    expect(configured({ vectorStore: 'lancedb' }, options)).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('encrypted'),
    })
  })

  it('[VT15] gets the key of the environment only at the address of the environment', () => {
    const options = { qdrantKey: 'k', qdrantKeyUrl: URL }
    expect(environmentQdrantKey(resolveSettings({ qdrantUrl: URL }), options)).toBe('k')
    expect(environmentQdrantKey(resolveSettings({ qdrantUrl: 'http://other' }), options)).toBeNull()
    expect(environmentQdrantKey(resolveSettings({ qdrantUrl: URL }), { qdrantKey: 'k' })).toBe('k')
  })
})

describe('the address of Qdrant', () => {
  it('[VT3] is that of a server, without a password, or none', () => {
    for (const qdrantUrl of ['', URL, 'https://q.example:6333/path']) {
      expect(resolveSettings({ qdrantUrl }).qdrantUrl).toBe(qdrantUrl)
    }
    for (const qdrantUrl of ['qdrant', 'ftp://x', 'http://u:secret@x', 'http://x?key=secret']) {
      expect(() => resolveSettings({ qdrantUrl })).toThrow('takes an address')
      expect(() => resolveSettings({ qdrantUrl })).not.toThrow('secret')
    }
  })
})
