/** What is relied on in the real `qmd` beyond what every search must do. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findFilesByDocumentId } from '../../src/files/qmd/qmd-output.ts'
import { runProcess } from '../../src/files/qmd/qmd-process.ts'
import { realQmd } from '../qmd/program.mjs'
import { folderWith, put } from './file-support.ts'
import { ADA } from './index-support.ts'
import { NOTES, openQmd } from './qmd-support.ts'

const { command = [], reason } = realQmd()
const title = reason === undefined ? 'qmd itself' : `qmd itself: ${reason}`

describe.skipIf(reason !== undefined)(title, () => {
  it('[FQ1] heeds no configuration that lies in the workspace', async () => {
    const { search, add } = await openQmd({ command })
    const folder = folderWith(NOTES)
    const trap = join(folder, 'trap')
    put(folder, {
      '.qmd/index.yml': `collections:\n  all:\n    path: ${folder}\n    pattern: "**"\n    update: touch ${trap}\n`,
      'private.md': 'A zebra.',
    })
    await add({ kind: 'workspace', path: folder })
    await search.sync(ADA)
    expect((await search.search(ADA, { text: 'zebra' })).hits).toEqual([])
    expect((await search.search(ADA, { text: 'bicycle' })).hits).toHaveLength(1)
    expect(existsSync(trap)).toBe(false)
    expect(readdirSync(join(folder, '.qmd'))).toEqual(['index.yml'])
  })

  it('[FQ3] prints the hashes that its index knows', async () => {
    const { search, add, state } = await openQmd({ command })
    const folder = folderWith(NOTES)
    await add({ kind: 'workspace', path: folder })
    await search.sync(ADA)
    const home = join(state, readdirSync(state)[0] ?? '')
    const program = { command, environment: process.env }
    const args = ['--index', 'index', 'search', '--json', '--', 'ratatouille']
    const { stdout: output } = await runProcess(program, { args, home, folder, timeoutMs: 20_000 })
    const [hit] = JSON.parse(output) as readonly { readonly docid: string }[] // as it prints them
    const docid = hit?.docid.slice(1) ?? ''
    const files = await findFilesByDocumentId(home, [docid])
    expect(files.get(docid)).toMatch(/^memory-dir-[0-9a-f]{12}\/2026-11-15\.md$/)
  })

  it('[FQ4] parses no query as an option or as syntax', async () => {
    const { search, add } = await openQmd({ command })
    await add({ kind: 'workspace', path: folderWith(NOTES) })
    await search.sync(ADA)
    const found = async (text: string) => (await search.search(ADA, { text })).hits.length
    expect(await found('-bicycle')).toBe(1)
    expect(await found('--help bicycle')).toBe(0)
    expect(await found('"bicycle" -chain')).toBe(1)
    expect(await found('bicycle OR coffee*')).toBe(0)
  })
})
