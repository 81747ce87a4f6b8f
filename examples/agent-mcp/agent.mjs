/**
 * An agent that uses memory over MCP. It picks tools by rules, which stand in for a model's tool calls: with a model,
 * pass `tools` to it and run the calls that it makes through `call`.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const { RECOLLECT_URL = 'http://127.0.0.1:20128', RECOLLECT_API_KEY } = process.env
const task = process.argv.slice(2).join(' ')
if (!RECOLLECT_API_KEY || task === '') {
  process.stderr.write('Usage: RECOLLECT_API_KEY=rc_… node agent.mjs <task>\n')
  process.exit(2)
}

const client = new Client({ name: 'example-agent', version: '1.0.0' })
const transport = new StreamableHTTPClientTransport(new URL('/mcp', RECOLLECT_URL), {
  requestInit: { headers: { authorization: `Bearer ${RECOLLECT_API_KEY}` } },
})
await client.connect(transport)
try {
  const { tools } = await client.listTools()
  for (const line of await work(task, new Set(tools.map(({ name }) => name)))) {
    process.stdout.write(`${line}\n`)
  }
} finally {
  await client.close()
}

async function work(request, tools) {
  for (const name of ['memory_add', 'memory_search', 'memory_forget']) {
    if (!tools.has(name)) throw new Error(`The server must offer the tool "${name}".`)
  }
  const [, verb, rest] = /^(remember|forget)\s+(?:that\s+)?(.+)$/is.exec(request) ?? []
  if (verb?.toLowerCase() === 'remember') return call('memory_add', { content: rest })
  if (verb?.toLowerCase() === 'forget') return call('memory_forget', { query: rest })
  return ['From memory:', ...(await call('memory_search', { query: request, limit: 5 }))]
}

/** The text that the tool returns, which is what a model would read. */
async function call(name, args) {
  const { content, isError } = await client.callTool({ name, arguments: args })
  const lines = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  if (isError) throw new Error(`${name} failed: ${lines.join(' ')}`)
  return lines
}
