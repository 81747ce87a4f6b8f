/** What describes the door. docs/reference/rest.md lists every operation: run vitest with -u to renew the table. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { createConfig, lintFromString } from '@redocly/openapi-core'
import spectralCore from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { expect, it } from 'vitest'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import { createEngine } from '../../../src/index.ts'
import { start } from './http-support.ts'

const HEAD = '| method | path | access | what |\n|---|---|---|---|'

it('[HT57] the description and its page are the same text in every coding', async () => {
  const { url } = await start()
  for (const path of ['/openapi.json', '/docs/api']) {
    const asked = async (coding: string) =>
      (await fetch(`${url}${path}`, { headers: { 'accept-encoding': coding } })).text()
    const texts = [
      await asked('identity'),
      await asked('br'),
      await asked('gzip'),
      await asked('br'),
    ]
    expect(new Set(texts).size).toBe(1)
    expect(texts[0]).toContain('/api/memory')
  }
})

it('[HT10.4] the description passes the recommended rules of Redocly and Spectral', async () => {
  const { startServer } = await import('../../../src/server.ts')
  const engine = await createEngine({ embedding: false })
  const server = await startServer({
    ...{ engine, port: 0, backgroundJobs: false },
    metrics: async () => '',
  })
  const source = await (await fetch(`${server.url}/openapi.json`)).text()
  await server.close()
  await engine.close()
  expect(source).toContain('/v1/chat/completions')
  const config = await createConfig({ extends: ['recommended'] })
  const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config })
  expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([])
  const spectral = new spectralCore.Spectral()
  // The types of the rulesets are those of another version.
  spectral.setRuleset({ extends: [[spectralRulesets.oas as never, 'recommended']] })
  const results = await spectral.run(JSON.parse(source))
  expect(results.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`)).toEqual(
    [],
  )
})

it('[HT10] the types of the Studio are those of the description', async () => {
  // As `recollect serve` is started.
  const { url } = await start({ metrics: async () => '' })
  const check = ['scripts/api-types.mjs', '--check', url]
  await expect(promisify(execFile)(process.execPath, check)).resolves.toMatchObject({ stderr: '' })
})

it('[HT10] docs/reference/rest.md documents every operation', async () => {
  const rows = OPERATIONS.map(
    ({ http, access, summary }) =>
      `\n| ${http.method} | \`${http.path}\` | ${access} | ${summary} |`,
  )
  const text = readFileSync('docs/reference/rest.md', 'utf8')
  const begin = text.indexOf(HEAD)
  expect(begin).toBeGreaterThan(0)
  const rest = text.slice(begin + HEAD.length).replace(/^(?:\n\|.*)*/, '')
  await expect(`${text.slice(0, begin)}${HEAD}${rows.join('')}${rest}`).toMatchFileSnapshot(
    '../../../docs/reference/rest.md',
  )
})
