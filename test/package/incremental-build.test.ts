/** `scripts/ready.mjs` and `scripts/dev.mjs` on a small project: what is built again, and what is left behind. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'

const SERVER = `import { createServer } from 'node:http'
import { word } from '../word.ts'
const port = Number(process.argv[process.argv.indexOf('--port') + 1])
const server = createServer((_, response) => response.end(word))
server.listen(port, '127.0.0.1', () => console.log('serving ' + word + ' pid=' + process.pid))
process.on('SIGTERM', () => server.close(() => console.log('stopped ' + word)))
`

describe('npm run build, as ready.mjs does it', () => {
  it('builds nothing when nothing changed', () => {
    const project = createProject()
    expect(project.ready()).toContain('Building dist')
    expect(project.ready()).toBe('')
  })

  it('removes the outputs of a removed source', () => {
    const project = createProject({ 'src/old/part.ts': 'export const part = 1\n' })
    project.ready()
    expect(project.has('dist/old/part.js')).toBe(true)
    project.remove('src/old/part.ts')
    expect(project.ready()).toContain('Building dist')
    expect(project.has('dist/old')).toBe(false)
    expect(project.has('dist/word.js')).toBe(true)
  })

  it('dates unchanged outputs to the build that confirmed them', () => {
    const project = createProject()
    project.ready()
    const future = new Date(Date.now() + 5_000)
    project.write('src/word.ts', "export const word: string = 'other'\n")
    utimesSync(join(project.folder, 'src/word.ts'), future, future)
    expect(project.ready()).toContain('Building dist')
    expect(project.read('dist/word.js')).toContain('other')
    // Still newer than the build: a change during the build counts for the next one.
    expect(project.ready()).toContain('Building dist')
  })

  it('does not take a build with errors for done, nor its remains for current', () => {
    const project = createProject({ 'src/old.ts': 'export const old = 1\n' })
    project.ready()
    project.remove('src/old.ts')
    project.write('src/word.ts', "export const word: number = 'wrong'\n")
    expect(() => project.ready()).toThrow(/Building dist failed/)
    expect(project.has('dist/.built')).toBe(false)
    // Unchanged, it fails again.
    expect(() => project.ready()).toThrow(/TS2322/)
    project.write('src/word.ts', "export const word: string = 'right'\n")
    project.ready()
    expect(project.has('dist/old.js')).toBe(false)
    expect(project.read('dist/word.js')).toContain('right')
  })

  it('builds everything again when the build is deleted, in spite of its build info', () => {
    const project = createProject()
    project.ready()
    rmSync(join(project.folder, 'dist'), { recursive: true })
    project.ready()
    expect(project.has('dist/word.js')).toBe(true)
  })
})

describe('npm run dev', () => {
  it('serves again after each change without errors, and leaves no process behind', async () => {
    const project = createProject()
    const port = String(await freePort())
    const dev = spawn(process.execPath, ['scripts/dev.mjs', '--port', port], {
      cwd: project.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    onTestFinished(() => void dev.kill('SIGKILL'))
    const output = collect(dev)
    const get = async () => (await fetch(`http://127.0.0.1:${port}/`)).text()

    await expect.poll(output).toContain('serving first')
    expect(await get()).toBe('first')

    project.write('src/word.ts', "export const word: number = 'wrong'\n")
    await expect.poll(output).toContain('TS2322')
    expect(await get()).toBe('first')

    project.write('src/word.ts', "export const word: string = 'second'\n")
    await expect.poll(output).toContain('serving second')
    expect(output()).toContain('stopped first')
    expect(await get()).toBe('second')

    const exit = once(dev, 'exit')
    // A terminal and npm both pass a Ctrl-C on.
    dev.kill('SIGINT')
    dev.kill('SIGINT')
    expect(await exit).toEqual([0, null])
    expect(output()).toContain('stopped second')
    for (const [, pid] of output().matchAll(/pid=(\d+)/g))
      expect(isRunning(Number(pid))).toBe(false)
  })
})

/** A project with the real scripts and tools, and sources of its own. */
function createProject(sources: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder()
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const files = {
    'package.json': '{ "type": "module", "version": "0.0.0" }',
    'scripts/bundle.mjs': '',
    'src/word.ts': "export const word: string = 'first'\n",
    'src/app/cli-main.ts': SERVER,
    'studio/index.html': '<!doctype html><title>Studio</title>',
    'studio/vite.config.ts': `export default ${JSON.stringify({
      root: join(folder, 'studio'),
      cacheDir: join(folder, '.cache/vite'),
      logLevel: 'warn',
      build: { outDir: join(folder, 'dist-studio'), emptyOutDir: true },
    })}\n`,
    ...sources,
  }
  for (const [path, text] of Object.entries(files)) write(path, text)
  for (const name of ['ready.mjs', 'dev.mjs', 'compiler-output.mjs']) {
    cpSync(join('scripts', name), join(folder, 'scripts', name))
  }
  for (const name of ['tsconfig.json', 'tsconfig.build.json']) cpSync(name, join(folder, name))
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  return {
    folder,
    write,
    remove: (path: string) => rmSync(join(folder, path)),
    read: (path: string) => readFileSync(join(folder, path), 'utf8'),
    has: (path: string) => existsSync(join(folder, path)),
    /** What it prints; throws that when it fails. */
    ready: () => {
      const options = { cwd: folder, encoding: 'utf8' } as const
      const { status, stderr } = spawnSync(process.execPath, ['scripts/ready.mjs'], options)
      if (status !== 0) throw new Error(stderr)
      return stderr
    },
  }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  const read = (chunk: Buffer) => {
    text += chunk.toString()
  }
  child.stdout?.on('data', read)
  child.stderr?.on('data', read)
  return () => text
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  server.close()
  await once(server, 'close')
  return port
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
