/** What a browser has to load. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { messages as german } from '../../studio/src/i18n/de/index.ts'
import { messages as spanish } from '../../studio/src/i18n/es/index.ts'
import { messages as japanese } from '../../studio/src/i18n/ja/index.ts'
import { messages as portuguese } from '../../studio/src/i18n/pt/index.ts'
import { messages as chinese } from '../../studio/src/i18n/zh/index.ts'
import { notBuilt, STUDIO_FOLDER } from './studio-support.ts'

const JAVASCRIPT_BYTES_MAX = 350_000
const LEVEL = 9

const files = () =>
  readdirSync(STUDIO_FOLDER, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(STUDIO_FOLDER, name),
  )

describe.skipIf(notBuilt !== null)(
  `the weight of the Studio (skipped when ${notBuilt ?? 'nothing is missing'})`,
  () => {
    it('[SU14] all JavaScript, of all pages together, is less than 350 kB', () => {
      const scripts = files().filter((name) => /\.[cm]?js$/.test(name))
      expect(scripts.length).toBeGreaterThan(10)
      const sizes = scripts.map((name) => gzipSync(readFileSync(name), { level: LEVEL }).length)
      expect(sizes.reduce((total, bytes) => total + bytes)).toBeLessThan(JAVASCRIPT_BYTES_MAX)
    })

    it('[SU14] the languages that are not English are data, each in a file of its own', () => {
      const catalogues = files().filter((name) => /\b(de|es|ja|pt|zh)-[^/]*\.json$/.test(name))
      const spoken = catalogues.map((name) => JSON.parse(readFileSync(name, 'utf8')))
      expect(spoken).toHaveLength(5)
      expect(spoken).toEqual(
        expect.arrayContaining([german, spanish, japanese, portuguese, chinese]),
      )
    })

    it('[SU14] nothing comes from elsewhere', () => {
      const page = readFileSync(join(STUDIO_FOLDER, 'index.html'), 'utf8')
      expect([...page.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, to]) => to)).toSatisfy(
        (links: readonly string[]) => links.every((to) => to.startsWith('/studio/')),
      )
    })
  },
)
