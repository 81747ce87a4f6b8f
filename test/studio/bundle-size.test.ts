/** What a browser downloads: JavaScript size, catalogs, and that nothing is loaded from other hosts. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import german from '../../studio/src/i18n/catalogs/de.json'
import english from '../../studio/src/i18n/catalogs/en.json'
import spanish from '../../studio/src/i18n/catalogs/es.json'
import japanese from '../../studio/src/i18n/catalogs/ja.json'
import portuguese from '../../studio/src/i18n/catalogs/pt.json'
import chinese from '../../studio/src/i18n/catalogs/zh.json'
import { notBuilt, STUDIO_FOLDER } from './studio-support.ts'

const JAVASCRIPT_BYTES_MAX = 400_000
const PAGE_BYTES_MAX = 200_000
const LEVEL = 9

const files = () =>
  readdirSync(STUDIO_FOLDER, { recursive: true, encoding: 'utf8' }).map((name) =>
    join(STUDIO_FOLDER, name),
  )

const sizes = new Map<string, number>()
function gzippedSize(name: string): number {
  const size = sizes.get(name) ?? gzipSync(readFileSync(name), { level: LEVEL }).length
  sizes.set(name, size)
  return size
}

/** The scripts that a script needs before it runs, with itself. */
function scriptsOf(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found
  found.add(name)
  const imports = readFileSync(name, 'utf8').matchAll(
    /(?:from|import)\s*["'`]\.\/([^"'`]+\.js)["'`]/g,
  )
  for (const [, file = ''] of imports) scriptsOf(join(dirname(name), file), found)
  return found
}

/** The scripts that are loaded later, when a page or part is shown. */
const laterScriptsOf = (name: string): string[] =>
  [...readFileSync(name, 'utf8').matchAll(/import\(\s*["'`]\.\/([^"'`]+\.js)["'`]/g)].map(
    ([, file = '']) => join(dirname(name), file),
  )

describe.skipIf(notBuilt !== null)(
  `the Studio bundle (skipped when ${notBuilt ?? 'nothing is missing'})`,
  () => {
    it('[SU14] JavaScript of all pages is below 400 kB compressed', () => {
      const scripts = files().filter((name) => /\.[cm]?js$/.test(name))
      expect(scripts.length).toBeGreaterThan(10)
      const total = scripts.reduce((sum, name) => sum + gzippedSize(name), 0)
      expect(total).toBeLessThan(JAVASCRIPT_BYTES_MAX)
    })

    it('[SU14] every page, and every part that is loaded later, needs less than 200 kB compressed', () => {
      const page = readFileSync(join(STUDIO_FOLDER, 'index.html'), 'utf8')
      const entry = /<script[^>]* src="\/([^"]+\.js)"/.exec(page)?.[1]
      if (entry === undefined) throw new Error('The page has no script.')
      const first = scriptsOf(join(STUDIO_FOLDER, entry))
      const pages = [...first].flatMap(laterScriptsOf)
      const parts = pages.flatMap((name) => [...scriptsOf(name)].flatMap(laterScriptsOf))
      expect(pages.length).toBeGreaterThan(14)
      const needs = [...pages, ...parts].map((name) => {
        const needed = new Set([...first, ...scriptsOf(name)])
        const bytes = [...needed].reduce((total, each) => total + gzippedSize(each), 0)
        return { name, bytes }
      })
      expect(needs.filter(({ bytes }) => bytes >= PAGE_BYTES_MAX)).toEqual([])
    })

    it('[SU14] languages are JSON files that load on demand', () => {
      const catalogs = files().filter((name) => /\b(de|en|es|ja|pt|zh)-[^/]*\.json$/.test(name))
      const parsed = catalogs.map((name) => JSON.parse(readFileSync(name, 'utf8')))
      expect(parsed).toHaveLength(6)
      expect(parsed).toEqual(
        expect.arrayContaining([english, german, spanish, japanese, portuguese, chinese]),
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
