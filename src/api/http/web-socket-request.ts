/** Requests that ask for a WebSocket. They pass the same checks as all others, and a handler may take the connection over. */
import { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

const asking = new WeakSet<IncomingMessage>()

/**
 * Node hands over the connection of every request with `Upgrade` once anybody listens. Clients that offer HTTP/2 that way
 * (`Upgrade: h2c`) must get their ordinary answer, so only WebSockets count.
 */
class UpgradableRequest extends IncomingMessage {
  get upgrade(): boolean {
    return asking.has(this) && (this.method === 'CONNECT' || isWebSocketRequest(this))
  }

  set upgrade(value: boolean | null) {
    if (value === true) asking.add(this)
    else asking.delete(this)
  }
}

export const WebSocketAwareRequest: typeof IncomingMessage = UpgradableRequest

export function isWebSocketRequest({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.trim().toLowerCase() === 'websocket'
}

/** Pages cannot set headers of WebSockets; OpenAI's library sends the key as one of the protocols. */
export const KEY_PROTOCOL = 'openai-insecure-api-key.'

export function protocolsOf({ headers }: IncomingMessage): readonly string[] {
  const { 'sec-websocket-protocol': listed = '' } = headers
  return listed.split(',').flatMap((each) => (each.trim() === '' ? [] : [each.trim()]))
}

/** The response of a request whose connection was handed over: refusals are sent by it, and end the connection. */
export function toUpgradeResponse(
  request: IncomingMessage,
  socket: Socket,
  head: Buffer,
): ServerResponse {
  const { headers } = request
  if (headers.authorization === undefined) {
    const key = protocolsOf(request).find((each) => each.startsWith(KEY_PROTOCOL))
    if (key !== undefined) headers.authorization = `Bearer ${key.slice(KEY_PROTOCOL.length)}`
  }
  if (head.length > 0) socket.unshift(head)
  socket.setTimeout(0)
  socket.on('error', () => socket.destroy())
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => socket.destroySoon())
  return response
}
