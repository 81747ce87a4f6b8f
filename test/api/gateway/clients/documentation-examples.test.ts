/** The clients of the page about the gateway, as they stand there, but for the address and the key. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { FENCE, OWNER, setUpGateway } from '../support/gateway-harness.ts'
import { PATHS } from '../support/wire-format.ts'

const ROOT = join(import.meta.dirname, '../../../..')
const ADDRESS = 'http://127.0.0.1:20128'
const KEY = 'rc_…'

/** Those that import what they use; the others show a part of one. */
function clientsOnPage(): readonly string[] {
  const page = readFileSync(join(ROOT, 'docs/guides/gateway.md'), 'utf8')
  const section = page.split(/^## /m).find((each) => each.startsWith('Clients')) ?? ''
  const blocks = [...section.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code)
  // Google's library is installed apart, for the tests of its own.
  return blocks.filter((code) => code.startsWith('import ') && !code.includes('@google/'))
}

it('[GW1] the clients of the page get memories as they stand there', async () => {
  const { upstream, url, key, engine } = await setUpGateway()
  await engine.remember({ owner: OWNER }, { content: 'I drink jasmine tea' })
  const clients = clientsOnPage()
  expect(clients).toHaveLength(5)
  // Beside the packages, so that their names are found.
  const folder = mkdtempSync(join(ROOT, 'node_modules/.page-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const files = clients.map((code, index) => {
    expect(code).toContain(ADDRESS)
    expect(code).toContain(KEY)
    const file = `client-${index}.mjs`
    writeFileSync(join(folder, file), code.replaceAll(ADDRESS, url).replaceAll(KEY, key))
    return file
  })
  const main = files.map((file) => `await import('./${file}')`).join('\n')
  writeFileSync(join(folder, 'main.mjs'), main)
  await promisify(execFile)(process.execPath, [join(folder, 'main.mjs')], { cwd: folder })
  expect(upstream.requests.map(({ path }) => path)).toEqual([
    PATHS.responses,
    PATHS.messages,
    PATHS.responses,
    PATHS.messages,
    PATHS.chat,
  ])
  for (const { text } of upstream.requests) expect(text).toContain(FENCE)
})
