/** An HTTP server of your own with the engine inside: one process, one SQLite file, one owner, a user per path. */
import { createServer } from 'node:http'
import { AppError, createEngine, ERRORS } from 'recollect'

const BODY_BYTES_MAX = 64 * 1024

const memory = await createEngine({ path: process.env.DATABASE ?? 'memory.db' })
const server = createServer((request, response) => {
  handle(request).then(
    (body) => send(response, 200, body),
    (error) => sendError(response, error),
  )
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  process.stdout.write(`Listening on http://127.0.0.1:${server.address().port}\n`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => {
    // Running requests finish first: they still use the engine.
    server.close(() => void memory.close())
  })
}

async function handle(request) {
  const url = new URL(request.url, 'http://localhost')
  const [, user, action] = /^\/users\/([\w-]+)\/(memories|context)$/.exec(url.pathname) ?? []
  // The scope is part of every call: a user never sees the memories of another one.
  const scope = { owner: 'my-app', user }
  if (request.method === 'POST' && action === 'memories') {
    const { text } = await readJson(request)
    const { outcome, memory: stored } = await memory.remember(scope, { content: text })
    return { outcome, id: stored.id }
  }
  if (request.method === 'GET' && action === 'context') {
    const { memories } = await memory.recall(scope, { text: url.searchParams.get('q') ?? '' })
    return { context: memories.map((found) => found.memory.content) }
  }
  throw new AppError(
    'not_found',
    'Use POST /users/<user>/memories or GET /users/<user>/context?q=…',
  )
}

async function readJson(request) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk
    if (body.length > BODY_BYTES_MAX) throw new AppError('invalid_input', 'The body is too large.')
  }
  try {
    return JSON.parse(body)
  } catch {
    throw new AppError('invalid_input', 'The body must be JSON.')
  }
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(`${JSON.stringify(body)}\n`)
}

function sendError(response, error) {
  if (error instanceof AppError) {
    const { code, message } = error
    send(response, ERRORS[code].status, { error: { code, message } })
    return
  }
  process.stderr.write(`${error.stack}\n`)
  send(response, 500, { error: { code: 'internal', message: 'Internal error.' } })
}
