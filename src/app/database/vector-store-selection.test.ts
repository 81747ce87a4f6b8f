import { describe, expect, it } from 'vitest'
import { resolveSettings, type SettingValues } from '../../domain/settings/settings.ts'
import {
  environmentQdrantKey,
  selectVectorReplica,
  type VectorStoreOptions,
} from './vector-store-selection.ts'

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
    expect(configured({ 'vectorStore.qdrantUrl': URL })).toMatchObject({
      kind: 'mirror',
      name: 'qdrant',
    })
    expect(configured({ 'vectorStore.lancedbFolder': 'x' })).toMatchObject({
      kind: 'mirror',
      name: 'lancedb',
    })
    for (const vectorStore of ['embedded', 'sqlite-vec'] as const) {
      expect(
        configured({ 'vectorStore.qdrantUrl': URL, 'vectorStore.backend': vectorStore }),
      ).toEqual({ kind: 'none' })
    }
  })

  it('[VT3] is refused where something is missing', () => {
    expect(configured({ 'vectorStore.backend': 'qdrant' })).toMatchObject({
      kind: 'refused',
      name: 'qdrant',
    })
    expect(configured({ 'vectorStore.backend': 'lancedb' })).toMatchObject({ kind: 'refused' })
    expect(configured({ 'vectorStore.backend': 'lancedb' }, { folder: 'x' })).toMatchObject({
      kind: 'mirror',
      identity: 'x',
    })
    expect(configured({ 'vectorStore.backend': 'pgvector' })).toMatchObject({ kind: 'refused' })
    const onPgvector = (index: { readonly kind: string; readonly reason?: string }) =>
      selectVectorReplica(resolveSettings({ 'vectorStore.backend': 'pgvector' }), null, { index })
    expect(onPgvector({ kind: 'pgvector' })).toEqual({ kind: 'none' })
    expect(onPgvector({ kind: 'plain', reason: 'not installed' })).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('pgvector cannot be used: not installed'),
    })
  })

  it('[VT3] is another one when anything about it is, and its identity does not tell the key', () => {
    const one = configured({ 'vectorStore.qdrantUrl': URL }, {}, 'secret-key')
    const others = [
      configured({ 'vectorStore.qdrantUrl': `${URL}/x` }, {}, 'secret-key'),
      configured({ 'vectorStore.qdrantUrl': URL }, {}, 'another-key'),
      configured(
        { 'vectorStore.qdrantUrl': URL, 'vectorStore.qdrantQuantization': 'int8' },
        {},
        'secret-key',
      ),
      configured(
        { 'vectorStore.qdrantUrl': URL, 'vectorStore.qdrantCollectionPrefix': 'mine' },
        {},
        'secret-key',
      ),
    ]
    const identities = [one, ...others].map((each) => ('identity' in each ? each.identity : ''))
    expect(new Set(identities).size).toBe(5)
    expect(identities.join()).not.toContain('secret')
  })

  it('[VT15] is not LanceDB where the memories are encrypted', () => {
    const options = { folder: 'x', isEncrypted: true }
    expect(configured({ 'vectorStore.backend': 'lancedb' }, options)).toMatchObject({
      kind: 'refused',
      because: expect.stringContaining('encrypted'),
    })
  })

  it('[VT15] gets the key of the environment only at the address of the environment', () => {
    const options = { qdrantKey: 'k', qdrantKeyUrl: URL }
    expect(environmentQdrantKey(resolveSettings({ 'vectorStore.qdrantUrl': URL }), options)).toBe(
      'k',
    )
    expect(
      environmentQdrantKey(resolveSettings({ 'vectorStore.qdrantUrl': 'http://other' }), options),
    ).toBeNull()
    expect(
      environmentQdrantKey(resolveSettings({ 'vectorStore.qdrantUrl': URL }), { qdrantKey: 'k' }),
    ).toBe('k')
  })
})

describe('the address of Qdrant', () => {
  it('[VT3] is that of a server, without a password, or none', () => {
    for (const qdrantUrl of ['', URL, 'https://q.example:6333/path']) {
      expect(resolveSettings({ 'vectorStore.qdrantUrl': qdrantUrl })['vectorStore.qdrantUrl']).toBe(
        qdrantUrl,
      )
    }
    for (const qdrantUrl of ['qdrant', 'ftp://x', 'http://u:secret@x', 'http://x?key=secret']) {
      expect(() => resolveSettings({ 'vectorStore.qdrantUrl': qdrantUrl })).toThrow('must be a URL')
      expect(() => resolveSettings({ 'vectorStore.qdrantUrl': qdrantUrl })).not.toThrow('secret')
    }
  })
})
