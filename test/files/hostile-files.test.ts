/** Folders that were made to do harm: what can be read of them is found, and the rest holds nobody up. */
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folderWith } from './file-support.ts'
import { ADA, found, openFiles } from './index-support.ts'

const ALIASES = Array.from(
  { length: 30 },
  (_, n) => `a${n + 1}: &a${n + 1} [${Array(9).fill(`*a${n}`).join(',')}]`,
).join('\n')

const HOSTILE: Readonly<Record<string, string>> = {
  'quotes.md': `${'>'.repeat(100_000)} deep\n`,
  'lists.md': Array.from({ length: 3_000 }, (_, n) => `${' '.repeat(n)}- item ${n}`).join('\n'),
  'brackets.md': `${'['.repeat(200_000)}${']('.repeat(50_000)}`,
  'emphasis.md': '*_'.repeat(200_000),
  'fences.md': '```\n~~~\n'.repeat(40_000),
  'headings.md': '# '.repeat(100_000),
  'table.md': `${'|'.repeat(100_000)}\n${'|-'.repeat(50_000)}\n`,
  'html.md': '<div '.repeat(100_000),
  'long-line.md': 'x'.repeat(1_000_000),
  'long-words.md': `${'word '.repeat(200_000)}`,
  'yaml.md': `---\na0: &a0 [lol]\n${ALIASES}\n---\n# Laughs\n`,
  'open-front-matter.md': `---\ntitle: ${'"'.repeat(50_000)}\n${'key: value\n'.repeat(20_000)}`,
  'types.md': '---\ntitle: !!js/function "process.exit()"\n? [[[\n---\ntext\n',
}

it('[FC8] hostile Markdown and front matter are indexed beside what is looked for', async () => {
  const folder = folderWith({
    ...HOSTILE,
    'garden.md': '# Garden\n\nThe spade is at the neighbours.\n',
  })
  symlinkSync(folder, join(folder, 'circle'))
  symlinkSync(join(folder, 'b'), join(folder, 'a'))
  symlinkSync(join(folder, 'a'), join(folder, 'b'))
  const { files } = await openFiles()
  await files.roots.add(ADA, { kind: 'path', path: folder })
  await files.sync(ADA)
  const [path = ''] = await found({ files }, 'where is the spade?')
  expect(path).toMatch(/garden\.md$/)
  expect((await found({ files }, 'Laughs')).join()).toContain('yaml.md')
  await files.sync(ADA)
})
