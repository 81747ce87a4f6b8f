/** The table of commands as a whole, and what is made from it. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/api/cli/commands/index.ts'
import { DEMO } from '../../../src/api/cli/commands/program/demo-memories.ts'
import { OPERATIONS } from '../../../src/api/operations/index.ts'
import { listEmbeddingProviders } from '../../../src/app/models/embedding-provider-list.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { createCli } from './cli-host.ts'

const NAMES = COMMANDS.map(({ name }) => name)

describe('the table of commands', () => {
  it('[CL20] every operation that names a command has it', () => {
    const missing = OPERATIONS.filter(({ cli }) => cli !== undefined && !NAMES.includes(cli))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  it('[CL20] the commands that are promised exist, each once', () => {
    const promised =
      'serve mcp demo add learn flush agents episodes identity sessions files review jobs consolidate search list get edit forget clear history restore disable undo erase status doctor ' +
      'reindex vectors keys owners audit receipts settings export import backup connect eval bench completion encrypt decrypt rekey ' +
      'help version'
    expect(NAMES).toEqual(expect.arrayContaining(promised.split(' ')))
    expect(new Set(NAMES).size).toBe(NAMES.length)
  })

  it('[CL20] version and --version say the same', async () => {
    const cli = createCli()
    expect((await cli(['version'])).out).toBe((await cli(['--version'])).out)
    expect((await cli(['version', '--json'])).json).toEqual({ version: '1.2.3' })
  })
})

describe('completion', () => {
  it.each(['bash', 'zsh', 'fish'])('[CL20] the script for %s knows all commands', async (shell) => {
    const { exit, out } = await createCli()(['completion', shell])
    expect(exit).toBe(0)
    for (const name of NAMES) expect(out).toContain(name)
    expect(out).toContain(shell === 'fish' ? '-l older-than' : '--older-than')
  })

  for (const shell of ['bash', 'zsh', 'fish']) {
    const isHere = spawnSync(shell, ['--version']).error === undefined
    const reason = isHere ? '' : ` (not run: ${shell} is not installed)`
    it.skipIf(!isHere)(`[CL20] ${shell} finds no fault in its script${reason}`, async () => {
      const file = temporaryFile(`completion.${shell}`)
      writeFileSync(file, (await createCli()(['completion', shell])).out)
      const checked = spawnSync(shell, ['-n', file], { encoding: 'utf8' })
      expect({ status: checked.status, err: checked.stderr }).toEqual({ status: 0, err: '' })
    })
  }

  it('[CL20] bash completes commands, options of a command, and nothing of another', async () => {
    const { out } = await createCli()(['completion', 'bash'])
    const complete = (...words: readonly string[]) => {
      const script = `${out}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')})\nCOMP_CWORD=${words.length - 1}\n_recollect\nprintf '%s\\n' "\${COMPREPLY[@]}"`
      return spawnSync('bash', ['-c', script], { encoding: 'utf8' }).stdout.trim().split('\n')
    }
    expect(complete('recollect', 'se')).toEqual(['search', 'sessions', 'serve', 'settings'])
    expect(complete('recollect', 'clear', '--older')).toEqual(['--older-than'])
    expect(complete('recollect', 'list', '--older')).toEqual([''])
    expect(complete('recollect', '--owner', 'ada', 'list', '--pag')).toEqual(['--page'])
    expect(complete('recollect', 'help', 'hist')).toEqual(['history'])
  })

  it('[CL5] a shell with a typo gets a suggestion', async () => {
    const { exit, err } = await createCli()(['completion', 'bsh'])
    expect(exit).toBe(2)
    expect(err).toContain('Did you mean bash?')
  })
})

describe('demo', () => {
  it('[CL21] fills a folder of its own, and what it suggests works', async () => {
    const cli = createCli()
    const { exit, json } = await cli(['demo', '--json'])
    expect(exit).toBe(0)
    expect(json.folder).not.toBe(cli.folder)
    expect(existsSync(cli.folder)).toBe(false)
    expect(readdirSync(json.folder)).toContain('recollect.db')
    expect(json.try).toHaveLength(3)
    const answers = []
    for (const commandLine of json.try) {
      const words = [...commandLine.matchAll(/"([^"]*)"|(\S+)/g)].map(
        (match) => match[1] ?? match[2],
      )
      expect(words.shift()).toBe('recollect')
      const ran = await cli(words, { environment: { RECOLLECT_EMBEDDING_SOURCE: 'transformers' } })
      expect({ commandLine, exit: ran.exit, err: ran.err }).toEqual({
        commandLine,
        exit: 0,
        err: '',
      })
      answers.push(ran.out)
    }
    expect(answers[0]).toContain('paprikash')
    expect(answers[1]).toContain('I live in Trieste')
    expect(answers[2]).toContain('Version 3')
    const at = ['--data', json.folder]
    const { stats } = (await cli(['list', '--json', ...at])).json
    expect(stats.total).toBeGreaterThanOrEqual(20)
    expect(
      Object.values(stats.byCategory).filter((count) => Number(count) > 0).length,
    ).toBeGreaterThan(4)
    const all = (await cli(['list', '--all-statuses', '--include-expired', '--json', ...at])).json
      .data
    const statuses = new Set(all.map(({ status }: { status: string }) => status))
    expect([...statuses].sort()).toEqual(['active', 'forgotten', 'superseded'])
    expect(
      all.some(({ conflictsWith }: { conflictsWith: unknown }) => conflictsWith !== null),
    ).toBe(true)
  }, 30_000)

  it('[CL21] never touches a folder that has a database', async () => {
    const cli = createCli()
    await cli(['add', 'I like tea'])
    const refused = await cli(['demo', '--data', cli.folder])
    expect(refused).toMatchObject({ exit: 2, out: '' })
    const own = await cli(['demo', '--data', `${cli.folder}/new`])
    expect(own.out).toContain(`${cli.folder}/new`)
    expect(own.out).toContain(`When you have seen enough: rm -r ${cli.folder}/new`)
    expect(DEMO.filter(({ does }) => does === 'say')).toHaveLength(25)
  })
})

describe('eval and bench', () => {
  it('[CL20] run the tools of a clone, and say so where there are none', async () => {
    const cli = createCli()
    const requests: unknown[] = []
    const runTool = async (name: string, argv: readonly string[]) => {
      requests.push([name, ...argv])
      return argv.length - 1
    }
    expect(await cli(['eval', 'patterns'], { runTool })).toMatchObject({ exit: 0, out: '' })
    expect(await cli(['bench', 'store', '--', '--rows'], { runTool })).toMatchObject({ exit: 1 })
    expect(requests).toEqual([
      ['eval', 'patterns'],
      ['bench', 'store', '--rows'],
    ])
    const none = await cli(['bench', 'store'])
    expect(none).toMatchObject({ exit: 14, out: '' })
    expect(none.err).toContain('In a clone, run `npm run bench`.')
  })
})

it('[CL22] embedding providers show whether they have a key, never the key', () => {
  const providers = listEmbeddingProviders({ OPENAI_API_KEY: 'sk-secret' })
  const has = Object.fromEntries(providers.map(({ provider, hasKey }) => [provider, hasKey]))
  expect(has).toMatchObject({ transformers: true, static: true, openai: true, ollama: true })
  expect(has).toMatchObject({ voyage: false, cohere: false, gemini: false })
  expect(JSON.stringify(providers)).not.toContain('secret')
  const ours = { RECOLLECT_EMBEDDING_API_KEY: 'x', RECOLLECT_EMBEDDING_MODEL: 'voyage/voyage-3.5' }
  const voyage = listEmbeddingProviders(ours).find(({ provider }) => provider === 'voyage')
  expect(voyage).toMatchObject({ hasKey: true, models: [{ dimensions: 1024 }, {}] })
  const nameless = listEmbeddingProviders({ RECOLLECT_EMBEDDING_API_KEY: 'x' })
  expect(nameless.every(({ hasKey }) => hasKey)).toBe(true)
})
