/** The pages of clients and frameworks: what they import and run exists. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { isClientName } from '../../src/api/mcp/clients/client-config.ts'
import { importPart, installPart } from '../support/part.ts'

const FOLDER = 'docs/clients'
const pages = readdirSync(FOLDER).map((name) => ({
  name,
  text: readFileSync(join(FOLDER, name), 'utf8'),
}))
const { exports, peerDependencies, devDependencies } = z
  .object({
    exports: z.record(z.string(), z.unknown()),
    peerDependencies: z.record(z.string(), z.string()),
    devDependencies: z.record(z.string(), z.string()),
  })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')))
const SOURCES: Readonly<Record<string, string>> = { recollect: 'index.ts' }
/** Packages that are installed apart, on demand. */
const { dependencies: apart } = z
  .object({ dependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('test/parts/clients/package.json', 'utf8')))

it('[IG4] every page is listed with the ways in, and has code to copy', () => {
  const index = pages.find(({ name }) => name === 'index.md')?.text ?? ''
  for (const { name, text } of pages.filter((page) => page.name !== 'index.md')) {
    expect(index, name).toContain(`(${name})`)
    expect(text, name).toMatch(/^```(?:js|sh)$/m)
  }
})

it('[IG4] imports of the pages exist', async () => {
  const imports = pages.flatMap(({ text }) => [
    ...text.matchAll(/^import (?:(\w+)|\{ (.*) \}) from '(.*)'$/gm),
  ])
  expect(imports.length).toBeGreaterThan(8)
  for (const [, single, several = '', from = ''] of imports) {
    if (from.startsWith('recollect')) {
      const entry = from.replace('recollect', '.')
      expect(Object.keys(exports)).toContain(entry)
      const source = SOURCES[from] ?? `integrations/${from.slice('recollect/'.length)}.ts`
      const module: object = await import(`../../src/${source}`)
      expect(Object.keys(module)).toEqual(expect.arrayContaining(several.split(', ')))
    } else {
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(from)?.[0] ?? ''
      const isApart = Object.hasOwn(apart, name)
      expect({ ...apart, ...peerDependencies, ...devDependencies }).toHaveProperty([name])
      // Where it cannot be installed, its own tests say so.
      if (isApart && (await installPart('clients', name)) !== null) continue
      const module: object = isApart ? await importPart('clients', from) : await import(from)
      const names = single === undefined ? several.split(', ') : ['default']
      expect(Object.keys(module)).toEqual(expect.arrayContaining(names))
    }
  }
})

it('[IG4] commands of the pages name clients that exist', () => {
  const names = pages.flatMap(({ text }) =>
    [...text.matchAll(/^recollect connect ([\w-]+)/gm)].map((match) => match[1] ?? ''),
  )
  expect(names.length).toBeGreaterThan(5)
  expect(names.filter((name) => !isClientName(name))).toEqual([])
})
