/** What a browser has to load. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { notBuilt, STUDIO_FOLDER } from './support.ts'

const JAVASCRIPT_BYTES_MAX = 350_000
/** Each comes when its language is chosen. */
const CATALOGUE = /^(de|es|ja|pt|zh)-/

describe.skipIf(notBuilt !== null)(
  `the weight of the Studio (skipped when ${notBuilt ?? 'nothing is missing'})`,
  () => {
    it('[SU14] all of it, in the longest language, is less than 350 kB', () => {
      const folder = join(STUDIO_FOLDER, 'studio', 'assets')
      const sizes = readdirSync(folder)
        .filter((name) => name.endsWith('.js'))
        .map((name) => ({ name, bytes: gzipSync(readFileSync(join(folder, name))).length }))
      const catalogues = sizes.filter(({ name }) => CATALOGUE.test(name))
      expect(catalogues).toHaveLength(5)
      const others = sizes.filter(({ name }) => !CATALOGUE.test(name))
      const sum = others.reduce((total, { bytes }) => total + bytes, 0)
      expect(sum + Math.max(...catalogues.map(({ bytes }) => bytes))).toBeLessThan(
        JAVASCRIPT_BYTES_MAX,
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
