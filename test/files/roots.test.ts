import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createRoots,
  type NamedRoot,
  resolveDisplayPath,
  toDisplayPath,
} from '../../src/files/roots.ts'
import { AppError } from '../../src/lib/errors.ts'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { FakeClock } from '../fakes/clock.ts'
import { owner } from '../fakes/memories.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { folderWith } from './file-support.ts'
import { ADA, openFiles } from './index-support.ts'

const BOB = owner('bob')
const open = () => createRoots({ store: createInMemoryStore(), clock: new FakeClock() })
const codeOf = (error: unknown) => (error instanceof AppError ? error.code : error)
const refusal = (work: Promise<unknown>) => work.then(() => 'accepted', codeOf)

describe('roots', () => {
  it('[FX1] are kept for each owner, once each, with the globs given last', async () => {
    const roots = open()
    const docs = join(temporaryFolder(), 'docs')
    const first = await roots.add(ADA, { kind: 'path', path: docs, include: ['**/*.md'] })
    const again = await roots.add(ADA, { kind: 'path', path: `${docs}/`, exclude: ['drafts/**'] })
    expect(again).toMatchObject({ id: first.id, name: 'docs', include: [], exclude: ['drafts/**'] })
    expect(await roots.list(ADA)).toEqual([again])
    expect(await roots.list(BOB)).toEqual([])
    expect(await roots.owners()).toEqual([ADA])
    expect(await roots.remove(BOB, first.id)).toBe(false)
    expect(await roots.remove(ADA, first.id)).toBe(true)
    expect(await roots.remove(ADA, first.id)).toBe(false)
    expect(await roots.owners()).toEqual([])
  })

  it('[FX1] are refused where they hold the files of another, and there is one workspace', async () => {
    const roots = open()
    const home = temporaryFolder()
    const add = (kind: 'workspace' | 'path' | 'sessions', path: string) =>
      refusal(roots.add(ADA, { kind, path: join(home, path) }))
    expect(await add('workspace', '.')).toBe('accepted')
    expect(await add('workspace', '.')).toBe('accepted')
    expect(await add('workspace', 'other')).toBe('conflict')
    expect(await add('path', '.')).toBe('conflict')
    expect(await add('path', 'memory/old')).toBe('conflict')
    expect(await add('path', 'memory-of-elephants')).toBe('accepted')
    expect(await add('path', 'docs')).toBe('accepted')
    expect(await add('path', 'docs/deep')).toBe('conflict')
    expect(await add('path', '..')).toBe('conflict')
    expect(await add('sessions', 'docs')).toBe('accepted')
    expect(await add('sessions', 'docs/deep')).toBe('conflict')
  })

  it('[FX1] that make no sense are refused', async () => {
    const roots = open()
    const add = (input: object) => refusal(roots.add(ADA, input as never))
    expect(await add({ kind: 'path', path: 'relative/without/a/workspace' })).toBe('invalid_input')
    expect(await add({ kind: 'path', path: ' ' })).toBe('invalid_input')
    expect(await add({ kind: 'path', path: '/a\0b' })).toBe('invalid_input')
    expect(await add({ kind: 'folder', path: '/a' })).toBe('invalid_input')
    expect(await add({ kind: 'path', path: '/a', include: 'x' })).toBe('invalid_input')
    expect(await add({ kind: 'path', path: '/a', exclude: [''] })).toBe('invalid_input')
    expect(await refusal(roots.remove(ADA, 'no id'))).toBe('invalid_input')
  })

  it('[FX1] given by a relative path lie in the workspace', async () => {
    const roots = open()
    const home = temporaryFolder()
    await roots.add(ADA, { kind: 'workspace', path: home })
    expect(await roots.add(ADA, { kind: 'path', path: 'docs' })).toMatchObject({
      path: join(home, 'docs'),
    })
  })

  it('[FX2] give each file one name, and no two files the same', async () => {
    const roots = open()
    const home = temporaryFolder()
    const add = (kind: 'workspace' | 'path' | 'sessions', path: string) =>
      roots.add(ADA, { kind, path: join(home, path) })
    const workspace = await add('workspace', 'work')
    const docs = await add('path', 'a/docs')
    const others = await add('path', 'b/docs')
    const memory = await add('path', 'c/memory')
    const file = await add('path', 'd/notes.md')
    const sameFile = await add('path', 'e/notes.md')
    const sessions = await add('sessions', 'sessions')
    const files: readonly [NamedRoot, string, string][] = [
      [workspace, 'memory/2026-11-15.md', 'memory/2026-11-15.md'],
      [workspace, 'MEMORY.md', 'MEMORY.md'],
      [docs, 'setup.md', 'docs/setup.md'],
      [others, 'setup.md', 'docs-2/setup.md'],
      [memory, 'elephants.md', 'memory-2/elephants.md'],
      [file, 'notes.md', 'notes.md'],
      [sameFile, 'notes.md', 'notes-2.md'],
      [sessions, 'day/one.jsonl', 'sessions/day/one.jsonl'],
    ]
    const listed = await roots.list(ADA)
    for (const [root, path, told] of files) {
      expect(toDisplayPath(root, path)).toBe(told)
      expect(resolveDisplayPath(listed, told)).toEqual({ root, path })
      expect(resolveDisplayPath(listed, `./${told}`)).toEqual({ root, path })
    }
    expect(resolveDisplayPath([docs], 'elsewhere.md')).toBeNull()
  })
})

it('[FX27] erasing an owner takes the roots along, and what was indexed goes at the next start', async () => {
  const { files, inner, innerStore, store } = await openFiles()
  await files.roots.add(ADA, { kind: 'path', path: folderWith({ 'a.md': 'Ada likes tea.' }) })
  await files.roots.add(BOB, { kind: 'path', path: folderWith({ 'b.md': 'Bob likes coffee.' }) })
  await files.sync(ADA)
  await files.sync(BOB)
  for (const { id } of await files.roots.list(ADA)) {
    await store.commit([
      { op: 'remove', table: 'entry', scope: { owner: ADA }, id: id as never, expect: 'any' },
    ])
  }
  await files.start()
  expect((await innerStore.listPlaces()).map(({ owner }) => owner)).not.toContain('ada')
  expect((await inner.status()).rows.memory).toBe(1)
  await files.erase(BOB)
  expect((await inner.status()).rows).toMatchObject({ memory: 0, entry: 0 })
})
