/** The demo repeats its input; its answers must never come back as memories. */
import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { eventually, OWNER, setUpGateway } from './support/gateway-harness.ts'

it('[CR37] answers of the demo are recorded, and never recalled', async () => {
  const { baseUrl, key, engine } = await setUpGateway('memory on')
  const client = new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })
  const ask = async (content: string) => {
    const answer = await client.chat.completions.create({
      model: 'demo/echo',
      messages: [{ role: 'user', content }],
    })
    return answer.choices[0]?.message.content ?? ''
  }
  await ask('We repainted the kitchen last weekend, went for a sage green in the end.')
  await ask('My sister Clara collects old maps of Lisbon.')
  const answer = await eventually(
    () => ask('Which color did we choose for the kitchen?'),
    (text) => text.includes('sage green'),
  )
  expect(answer.match(/sage green/g)).toHaveLength(1)
  expect(answer).not.toContain('assistant:')
  const { memories } = await engine.recall({ owner: OWNER }, { text: 'built-in demo kitchen' })
  expect(memories.map(({ memory }) => memory.content).join('\n')).not.toContain('built-in demo')
})
