/** Azure OpenAI, asked by the client library of OpenAI through the gateway. */
import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { FENCE, QUESTION, setUpGateway } from '../../api/gateway/support/gateway-harness.ts'
import { speak } from '../../api/gateway/support/wire-format.ts'

const providers = (url: string) => ({ mine: { kind: 'azure', baseUrl: url, key: 'azure-key' } })

it.each([true, false])('[PV15] answers with memory; streamed: %s', async (stream) => {
  const setup = await setUpGateway('memory on', { providers })
  setup.upstream.queue((request) => speak(request, { text: 'Jasmine.' }))
  const client = new OpenAI({ baseURL: setup.baseUrl, apiKey: setup.key, maxRetries: 0 })
  const messages = [{ role: 'user' as const, content: QUESTION }]
  const asked = { model: 'mine/my-deployment', messages }
  let text = ''
  if (stream) {
    for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? ''
    }
  } else {
    text = (await client.chat.completions.create(asked)).choices[0]?.message.content ?? ''
  }
  expect(text).toBe('Jasmine.')
  const { path, headers, body, text: sent } = setup.upstream.last()
  expect(path).toBe('/openai/v1/chat/completions')
  expect(body.model).toBe('my-deployment')
  expect(headers['api-key']).toBe('azure-key')
  expect(headers.authorization).toBeUndefined()
  expect(sent).toContain(FENCE)
})

it('[PV15] needs the address of a resource', async () => {
  await expect(
    setUpGateway('memory off', { providers: () => ({ mine: { kind: 'azure', key: 'k' } }) }),
  ).rejects.toThrow('"baseUrl" of the provider mine is required')
})
