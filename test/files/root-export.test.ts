/** Roots in exports and imports. */
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../src/app/composition.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { parseRootEntry } from '../../src/files/root-codec.ts'
import { temporaryFile } from '../support/temporary-folder.ts'
import { folderWith } from './file-support.ts'

async function open(): Promise<Engine> {
  const files = { path: temporaryFile('files.db') }
  const engine = await createEngine({ embedding: false, files })
  onTestFinished(() => engine.close())
  return engine
}

async function exported(engine: Engine, owner: string | null): Promise<readonly string[]> {
  const lines: string[] = []
  const scope = owner === null ? null : { owner }
  for await (const line of engine.admin.export(scope)) lines.push(line)
  return lines
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines
}

async function withRoots() {
  const engine = await open()
  const folder = folderWith({ 'MEMORY.md': 'Ada prefers green tea.' })
  const docs = folderWith({ 'setup.md': 'Install the compiler first.' })
  await engine.files?.roots.add('ada', { kind: 'workspace', path: folder })
  await engine.files?.roots.add('ada', { kind: 'path', path: docs, exclude: ['drafts/**'] })
  await engine.remember({ owner: 'ada' }, { content: 'Ada has a parrot.' })
  return { engine, folder }
}

it('[FD18] an export of everything brings roots back, and what they hold is found', async () => {
  const { engine } = await withRoots()
  const other = await open()
  const lines = await exported(engine, null)
  expect(await other.admin.import(each(lines))).toMatchObject({ failed: 0 })
  expect(await other.files?.roots.list('ada')).toEqual(await engine.files?.roots.list('ada'))
  const found = await other.files?.search('ada', { text: 'green tea' })
  expect(found?.hits).toMatchObject([{ path: 'MEMORY.md' }])
  expect(await other.admin.import(each(lines))).toMatchObject({ imported: 0, failed: 0 })
})

it('[FD18] the export of an owner contains no roots, and an import for an owner adds none', async () => {
  const { engine, folder } = await withRoots()
  expect((await exported(engine, 'ada')).join('\n')).not.toContain(folder)
  const other = await open()
  const all = await exported(engine, null)
  expect(all.join('\n')).toContain(folder)
  expect(await other.admin.import(each(all), { owner: 'bob' })).toMatchObject({ failed: 0 })
  expect(await other.files?.roots.list('bob')).toEqual([])
  expect(await other.files?.roots.list('ada')).toEqual([])
})

it.each([
  ['a relative path', { path: 'notes' }],
  ['another kind', { kind: 'system' }],
  ['no name', { name: '' }],
  ['globs that are none', { exclude: 'drafts' }],
])('[FD18] a root with %s is refused', (_, wrong) => {
  const body = { kind: 'path', path: '/notes', name: 'notes', include: [], exclude: [] }
  const entry = { id: 'root_1', place: { owner: 'ada' }, kind: 'root', at: 1, version: 1, body }
  expect(parseRootEntry(entry)).toMatchObject({ about: 'ada', body })
  expect(() => parseRootEntry({ ...entry, body: { ...body, ...wrong } })).toThrow(
    expect.objectContaining({ code: 'invalid_input' }),
  )
})
