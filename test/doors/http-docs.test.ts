/** docs/rest.md lists every operation. Run vitest with -u to renew the table. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../src/operations/index.ts'

const HEAD = '| method | path | access | what |\n|---|---|---|---|'

it('[HT10] docs/rest.md tells every operation', async () => {
  const rows = OPERATIONS.map(
    ({ http, access, summary }) =>
      `\n| ${http.method} | \`${http.path}\` | ${access} | ${summary} |`,
  )
  const text = readFileSync('docs/rest.md', 'utf8')
  const begin = text.indexOf(HEAD)
  expect(begin).toBeGreaterThan(0)
  const rest = text.slice(begin + HEAD.length).replace(/^(?:\n\|.*)*/, '')
  await expect(`${text.slice(0, begin)}${HEAD}${rows.join('')}${rest}`).toMatchFileSnapshot(
    '../../docs/rest.md',
  )
})
