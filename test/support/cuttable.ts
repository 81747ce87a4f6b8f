/** A way to a PostgreSQL server that breaks when certain words go through it, once or more often. */
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export type CuttableLine = {
  readonly url: string
  /** `before`: the words don't arrive. `after`: they arrive, and what is answered does not. `silent`: nobody says anything more. */
  cutAt(words: string, when?: 'before' | 'after' | 'silent', times?: number): void
  /** How often it was cut. */
  readonly cuts: number
  /** How often something was said to the server after it had answered: what is sent at once goes with one trip. */
  readonly trips: number
}

const DEFAULT_PORT = 5_432

export async function cuttable(url: string): Promise<CuttableLine> {
  const target = new URL(url)
  const folder = target.searchParams.get('host')
  const port = Number(target.port || DEFAULT_PORT)
  const connect = () =>
    folder === null
      ? createConnection(port, target.hostname)
      : createConnection(join(folder, `.s.PGSQL.${port}`))
  let words = ''
  let timesLeft = 0
  let moment: 'before' | 'after' | 'silent' = 'before'
  let cuts = 0
  let trips = 0
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect()
    let isCut = false
    let isAnswered = true
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        near.destroy()
        // What has arrived is done: it must not be known too early that nobody waits for it.
        if (!isCut || moment !== 'after') far.destroy()
      })
    }
    far.on('data', (data) => {
      isAnswered = true
      if (!isCut) near.write(data)
      else if (moment === 'after') far.destroy()
    })
    near.on('data', (data) => {
      if (isCut) return
      if (isAnswered) trips++
      isAnswered = false
      if (timesLeft === 0 || !data.includes(words)) {
        far.write(data)
        return
      }
      timesLeft--
      cuts++
      isCut = true
      if (moment === 'after') far.write(data)
      if (moment !== 'silent') near.destroy()
    })
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
  const address = proxy.address()
  const own = typeof address === 'object' && address !== null ? String(address.port) : ''
  const near = Object.assign(new URL(url), { host: `127.0.0.1:${own}` })
  near.searchParams.delete('host')
  return {
    url: near.toString(),
    cutAt(what, when = 'before', times = 1) {
      words = what
      moment = when
      timesLeft = times
    },
    get cuts() {
      return cuts
    },
    get trips() {
      return trips
    },
  }
}
