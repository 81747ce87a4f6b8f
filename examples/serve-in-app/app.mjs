/** One process that is both an app and a Recollect server: own pages, and REST, MCP, gateway and Studio beside them. */
import { createServer } from 'node:http'
import { createEngine } from 'recollect'
import { createRequestHandler } from 'recollect/server'

const engine = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const memory = await createRequestHandler({ engine, environment: process.env })
if (memory.managementKey !== null) process.stdout.write(`Key: ${memory.managementKey}\n`)

const server = createServer(async (request, response) => {
  if (request.url !== '/hello') return memory.handle(request, response)
  // The app uses the engine directly, and clients reach the same memories over HTTP.
  const { memories } = await engine.recall({ owner: 'default' }, { text: 'name', limit: 1 })
  response.end(`Hello! ${memories[0]?.memory.content ?? 'I do not know you yet.'}\n`)
})
server.listen(Number(process.env.PORT ?? 20128), '127.0.0.1', () => {
  process.stdout.write(`Listening on http://127.0.0.1:${server.address().port}\n`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    server.close()
    await memory.close()
    await engine.close()
  })
}
