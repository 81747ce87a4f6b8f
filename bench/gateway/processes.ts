/** Servers in processes of their own: started, watched for what they need, and ended with the bench, however it ends. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { createInterface } from 'node:readline'

const GRACE_MS = 5_000
const POLL_MS = 50
const START_MS_MAX = 30_000
const KIB_PER_MIB = 1_024
/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10

/** Ends a process, by force when it doesn't by itself. */
export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const force = setTimeout(() => child.kill('SIGKILL'), GRACE_MS)
  await exited
  clearTimeout(force)
}

/** Starts a Node program with only the given environment variables: no proxies and no personal API keys. */
export function startProgram(
  args: readonly string[],
  environment: { readonly [name: string]: string },
  stdio: SpawnOptions['stdio'],
): ChildProcess {
  const child = spawn(process.execPath, args, { env: { ...environment }, stdio })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
  return child
}

/** The first line that a program prints. When there is none, its log says why. */
export async function firstLine(child: ChildProcess, name: string, log: string): Promise<string> {
  if (child.stdout === null) throw new Error(`${name} has no output to read.`)
  const lines = createInterface({ input: child.stdout })
  for await (const line of lines) {
    child.stdout.resume() // what it still prints must not fill the pipe
    return line
  }
  throw new Error(`${name} ended before it was ready: ${readFileSync(log, 'utf8').trim()}`)
}

/** Waits until something answers over HTTP. */
export async function answering(url: string, child: ChildProcess, name: string): Promise<void> {
  const until = performance.now() + START_MS_MAX
  while (performance.now() < until) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}.`)
    try {
      await (await fetch(url)).arrayBuffer()
      return
    } catch {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
  }
  throw new Error(`${name} did not answer within ${START_MS_MAX / 1_000} s.`)
}

/** For programs that cannot choose a free port themselves. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('There is no free port.')
  return address.port
}

/** How much of the machine's memory a process holds. */
export function residentMb({ pid }: ChildProcess): number {
  if (pid === undefined) return Number.NaN
  return Math.round(residentKib(pid) / KIB_PER_MIB)
}

/** The processor time that a process has used, in milliseconds; null where the platform does not tell. */
export function processorMs({ pid }: ChildProcess): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name of the program is in parentheses and may hold blanks; user and system time come 12 fields after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS
  } catch {
    return null
  }
}

function residentKib(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? Number.NaN)
  } catch {
    return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
  }
}
