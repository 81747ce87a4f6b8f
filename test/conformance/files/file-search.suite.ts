/** What every search in files must do, whatever it keeps of them. */
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import type { FileSearch } from '../../../src/files/file-search.ts'
import { owner } from '../../fakes/memories.ts'
import { folderWith } from '../../files/file-support.ts'

export type OpenedSearch = {
  readonly search: FileSearch
  /** Gives the owner a workspace in this folder. */
  addWorkspace(owner: OwnerId, folder: string): Promise<void>
}

const ADA = owner('ada')
const BOB = owner('bob')
const NOTES = {
  'MEMORY.md': '# Ada\n\nAda prefers green tea to coffee.\n',
  'memory/2026-11-15.md':
    '# Sunday\n\nThe bicycle got a new chain.\n\n## Evening\n\nWe cooked ratatouille with aubergines.\n',
  'memory/house/heating.md': '# Heating\n\nThe boiler must be serviced every October.\n',
}

export function describeFileSearch(name: string, open: () => Promise<OpenedSearch>): void {
  const opened = async (notes: Record<string, string> = NOTES) => {
    const { search, addWorkspace } = await open()
    const folder = folderWith(notes)
    await addWorkspace(ADA, folder)
    await search.sync(ADA)
    const paths = async (text: string, options = {}) =>
      (await search.search(ADA, { text, ...options })).hits.map(({ path }) => path)
    return { search, folder, paths, addWorkspace }
  }

  describe(`${name}: a search in files`, () => {
    it('[FB1] finds lines by their words, best first, and names itself', async () => {
      const { search } = await opened()
      const answer = await search.search(ADA, { text: 'boiler serviced' })
      expect(answer.backend).not.toBe('')
      expect(['hybrid', 'keyword']).toContain(answer.mode)
      const [hit] = answer.hits
      expect(hit).toMatchObject({ path: 'memory/house/heating.md', source: 'memory' })
      expect(hit?.snippet).toContain('boiler')
      expect(hit?.snippet.length).toBeLessThanOrEqual(700)
      expect(hit?.startLine).toBeGreaterThanOrEqual(1)
      expect(hit?.endLine).toBeGreaterThanOrEqual(3)
      const scores = answer.hits.map(({ score }) => score)
      expect(scores).toEqual([...scores].sort((a, b) => b - a))
      expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true)
    })

    it('[FB1] returns as many as requested, the same ones first', async () => {
      const notes = Object.fromEntries(
        Array.from({ length: 9 }, (_, n) => [`memory/${n}.md`, `# Tea ${n}\n\nTea number ${n}.\n`]),
      )
      const { paths } = await opened(notes)
      const all = await paths('tea', { maxResults: 9, minScore: 0 })
      expect(all.length).toBeGreaterThan(2)
      expect(await paths('tea', { maxResults: 1, minScore: 0 })).toEqual(all.slice(0, 1))
      expect(await paths('tea', { maxResults: 2, minScore: 0 })).toEqual(all.slice(0, 2))
    })

    it('[FB2] returns nothing for an empty query or without a match', async () => {
      const { paths } = await opened()
      for (const text of ['', '  ', 'xylophone']) expect(await paths(text)).toEqual([])
    })

    it('[FB3] knows after a sync what was changed, added and removed', async () => {
      const { search, folder, paths } = await opened()
      appendFileSync(join(folder, 'MEMORY.md'), '\nAda plays the bassoon.\n')
      writeFileSync(join(folder, 'memory/new.md'), '# New\n\nThe kayak is in the shed.\n')
      rmSync(join(folder, 'memory/house/heating.md'))
      await search.sync(ADA)
      expect(await paths('bassoon')).toEqual(['MEMORY.md'])
      expect(await paths('kayak')).toEqual(['memory/new.md'])
      expect(await paths('boiler')).not.toContain('memory/house/heating.md')
      await search.sync(ADA, { force: true })
      expect(await paths('kayak')).toEqual(['memory/new.md'])
    })

    it('[FB4] keeps owners apart', async () => {
      const { search, addWorkspace, paths } = await opened()
      await addWorkspace(
        BOB,
        folderWith({ 'MEMORY.md': 'Bob repairs the bicycle of a neighbour.' }),
      )
      await search.sync(BOB)
      const { hits } = await search.search(BOB, { text: 'bicycle' })
      expect(hits.map(({ path }) => path)).toEqual(['MEMORY.md'])
      expect(hits[0]?.snippet).toContain('neighbour')
      expect((await paths('bicycle'))[0]).toBe('memory/2026-11-15.md')
      expect((await search.readFile(BOB, 'memory/2026-11-15.md')).text).toBe('')
    })

    it('[FB5] reads files by the paths that it returns, and nothing outside of the roots', async () => {
      const { search } = await opened()
      const [hit] = (await search.search(ADA, { text: 'ratatouille' })).hits
      const whole = await search.readFile(ADA, hit?.path ?? '')
      expect(whole).toMatchObject({ text: NOTES['memory/2026-11-15.md'], reason: null })
      const part = await search.readFile(ADA, hit?.path ?? '', { from: 3, lines: 1 })
      expect(part.text).toBe('The bicycle got a new chain.')
      const missing = await search.readFile(ADA, 'memory/none.md')
      expect(missing.text).toBe('')
      expect(missing.reason).toEqual(expect.any(String))
      for (const path of ['../secret.md', '/etc/hosts', 'memory/../../x.md']) {
        const result = await search.readFile(ADA, path).then(
          ({ text }) => text,
          ({ code }: { readonly code: string }) => code,
        )
        expect(['', 'invalid_input']).toContain(result)
      }
    })

    it('[FB6] reports its content, and whether it can embed', async () => {
      const { search, folder } = await opened()
      const status = await search.status(ADA)
      expect(status.roots).toMatchObject([{ kind: 'workspace', path: folder, files: 3 }])
      expect(status.bySource.memory.files).toBe(3)
      for (const probed of [
        await search.probeEmbeddingAvailability(),
        await search.probeVectorAvailability(),
      ]) {
        expect(probed.ok ? probed.error : typeof probed.error).toBe(probed.ok ? null : 'string')
      }
    })

    it('[FB7] can be closed twice', async () => {
      const { search } = await opened()
      await search.close()
      await search.close()
    })
  })
}
