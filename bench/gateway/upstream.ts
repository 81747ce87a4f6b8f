/**
 * A provider in a process of its own that answers from a script, at once: whatever a call takes beyond that is the way
 * there. Each event of a stream is written in a turn of its own, so that gateways get them one by one.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { stopProcess } from './processes.ts'
import { EVENTS, WHOLE } from './script.ts'

/** Longer than any pause of the bench: a gateway's idle connection is never closed. */
const KEEP_ALIVE_MS = 600_000

export type Upstream = {
  /** As clients are configured with it: ends in `/v1`. */
  readonly baseUrl: string
  stop(): Promise<void>
}

export async function startUpstream(): Promise<Upstream> {
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const port = await portOf(child)
  return { baseUrl: `http://127.0.0.1:${port}/v1`, stop: () => stopProcess(child) }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('The upstream ended.')))
    child.once('message', (port) => resolve(Number(port)))
  })
}

async function run(): Promise<void> {
  const server = createServer({ noDelay: true }, (request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      if (Buffer.concat(parts).includes('"stream":true')) stream(response)
      else answer(response)
    })
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  process.once('disconnect', () => process.exit())
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  process.send?.(port)
}

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': WHOLE.length })
  response.end(WHOLE)
}

function stream(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
  })
  let next = 0
  const write = () => {
    const event = EVENTS[next++]
    if (response.destroyed) return
    if (event === undefined) response.end()
    else {
      response.write(event)
      setImmediate(write)
    }
  }
  write()
}

if (process.argv[1] === fileURLToPath(import.meta.url) && process.argv[2] === 'serve') await run()
