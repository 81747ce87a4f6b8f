/** Runs the programs of `examples/` as they stand, against the built package and a server of its own. */
import { type ChildProcessWithoutNullStreams, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { installPart, partFolder } from './support/part.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const CLI = resolve('dist/app/cli-main.js')
const isBuilt = existsSync(CLI)

/** Why an example whose packages are installed on demand cannot be run; null when it can. */
const missingFor = {
  gemini: await installPart('clients', '@google/genai'),
  llamaindex: await installPart('clients', '@llamaindex/core'),
  mastra: await installPart('clients', '@mastra/core'),
}
/** The environment that the test of the Python client makes. */
const PYTHON = resolve('.cache/python-client/bin/python')
const hasLangGraph = spawnSync(PYTHON, ['-c', 'import langgraph']).status === 0

const folders = readdirSync('examples', { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name)

it('every example has a README, and the list of examples names it', () => {
  const list = readFileSync('examples/README.md', 'utf8')
  for (const folder of folders) {
    expect(existsSync(join('examples', folder, 'README.md')), folder).toBe(true)
    expect(list).toContain(`[${folder}](${folder})`)
  }
})

it('every example is run here', () => {
  expect(folders.sort()).toEqual([
    ...['agent-mcp', 'ai-sdk', 'chat-openai', 'conformance', 'custom-embedder', 'embed-server'],
    ...['gemini', 'langgraph', 'llamaindex', 'mastra', 'openai-agents', 'python-langgraph'],
    ...['rest-client', 'serve-in-app'],
  ])
})

describe.skipIf(!isBuilt)('examples (skipped when dist is not built)', () => {
  describe('against a server', () => {
    const environment: NodeJS.ProcessEnv = { ...process.env, RECOLLECT_DATA: temporaryFolder() }
    let server: Started

    beforeAll(async () => {
      server = await start(CLI, ['serve', '--port', '0'], environment, [
        /listens on (\S+)/,
        /^\s+(rc_management_\S+)$/m,
      ])
      const [url = '', key = ''] = server.found
      environment.RECOLLECT_URL = url
      environment.RECOLLECT_API_KEY = key
      await run(CLI, ['settings', 'set', 'enabled=true', '--system', '--url', url], environment)
    })
    afterAll(() => server.stop())

    it('chat-openai remembers in one session what was said in another', async () => {
      const chat = (session: string, input: string) =>
        run(resolve('examples/chat-openai/chat.mjs'), [session], environment, input)
      await chat('monday', 'We painted the kitchen sage green\n')
      const reply = await chat('tuesday', 'Which color is the kitchen?\n')
      expect(reply).toContain('sage green')
      // What is not relevant is not added.
      const unrelated = await chat('wednesday', 'How many planets are there?\n')
      expect(unrelated).not.toContain('sage green')
    })

    it.skipIf(missingFor.gemini !== null)(
      'gemini remembers in one session what was said in another',
      async () => {
        const program = standAlone('examples/gemini/chat.mjs', '@google')
        await run(program, ['monday', 'We painted the boat coral red'], environment)
        const answer = await run(program, ['tuesday', 'Which color is the boat?'], environment)
        expect(answer).toContain('coral red')
      },
    )

    it.skipIf(missingFor.mastra !== null)(
      'mastra remembers in one thread what was said in another',
      async () => {
        const program = standAlone('examples/mastra/agent.mjs', '@mastra')
        const ask = (thread: string, message: string) =>
          run(program, [thread, message], {
            ...{ ...environment, DATABASE: join(dirname(program), 'memory.db') },
            OPENAI_BASE_URL: `${environment.RECOLLECT_URL}/v1`,
            ...{ OPENAI_API_KEY: environment.RECOLLECT_API_KEY, MODEL: 'demo/echo' },
          })
        await ask('monday', 'We painted the fence navy blue')
        expect(await ask('tuesday', 'Which color is the fence?')).toContain('navy blue')
      },
    )

    it.skipIf(!hasLangGraph)(
      'python-langgraph answers from its store (skipped without langgraph)',
      async () => {
        const ask = (...words: readonly string[]) =>
          promisify(execFile)(PYTHON, [resolve('examples/python-langgraph/store.py'), ...words], {
            env: { ...environment, PYTHONPATH: resolve('clients/python/src') },
          })
        expect((await ask('We', 'painted', 'the', 'gate', 'olive')).stdout).toBe('Noted.\n')
        const { stdout } = await ask('Which color is the gate?')
        expect(stdout).toBe('We painted the gate olive\n')
      },
    )

    it('chat-openai says what is missing without a key', async () => {
      const chat = run(resolve('examples/chat-openai/chat.mjs'), [], {
        ...environment,
        RECOLLECT_API_KEY: '',
      })
      await expect(chat).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('RECOLLECT_API_KEY must be set'),
      })
    })

    it('rest-client adds, finds and forgets', async () => {
      const notes = (verb: string, text: string) =>
        run(resolve('examples/rest-client/notes.mjs'), [verb, ...text.split(' ')], environment)
      expect(await notes('add', 'The spare key hangs behind the blue door')).toMatch(
        /^create: mem_/,
      )
      expect(await notes('find', 'where is the spare key')).toContain('behind the blue door')
      expect(await notes('forget', 'spare key')).toContain('forgotten')
      expect(await notes('find', 'where is the spare key')).not.toContain('blue door')
    })

    it('ai-sdk remembers in one session what was said in another', async () => {
      const database = join(temporaryFolder(), 'memory.db')
      const chat = (session: string, message: string) =>
        run(resolve('examples/ai-sdk/chat.mjs'), [session, message], {
          ...environment,
          ...{ DATABASE: database, MODEL: 'demo/echo' },
          OPENAI_BASE_URL: `${environment.RECOLLECT_URL}/v1`,
          OPENAI_API_KEY: environment.RECOLLECT_API_KEY ?? '',
        })
      await chat('monday', 'We painted the bathroom in a pale yellow')
      expect(await chat('tuesday', 'Which color is the bathroom?')).toContain('pale yellow')
    })

    it('agent-mcp remembers, finds and forgets', async () => {
      const agent = (task: string) =>
        run(resolve('examples/agent-mcp/agent.mjs'), task.split(' '), environment)
      const fact = 'Ada reviews pull requests before noon'
      const question = 'when does Ada review pull requests'
      await agent(`remember that ${fact}`)
      expect(await agent(question)).toContain(fact)
      await agent(`forget that ${fact}`)
      expect(await agent(question)).not.toContain(fact)
    })
  })

  it('serve-in-app answers its own pages, and REST with the same memories', async () => {
    const environment = {
      ...process.env,
      DATABASE: join(temporaryFolder(), 'memory.db'),
      PORT: '0',
    }
    const server = await start(resolve('examples/serve-in-app/app.mjs'), [], environment, [
      /Key: (\S+)/,
      /Listening on (\S+)/,
    ])
    onTestFinished(() => server.stop())
    const [key = '', url = ''] = server.found
    const hello = async () => (await fetch(`${url}/hello`)).text()
    expect(await hello()).toContain('do not know you')
    const added = await fetch(`${url}/api/memory`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{"content": "My name is Ada"}',
    })
    expect(added.status).toBe(201)
    expect(await hello()).toContain('My name is Ada')
  })

  it('langgraph finds items by what they say', async () => {
    const store = (question: string) =>
      run(resolve('examples/langgraph/store.mjs'), [question], {
        ...process.env,
        DATABASE: join(temporaryFolder(), 'memory.db'),
      })
    expect(await store('')).toBe('Ada drinks green tea in the morning\nusers/ada\nusers/ben\n')
    expect(await store('where does she live?')).toContain('Ada lives in Lisbon')
  })

  it.skipIf(missingFor.llamaindex !== null)(
    'llamaindex brings back what was said in another session',
    async () => {
      const program = standAlone('examples/llamaindex/chat.mjs', '@llamaindex')
      const ask = (session: string, message: string) =>
        run(program, [session, message], {
          ...process.env,
          DATABASE: join(dirname(program), 'memory.db'),
        })
      await ask('monday', 'We painted the kitchen sage green')
      expect(await ask('tuesday', 'Which color is the kitchen?')).toContain('sage green')
    },
  )

  it('openai-agents remembers in one session what was said in another', async () => {
    const database = join(temporaryFolder(), 'memory.db')
    const ask = (session: string, message: string) =>
      run(resolve('examples/openai-agents/agent.mjs'), [session, message], {
        ...process.env,
        DATABASE: database,
      })
    expect(await ask('monday', 'We painted the kitchen sage green')).toBe('Noted.\n')
    expect(await ask('tuesday', 'Which color is the kitchen?')).toContain('sage green')
  })

  it('conformance runs under the test runner of Node', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...['--test', '--test-reporter=tap', '--test-name-pattern=rows'],
      resolve('examples/conformance/store.test.mjs'),
    ])
    expect(stdout).toMatch(/# pass [1-9]/)
    expect(stdout).toContain('# fail 0')
  })

  it('embed-server keeps the memories of users apart', async () => {
    const program = resolve('examples/embed-server/server.mjs')
    const database = join(temporaryFolder(), 'memory.db')
    const environment = { ...process.env, DATABASE: database, PORT: '0' }
    const server = await start(program, [], environment, [/Listening on (\S+)/])
    onTestFinished(() => server.stop())
    const [url = ''] = server.found
    const add = (body: string) => fetch(`${url}/users/ada/memories`, { method: 'POST', body })
    const context = async (user: string) =>
      (await fetch(`${url}/users/${user}/context?q=what+should+I+drink`)).json()

    const added = await add('{"text": "I prefer tea over coffee"}')
    expect(await added.json()).toMatchObject({ outcome: 'create' })
    expect(await context('ada')).toEqual({ context: ['I prefer tea over coffee'] })
    expect(await context('ben')).toEqual({ context: [] })
    expect((await add('no JSON')).status).toBe(400)
    expect((await fetch(`${url}/elsewhere`)).status).toBe(404)
    // A second run finds what the first one stored.
    await server.stop()
    const second = await start(program, [], environment, [/Listening on (\S+)/])
    onTestFinished(() => second.stop())
    const found = await fetch(`${second.found[0]}/users/ada/context?q=what+should+I+drink`)
    expect(await found.json()).toEqual({ context: ['I prefer tea over coffee'] })
  })

  it('custom-embedder finds misspelled words', async () => {
    const search = (question: string) =>
      run(resolve('examples/custom-embedder/search.mjs'), question.split(' '), {
        ...process.env,
        DATABASE: join(temporaryFolder(), 'facts.db'),
      })
    expect(await search('expresso mashine')).toBe('The espresso machine is in the basement\n')
    expect(await search('deployement skripts')).toBe('Ada maintains the deployment scripts\n')
  })
})

/** A copy of the program beside its packages, as somebody has it who has installed them. */
function standAlone(program: string, scope: string): string {
  const folder = temporaryFolder()
  const modules = join(folder, 'node_modules')
  mkdirSync(modules)
  const link = (to: string, name: string) =>
    symlinkSync(realpathSync(to), join(modules, name), 'junction')
  link('.', 'recollect')
  link('node_modules/@ai-sdk', '@ai-sdk')
  link(join(partFolder('clients'), 'node_modules', scope), scope)
  const copy = join(folder, basename(program))
  copyFileSync(program, copy)
  return copy
}

type Started = {
  /** What each of the patterns captured. */
  readonly found: readonly string[]
  stop(): Promise<void>
}

/** Resolves once the program has printed all of the patterns. */
async function start(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  patterns: readonly RegExp[],
): Promise<Started> {
  const child = spawn(process.execPath, [program, ...args], { env })
  const ended = once(child, 'exit')
  const found = await printed(child, patterns)
  return {
    found,
    stop: async () => {
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
    },
  }
}

function printed(
  child: ChildProcessWithoutNullStreams,
  patterns: readonly RegExp[],
): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      text += chunk.toString()
      const found = patterns.flatMap((pattern) => pattern.exec(text)?.[1] ?? [])
      if (found.length === patterns.length) resolve(found)
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', () => reject(new Error(`The program ended: ${text}`)))
  })
}

async function run(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  input = '',
): Promise<string> {
  const running = promisify(execFile)(process.execPath, [program, ...args], { env })
  running.child.stdin?.end(input)
  return (await running).stdout
}
