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
  /**
   * How often somebody has to wait for the server while this is done, over all connections: answers are held back until
   * nothing more is said without them, and all that was said by then counts as one trip.
   */
  waits(work: () => Promise<unknown>): Promise<number>
}

/** Nothing more is said after this long; whoever computes in between must take less. */
const QUIET_MS = 150

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
  let held: (() => void)[] | null = null
  let quiet: NodeJS.Timeout | undefined
  let waits = 0
  const release = () => {
    const answers = held ?? []
    if (held !== null) held = []
    if (answers.length > 0) waits++
    for (const answer of answers) answer()
  }
  const stir = () => {
    clearTimeout(quiet)
    if (held !== null) quiet = setTimeout(release, QUIET_MS)
  }
  const sockets = new Set<Socket>()
  const proxy = createServer((near) => {
    const far = connect()
    let isCut = false
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
      stir()
      if (isCut && moment === 'after') far.destroy()
      if (isCut) return
      if (held === null) near.write(data)
      else held.push(() => near.write(data))
    })
    near.on('data', (data) => {
      if (isCut) return
      stir()
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
    async waits(work) {
      held = []
      waits = 0
      try {
        await work()
      } finally {
        release()
        held = null
        clearTimeout(quiet)
      }
      return waits
    },
  }
}
