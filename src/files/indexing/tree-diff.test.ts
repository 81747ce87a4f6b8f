import fc from 'fast-check'
import { expect, it } from 'vitest'
import { instant } from '../../../test/fakes/memories.ts'
import type { FileStat, HashedFileStat } from '../file.ts'
import { diffTree, type ResolvedTreeDiff, resolveTreeDiff } from './tree-diff.ts'

const file = (path: string, hash = path, at = 1, sizeBytes = 1): HashedFileStat => {
  return { path, hash, sizeBytes, modifiedAt: instant(at) }
}
const byPath = (files: readonly HashedFileStat[]) => new Map(files.map((each) => [each.path, each]))

/** What becomes of a tree, with all contents read but those of `unreadable`. */
function settle(
  before: readonly HashedFileStat[],
  now: readonly HashedFileStat[],
  options: { readonly isWhole?: boolean; readonly unreadable?: readonly string[] } = {},
): ResolvedTreeDiff {
  const known = byPath(before)
  const diff = diffTree(known, now.map(withoutHash), options.isWhole)
  const hashes = new Map(now.map(({ path, hash }) => [path, hash]))
  for (const path of options.unreadable ?? []) hashes.delete(path)
  return resolveTreeDiff(known, diff, hashes)
}

function withoutHash({ path, sizeBytes, modifiedAt }: HashedFileStat): FileStat {
  return { path, sizeBytes, modifiedAt }
}

const NOTHING: ResolvedTreeDiff = {
  added: [],
  changed: [],
  restamped: [],
  moved: [],
  removed: [],
  unread: [],
}

it('[FC9] looks at the contents only of files of another size or time', () => {
  const known = byPath([file('a'), file('b'), file('c'), file('d')])
  const seen = [file('a'), file('b', 'b', 2), file('c', 'c', 1, 2), file('e')].map(withoutHash)
  const { unchanged, maybeChanged, vanished } = diffTree(known, seen)
  expect(unchanged).toEqual([file('a')])
  expect(maybeChanged.map(({ path }) => path)).toEqual(['b', 'c', 'e'])
  expect(vanished).toEqual([file('d')])
})

it('[FC9] finds new, changed, touched and removed files', () => {
  const before = [file('same'), file('touched'), file('changed', 'old'), file('gone')]
  const now = [file('same'), file('touched', 'touched', 2), file('changed', 'new', 2), file('new')]
  expect(settle(before, now)).toEqual({
    ...NOTHING,
    added: [file('new')],
    changed: [{ from: file('changed', 'old'), to: file('changed', 'new', 2) }],
    restamped: [{ from: file('touched'), to: file('touched', 'touched', 2) }],
    removed: [file('gone')],
  })
})

it('[FC10] knows a file again that has moved, and takes no copy for one', () => {
  expect(settle([file('a/x', '1')], [file('b/y', '1', 5)])).toEqual({
    ...NOTHING,
    moved: [{ from: file('a/x', '1'), to: file('b/y', '1', 5) }],
  })
  expect(settle([file('a', '1')], [file('a', '1'), file('b', '1')]).added).toEqual([file('b', '1')])
  expect(settle([file('Notes.md')], [file('notes.md', 'Notes.md')]).moved).toHaveLength(1)
})

it('[FC10] pairs equal files by their names, then by the order of their paths', () => {
  const before = ['z/one', 'a/two', 'b/three'].map((path) => file(path, '1'))
  const now = ['new/four', 'new/one', 'new/two', 'new/zero'].map((path) => file(path, '1'))
  const settled = settle(before, now)
  const pairs = settled.moved.map(({ from, to }) => `${from.path} → ${to.path}`).sort()
  expect(pairs).toEqual(['a/two → new/two', 'b/three → new/four', 'z/one → new/one'])
  expect(settled.added).toEqual([file('new/zero', '1')])
  expect(settle([...before].reverse(), [...now].reverse()).moved.length).toBe(3)
  const again = settle([...before].reverse(), [...now].reverse())
  expect(again.moved.map(({ from, to }) => `${from.path} → ${to.path}`).sort()).toEqual(pairs)
})

it('[FC11] unreadable folders and files count as unchanged', () => {
  const before = [file('a'), file('b')]
  expect(settle(before, [file('a')], { isWhole: false })).toEqual(NOTHING)
  expect(settle(before, [file('c', 'b')], { isWhole: false }).added).toEqual([file('c', 'b')])
  const now = [file('a', 'other', 2), file('b'), file('c')]
  const { unread, ...rest } = settle(before, now, { unreadable: ['a', 'c'] })
  expect(unread.map(({ path }) => path)).toEqual(['a', 'c'])
  expect({ ...rest, unread: [] }).toEqual(NOTHING)
})

const anyTree = fc
  .array(
    fc.record({
      path: fc.constantFrom('a', 'b', 'c/a', 'c/b', 'd/a', 'd/e/a', 'f'),
      hash: fc.constantFrom('1', '2', '3'),
      at: fc.integer({ min: 1, max: 2 }),
    }),
    { maxLength: 7 },
  )
  // Contents of one size and time are the same here, as `diffTree` must assume.
  .map((files) => files.map(({ path, hash, at }) => file(path, hash, at * 10 + Number(hash))))

it('[FC9] applied to what was known, gives what was seen, with no file twice', () => {
  fc.assert(
    fc.property(anyTree, anyTree, (before, now) => {
      const known = byPath(before)
      const seen = byPath(now)
      const settled = settle([...known.values()], now)
      const { added, changed, restamped: touched, moved, removed } = settled
      const after = new Map(known)
      for (const { from } of moved) after.delete(from.path)
      for (const { path } of removed) after.delete(path)
      for (const each of added) after.set(each.path, each)
      for (const { to } of [...changed, ...touched, ...moved]) after.set(to.path, to)
      expect([...after.values()].sort(order)).toEqual([...seen.values()].sort(order))
      for (const { from, to } of [...touched, ...moved]) expect(from.hash).toBe(to.hash)
      for (const { from, to } of changed) expect(from.hash).not.toBe(to.hash)

      const unchanged = diffTree(known, now).unchanged.length
      const stored = unchanged + changed.length + touched.length + moved.length
      expect(stored + added.length).toBe(seen.size)
      expect(stored + removed.length).toBe(known.size)
    }),
    { numRuns: 2_000 },
  )
})

function order(a: HashedFileStat, b: HashedFileStat): number {
  return a.path < b.path ? -1 : 1
}
