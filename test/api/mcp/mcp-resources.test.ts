/** Resources and prompts, asked by the official client of the protocol. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it, onTestFinished } from 'vitest'
import { BEN, openHost } from './mcp-support.ts'

async function connect() {
  const host = await openHost()
  onTestFinished(() => host.close())
  const client = new Client({ name: 'tests', version: '1' })
  await client.connect(new StreamableHTTPClientTransport(host.url))
  onTestFinished(() => client.close())
  const { memory } = await host.engine.remember({ owner: 'ann' }, { content: 'I prefer tea.' })
  return { host, client, uri: `recollect://memory/${memory.id}` }
}

it('[MC14.1] memories are resources that can be listed and read by their owner only', async () => {
  const { host, client, uri } = await connect()
  const { resources } = await client.listResources()
  expect(resources).toMatchObject([{ uri, name: 'I prefer tea.', mimeType: 'text/plain' }])
  const { contents } = await client.readResource({ uri })
  expect(contents).toEqual([{ uri, mimeType: 'text/plain', text: 'I prefer tea.' }])
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates[0]?.uriTemplate).toBe('recollect://memory/{id}')
  await expect(client.readResource({ uri: 'recollect://memory/mem_none' })).rejects.toThrow(
    'Resource not found',
  )
  await expect(client.readResource({ uri: 'file:///etc/passwd' })).rejects.toThrow(
    'Resource not found',
  )
  host.as(BEN)
  await expect(client.readResource({ uri })).rejects.toThrow('Resource not found')
  expect((await client.listResources()).resources).toEqual([])
})

it('[MC14.2] a prompt asks what is known about the user', async () => {
  const { client } = await connect()
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(['about-me'])
  const textOf = async (args?: Record<string, string>) => {
    const prompt = { name: 'about-me', ...(args === undefined ? {} : { arguments: args }) }
    const { messages } = await client.getPrompt(prompt)
    return JSON.stringify(messages)
  }
  expect(await textOf()).toContain('I prefer tea.')
  expect(await textOf({ topic: 'prefer tea' })).toContain('I prefer tea.')
  await expect(client.getPrompt({ name: 'other' })).rejects.toThrow('Unknown prompt')
})
