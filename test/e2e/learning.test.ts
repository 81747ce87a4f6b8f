/** A whole server: somebody talks to a model through it, and it learns with the same provider. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openUpstream } from '../api/gateway/support/scripted-upstream.ts'
import { speak } from '../api/gateway/support/wire-format.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createCli } from './cli/cli-host.ts'

const SAID = 'I am going to Rome with my sister Clara in June, and we both eat no meat at all.'
const FACT = 'The user travels to Rome with her sister Clara'
const LEARNED = JSON.stringify({ facts: [{ content: FACT, turns: [0] }] })

it('[LI13] a server learns in the background with a provider of the gateway, and counts tokens', async () => {
  const upstream = await openUpstream((received) => {
    // What memory asks is asked with a system prompt of its own; the person sends none.
    const isOurs = received.text.includes('"system"')
    return speak(received, { text: isOurs ? LEARNED : 'How nice!' })
  })
  onTestFinished(() => upstream.close())
  const folder = temporaryFolder()
  mkdirSync(folder, { recursive: true })
  const providers = { local: { kind: 'openai', baseUrl: `${upstream.url}/v1`, key: 'sk-test' } }
  writeFileSync(join(folder, 'providers.json'), JSON.stringify({ providers }), { mode: 0o600 })
  const cli = createCli(folder)
  const stop = new AbortController()
  const expected = { content: '', metrics: '', model: '' }
  const ran = await cli(['serve', '--port', '0', '--no-auth'], {
    stop: stop.signal,
    serve: async (options, start) => {
      const serving = await start(options)
      const { engine } = options
      const learn = async () => {
        await engine.admin.settings.change(null, {
          'gateway.enabled': true,
          'learning.extractionModel': 'local/big',
          'gateway.gateModel': 'local/small',
          'learning.extractionMode': 'everyTurn',
        })
        const body = { model: 'local/chat', messages: [{ role: 'user', content: SAID }] }
        await fetch(`${serving.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
        expected.model = (await upstream.request(2)).body.model
        const owner = (await engine.admin.listPlaces())[0]?.owner ?? ''
        const isLearned = async () =>
          (await engine.list({ owner })).rows.some(({ content }) => content === FACT)
        while (!(await isLearned())) await new Promise((resolve) => setTimeout(resolve, 20))
        const running = async () => (await engine.status()).learning.running.length
        while ((await running()) > 0) await new Promise((resolve) => setTimeout(resolve, 20))
        expected.content = FACT
        expected.metrics = await (await fetch(`${serving.url}/metrics`)).text()
      }
      void learn().finally(() => stop.abort())
      return serving
    },
  })
  expect(ran.exit).toBe(0)
  expect(expected).toMatchObject({ model: 'small', content: FACT })
  expect(expected.metrics).toMatch(/recollect_jobs_total\{job="distill",outcome="done"\} 1\b/)
  expect(expected.metrics).toMatch(/recollect_model_requests_total\{outcome="ok"\} 1\b/)
  expect(expected.metrics).toMatch(/recollect_model_tokens_total\{direction="input"\} [1-9]/)
})
