/**
 * `npm run dev`: the server and the Studio, both following their sources. The compiler watches `src` and emits into
 * `.dev`; after each compilation without errors the server starts again. Vite serves the Studio's sources and proxies
 * all other requests to that server. Options go to `recollect serve`: `npm run dev -- --port 3000`.
 */
import { spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createServer, loadConfigFromFile } from 'vite'
import { compilerCommand, discardBuild, refreshOutputs } from './compiler-output.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
process.chdir(ROOT)

/** Beside `dist`, because the server looks for the package's other files relative to its own. */
const OUTPUT = '.dev'
const COMPLETE = join(OUTPUT, '.complete')
const PORT_DEFAULT = 20128
const STOP_MS_MAX = 10_000
/** A terminal signals the whole process group and npm passes the signal on, so one Ctrl-C can arrive twice. */
const REPEATED_SIGNAL_MS = 500
const COMPILED = /Found (\d+) errors?\. Watching for file changes\.$/

const serveOptions = process.argv.slice(2)
const children = new Set()
let server = null
let stopping = null
let restarting = Promise.resolve()
let studio = null

process.on('SIGINT', stopOnSignal)
process.on('SIGTERM', stopOnSignal)

if (!existsSync(COMPLETE)) discardBuild(OUTPUT)
const compiler = start(
  process.execPath,
  [...compilerCommand(OUTPUT, 'tsconfig.build.json'), '--watch', '--preserveWatchOutput'],
  ['ignore', 'pipe', 'inherit'],
)
createInterface({ input: compiler.stdout }).on('line', (line) => {
  if (line.trim() !== '') process.stderr.write(`${line}\n`)
  const errors = COMPILED.exec(line)?.[1]
  if (errors === '0') restarting = restarting.then(restartServer)
})
compiler.once('exit', (code) => {
  if (stopping === null) void stop(code ?? 1, 'The compiler ended.')
})
studio = await serveStudio()

async function restartServer() {
  refreshOutputs(OUTPUT, 'src')
  writeFileSync(COMPLETE, '')
  if (server !== null) await end(server)
  if (stopping !== null) return
  const program = join(OUTPUT, 'app', 'cli-main.js')
  server = start(
    process.execPath,
    [program, 'serve', ...serveOptions],
    ['ignore', 'inherit', 'inherit'],
  )
}

/** The Studio's own configuration, with its proxy pointed at the port that the server uses here. */
async function serveStudio() {
  const configFile = join(ROOT, 'studio', 'vite.config.ts')
  const target = `http://127.0.0.1:${serverPort()}`
  const loaded = await loadConfigFromFile({ command: 'serve', mode: 'development' }, configFile)
  const proxy = Object.entries(loaded?.config.server?.proxy ?? {}).map(([path, options]) => [
    path,
    { ...options, target, headers: { ...options.headers, origin: target } },
  ])
  const vite = await createServer({ configFile, server: { proxy: Object.fromEntries(proxy) } })
  await vite.listen()
  vite.printUrls()
  return vite
}

function serverPort() {
  const { values } = parseArgs({
    args: serveOptions,
    options: { port: { type: 'string' } },
    strict: false,
  })
  return Number(values.port ?? process.env.RECOLLECT_PORT ?? PORT_DEFAULT)
}

/** In a process group of its own: Ctrl-C reaches this program only, which then stops each child once. */
function start(command, args, stdio) {
  const child = spawn(command, args, { stdio, detached: process.platform !== 'win32' })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return child
}

/** Asks a child to stop, then ends what it left behind: the compiler runs in a process that its launcher starts. */
async function end(child) {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGTERM')
    const deadline = setTimeout(() => child.kill('SIGKILL'), STOP_MS_MAX)
    await gone
    clearTimeout(deadline)
  }
  killGroup(child)
}

function killGroup(child) {
  if (process.platform === 'win32') {
    child.kill('SIGKILL')
    return
  }
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

function stopOnSignal() {
  if (stopping === null) void stop(0, 'Stopping …')
  else if (Date.now() - stopping > REPEATED_SIGNAL_MS) {
    for (const child of children) killGroup(child)
  }
}

async function stop(code, message) {
  stopping = Date.now()
  process.stderr.write(`${message}\n`)
  await Promise.all([...[...children].map(end), studio?.close()])
  await restarting
  await Promise.all([...children].map(end))
  process.exit(code)
}
