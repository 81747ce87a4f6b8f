/** What a browser downloads: JavaScript size, catalogs, and that nothing is loaded from other hosts. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import german from '../../studio/src/i18n/catalogs/de.json'
import spanish from '../../studio/src/i18n/catalogs/es.json'
import japanese from '../../studio/src/i18n/catalogs/ja.json'
import portuguese from '../../studio/src/i18n/catalogs/pt.json'
import chinese from '../../studio/src/i18n/catalogs/zh.json'
import { notBuilt, STUDIO_FOLDER } from './studio-support.ts'

const JAVASCRIPT_BYTES_MAX = 400_000
const LEVEL = 9

const files = () =>
  readdirSync(STUDIO_FOLDER, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(STUDIO_FOLDER, name),
  )

describe.skipIf(notBuilt !== null)(
  `the Studio bundle (skipped when ${notBuilt ?? 'nothing is missing'})`,
  () => {
    it('[SU14] JavaScript of all pages is below 400 kB compressed', () => {
      const scripts = files().filter((name) => /\.[cm]?js$/.test(name))
      expect(scripts.length).toBeGreaterThan(10)
      const sizes = scripts.map((name) => gzipSync(readFileSync(name), { level: LEVEL }).length)
      expect(sizes.reduce((total, bytes) => total + bytes)).toBeLessThan(JAVASCRIPT_BYTES_MAX)
    })

    it('[SU14] languages other than English are JSON files that load on demand', () => {
      const catalogs = files().filter((name) => /\b(de|es|ja|pt|zh)-[^/]*\.json$/.test(name))
      const parsed = catalogs.map((name) => JSON.parse(readFileSync(name, 'utf8')))
      expect(parsed).toHaveLength(5)
      expect(parsed).toEqual(
        expect.arrayContaining([german, spanish, japanese, portuguese, chinese]),
      )
    })

    it('[SU14] all scripts and styles come from the server', () => {
      const page = readFileSync(join(STUDIO_FOLDER, 'index.html'), 'utf8')
      expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, to]) => to)).toSatisfy(
        (links: readonly string[]) => links.every((to) => to.startsWith('/studio/')),
      )
    })
  },
)
