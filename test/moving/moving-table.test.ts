/** The table of `docs/guides/moving.md`. Run vitest with -u to renew it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { MOVING_ITEMS, type MovingItem } from './moving-items.ts'

const PAGE = 'docs/guides/moving.md'
/** Tests of items among those of their feature. */
const ELSEWHERE = [
  'test/e2e/cli/cli-keychain.test.ts',
  'test/faults/vector-replica-trash.test.ts',
  'test/files/sync-triggers.test.ts',
  'test/studio/memory-search.test.ts',
]
const MARK = '<!-- generated: moving -->'

it('[PO53] docs/guides/moving.md lists every item, and each has a test', async () => {
  const here = readdirSync(import.meta.dirname).map((name) => join(import.meta.dirname, name))
  const tests = [...here, ...ELSEWHERE]
    .filter((path) => path.endsWith('.test.ts'))
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n')
  const proved = [...tests.matchAll(/'(?:\[[\w.]+\] )+([A-Z]\w+: [^']+)'/g)].map(
    (match) => match[1],
  )
  const titles = MOVING_ITEMS.map(({ system, item }) => `${system}: ${item}`)
  expect(proved.toSorted()).toEqual(titles.toSorted())
  const rows = (MOVING_ITEMS as readonly MovingItem[]).map(
    ({ system, item, differs }) =>
      `| ${system} | ${item} | ${differs === undefined ? 'works' : `differs: ${differs}`} |`,
  )
  const [before = ''] = readFileSync(PAGE, 'utf8').split(MARK)
  const table = ['| system | item | result |', '|---|---|---|', ...rows].join('\n')
  await expect(`${before}${MARK}\n\n${table}\n`).toMatchFileSnapshot(`../../${PAGE}`)
})
