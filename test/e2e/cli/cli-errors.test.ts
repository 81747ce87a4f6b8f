import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../../src/api/cli/command-runner.ts'
import { COMMANDS } from '../../../src/api/cli/commands/index.ts'
import type { Host } from '../../../src/api/cli/host.ts'
import { readConfig } from '../../../src/app/config/config.ts'
import { AppError, ERRORS } from '../../../src/lib/errors.ts'
import { temporaryFile, temporaryFolder } from '../../support/temporary-folder.ts'
import { added, createCli } from './cli-host.ts'

describe('command lines that cannot be understood', () => {
  const cli = createCli()
  it.each([
    [['lst'], 'Unknown command "lst". Did you mean `list`?'],
    [['remember', 'x'], 'Did you mean `add`?'],
    [['serach', 'x'], 'Did you mean `search`?'],
    [['hist'], 'Did you mean `history`?'],
    [['help', 'lst'], 'Did you mean `list`?'],
    [
      ['add', '--importence', '3', 'x'],
      'Unknown option --importence for `add`. Did you mean --importance?',
    ],
    [['--jsno', 'list'], 'Did you mean --json?'],
    [['list', '--type', 'facutal'], 'Did you mean factual?'],
    [['list', '--all-status'], 'Did you mean --all-statuses?'],
  ])('[CL5] %j gets a suggestion', async (argv, words) => {
    const { exit, out, err } = await cli(argv)
    expect(err).toMatch(/^recollect: /)
    expect(err).toContain(words)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
  })

  it('[CL5] a variable with a typo gets one too', async () => {
    const { exit, err } = await cli(['list'], { environment: { RECOLLECT_DTA: 'x' } })
    expect(err).toContain('Did you mean RECOLLECT_DATA?')
    expect(exit).toBe(2)
    expect((await cli(['help'], { environment: { RECOLLECT_DTA: 'x' } })).exit).toBe(0)
  })

  it.each([
    [['zzzzzz'], 'Unknown command "zzzzzz".'],
    [['--limit', '3', 'list'], 'Put the options of a command after its name.'],
    [['get'], '`get` needs an <id>.'],
    [['get', 'mem_1', 'mem_2'], 'got 1 argument too many'],
    [['get', 'foo'], 'got "foo"'],
    [['add', '-5', 'degrees'], 'put -- before it'],
    [['add'], 'No text was given.'],
    [['add', '   '], 'The text is blank.'],
    [['add', 'x'.repeat(50_001)], 'content: Too big: expected string to have <=50000 characters'],
    [['add', '--metadata', '{x', 'a'], '--metadata must be a JSON object.'],
    [['add', '--metadata', '[1]', 'a'], '--metadata must be a JSON object.'],
    [['add', '--importance', '11', 'a'], '--importance must be an integer from 1 to 10.'],
    [['add', '--importance', 'high', 'a'], '--importance must be a number; got "high".'],
    [['add', '--importance', '-1', 'a'], '--importance=<n>'],
    [['add', '--expires', '2026-02-30', 'a'], '--expires must be a time; got "2026-02-30".'],
    [['add', '--expires', 'soon', 'a'], '--expires must be a time; got "soon".'],
    [['add', '--expires', '2020-01-01', 'a'], '--expires is in the past'],
    [
      ['add', '--valid-from', '2027-01-01', '--valid-until', '2026-01-01', 'a'],
      'not be earlier than `validFrom`',
    ],
    [['add', '--key', 'a', '--key', 'b', 'x'], '--key may be set only once.'],
    [['add', '--pin=yes', 'x'], '--pin does not take a value.'],
    [['add', '--key'], '--key requires a value: --key <name>'],
    [['add', '--owner', ' x', 'a'], '`owner` must not begin or end with a space.'],
    [['list', '--after', 'nonsense'], '--after takes the id of a memory, not "nonsense".'],
    [['list', '--after', 'mem_1', '--page', '2'], 'Give one of --page and --after, not several.'],
    [['list', '--updated', '--oldest'], '--oldest and --updated contradict each other'],
    [['list', '--sort', 'salience', '--oldest'], '--sort and --oldest contradict each other'],
    [['list', '--sort', 'saliense'], 'Did you mean salience?'],
    [
      ['list', '--sort', 'salience', '--after', 'mem_1'],
      '`after` must be `next` of an earlier page in the same order.',
    ],
    [['edit', 'mem_1', 'text', '--content', 'other'], 'contradict each other'],
    [['search', 'x', '--scope', 'globl'], 'Did you mean global?'],
    [['list', '--limit', '0'], '--limit must be an integer from 1 to 200.'],
    [
      ['list', '--status', 'active', '--all-statuses'],
      '--status and --all-statuses cannot be combined.',
    ],
    [['edit', 'mem_1', '--pin', '--unpin'], 'contradict each other'],
    [['erase'], '`erase` needs an <id>, or --trash.'],
    [['erase', 'mem_1', '--trash'], 'Give ids or --trash, not both.'],
    [['search', '-'], 'The query must not be empty'],
    [['doctor', '--repair', '--salvage'], '--repair and --salvage cannot be combined.'],
    [
      ['encrypt', '--new-key-file', 'a', '--generate-key-file', 'b'],
      '--new-key-file and --generate-key-file cannot be combined.',
    ],
    [['serve', '--port', '99999'], '--port must be an integer from 0 to 65535.'],
  ])('[CL2] %j is refused with exit code 2 and a sentence', async (argv, words) => {
    const { exit, out, err } = await cli(argv, { columns: 100 })
    expect(err).toContain('recollect: ')
    expect(err).toContain(words)
    expect({ exit, out }).toEqual({ exit: 2, out: '' })
  })
})

describe('exit codes and the shape of errors', () => {
  it('[CL2] what belongs to another owner or user is not there', async () => {
    const cli = createCli()
    const { id, change } = await added(cli, '--owner', 'ada', '--user', 'bob', 'I like tea')
    for (const scope of [[], ['--owner', 'eve'], ['--owner', 'ada', '--user', 'eve']]) {
      for (const argv of [
        ['get', id],
        ['edit', id, '--pin'],
        ['forget', id],
        ['restore', id],
        ['disable', id],
        ['history', id],
        ['erase', id, '--yes'],
        ['undo', change],
      ]) {
        const { exit, out, err } = await cli([...argv, ...scope])
        expect({ exit, out }).toEqual({ exit: 4, out: '' })
        expect(err).toMatch(/^recollect: (Memory|Change) \w+ not found\./)
      }
    }
    expect((await cli(['get', id, '--owner', 'ada'])).exit).toBe(0)
    const again = await cli(['forget', id, '--owner', 'ada', '--user', 'bob'])
    expect(again.out).toContain(`recollect restore ${id} --owner ada --user bob`)
  })

  it('[CL2] with --json every error has the same shape, on standard error', async () => {
    const cli = createCli()
    for (const { name } of COMMANDS) {
      const { exit, out, err } = await cli([name, '--no-such-option', '--json'])
      expect({ exit, out }).toEqual({ exit: 2, out: '' })
      expect(JSON.parse(err)).toEqual({
        error: { code: 'invalid_input', message: expect.any(String), facts: {} },
      })
    }
    const { json } = await cli(['get', 'mem_0none', '--json'])
    expect(json.error).toMatchObject({ code: 'not_found', facts: { id: 'mem_0none' } })
  })

  it('[CL2] every error ends with the exit code of the table', async () => {
    for (const code of Object.keys(ERRORS) as (keyof typeof ERRORS)[]) {
      const { exit, err } = await failing(new AppError(code, 'It failed.'))
      expect(exit).toBe(ERRORS[code].exit)
      expect(err).toContain('It failed.')
    }
  })

  it('[CL2] an unexpected error says how to see more, and shows no text of others', async () => {
    const plain = await failing(new Error('something broke'))
    expect(plain.exit).toBe(1)
    expect(plain.err).toMatch(/^recollect: Unexpected error: something broke\n.*--verbose/)
    const verbose = await failing(new Error('something broke'), '--verbose')
    expect(verbose.err).toMatch(/\n {4}at /)
    const leaking = new SyntaxError('"my secret" is not valid JSON')
    expect((await failing(leaking, '--verbose')).err).not.toContain('secret')
  })

  it('[CL22] errors speak of flags and variables, not of options of the library', async () => {
    const cli = createCli()
    const environment = {
      RECOLLECT_EMBEDDING_SOURCE: 'transformers',
      MEMORY_TRANSFORMERS_MODEL: 'someone/some-model',
    }
    await added(cli, 'I like tea')
    const { out } = await cli(['search', 'tea'], { environment })
    // A model that is not on the disk falls back to the built-in one.
    expect(out).toContain('I like tea')
    const reindex = await cli(['reindex'], { environment })
    expect(out + reindex.err).not.toContain('allowDownload')
    const long = await cli(['add', 'x', '--language', 'x'.repeat(40)])
    expect(long.err).toMatch(/language: Too big.*\nCheck --language\.\n$/)
  })

  it('[CL2] a reader that goes away is no failure', async () => {
    const cli = createCli()
    await added(cli, 'I like tea')
    expect(await cli(['export'], { writesMax: 0 })).toMatchObject({ exit: 0, err: '' })
    expect(await cli(['list'], { writesMax: 0 })).toMatchObject({ exit: 0, err: '' })
  })

  it('[CL2] files that cannot be used are named', async () => {
    const cli = createCli()
    await added(cli, 'I like tea')
    expect(await cli(['import', '/no/such/file'])).toMatchObject({ exit: 4 })
    expect(await cli(['import', temporaryFolder()])).toMatchObject({ exit: 2 })
    expect(await cli(['export', '/no/such/folder/file'])).toMatchObject({ exit: 4 })
    expect(await cli(['export', temporaryFolder()])).toMatchObject({ exit: 2 })
    const file = temporaryFile('in-the-way')
    writeFileSync(file, '')
    expect(await cli(['add', 'x', '--data', join(file, 'data')])).toMatchObject({ exit: 12 })
    const garbage = temporaryFolder()
    writeFileSync(join(garbage, 'recollect.db'), 'this is no database at all, only text')
    expect(await cli(['list', '--data', garbage])).toMatchObject({ exit: 8 })
    mkdirSync(join(garbage, 'x'))
  })

  it('[CL2] keys are checked and never shown', async () => {
    const cli = createCli()
    await added(cli, 'I like tea')
    const secret = 'deadbeef'.repeat(4)
    for (const environment of [
      { RECOLLECT_ENCRYPTION_KEY: secret },
      { RECOLLECT_ENCRYPTION_PASSPHRASE: 'short pass' },
    ]) {
      const { exit, out, err } = await cli(['encrypt', '--json'], { environment })
      expect(exit).toBe(2)
      expect(out + err).not.toMatch(/deadbeef|short pass/)
    }
    const both = {
      RECOLLECT_ENCRYPTION_KEY: secret,
      RECOLLECT_ENCRYPTION_PASSPHRASE: 'another secret',
    }
    expect((await cli(['list'], { environment: both })).err).toContain('Set only one of them.')
    expect(await cli(['rekey'])).toMatchObject({ exit: 5 })
    expect((await cli(['decrypt'])).out).toMatch(/was not encrypted\.\n$/)
    expect(await cli(['encrypt'], { stdin: '' })).toMatchObject({ exit: 2 })
    const differing = await cli(['encrypt'], {
      columns: 80,
      answers: ['one passphrase', 'another one'],
    })
    expect(differing.err).toContain('The passphrases differ. Nothing was changed.')
  })
})

describe('configuration', () => {
  const linux = { platform: 'linux', home: '/home/ada' } as const

  it('[CL1] the data folder is where the platform wants it', () => {
    const folder = (environment: object, system: Parameters<typeof readConfig>[2]) =>
      readConfig({}, { ...environment }, system).dataFolder
    expect(folder({}, linux)).toBe('/home/ada/.local/share/recollect')
    expect(folder({ XDG_DATA_HOME: '/data' }, linux)).toBe('/data/recollect')
    expect(folder({ XDG_DATA_HOME: 'relative' }, linux)).toBe('/home/ada/.local/share/recollect')
    expect(folder({}, { platform: 'darwin', home: '/Users/ada' })).toBe(
      '/Users/ada/Library/Application Support/recollect',
    )
    expect(folder({ APPDATA: '/AppData' }, { platform: 'win32', home: '/' })).toBe(
      '/AppData/recollect',
    )
  })

  it('[CL1] flags go before variables, variables before defaults, and empty ones do not count', () => {
    const environment = {
      RECOLLECT_DATA: '/env',
      RECOLLECT_OWNER: 'env-owner',
      RECOLLECT_USER: '',
      RECOLLECT_ENCRYPTION_KEY_FILE: 'env.key',
      RECOLLECT_PORT: '8080',
    }
    const config = readConfig({ owner: 'flag-owner', keyFile: 'flag.key' }, environment, linux)
    expect(config).toMatchObject({
      dataFolder: '/env',
      scope: { owner: 'flag-owner' },
      key: { kind: 'file', value: 'flag.key', origin: 'the file flag.key' },
      listen: { host: '127.0.0.1', port: 8080 },
    })
    expect(readConfig({}, environment, linux).key).toMatchObject({
      origin: 'RECOLLECT_ENCRYPTION_KEY_FILE',
    })
    expect(() => readConfig({}, { RECOLLECT_PORT: 'http' }, linux)).toThrow('RECOLLECT_PORT')
  })

  it('[CL1] variables choose the models and the settings of recall', () => {
    const read = (environment: Record<string, string>) => readConfig({}, environment, linux)
    expect(read({})).toMatchObject({ embedding: {}, vectorForm: 'float32', rerank: null })
    expect(
      read({
        RECOLLECT_EMBEDDING_MODEL: 'openai/text-embedding-3-small',
        OPENAI_API_KEY: 'sk-usual',
        MEMORY_EMBEDDING_CACHE_MAX: '5',
        MEMORY_EMBEDDING_CACHE_TTL_MS: '60000',
      }).embedding,
    ).toEqual({
      remoteModel: 'openai/text-embedding-3-small',
      apiKey: 'sk-usual',
      cacheEntriesMax: 5,
      cacheAgeMsMax: 60_000,
    })
    expect(read({ OPENAI_API_KEY: 'sk-usual', JINA_API_KEY: '' }).providerKeys).toEqual({
      openai: 'sk-usual',
    })
    expect(read({ MEMORY_VEC_QUANTIZATION: 'none' }).vectorForm).toBe('float32')
    expect(
      read({ RECOLLECT_VECTOR_ENGINE: 'sqlite-vec', RECOLLECT_VECTOR_CACHE_MB: '64' }),
    ).toMatchObject({ vectorSearch: 'sqlite-vec', vectorMemoryBytes: 67_108_864 })
    expect(
      read({
        RECOLLECT_EMBEDDING_REQUESTS_PER_MINUTE: '500',
        RECOLLECT_EMBEDDING_TOKENS_PER_MINUTE: '0',
      }).embedding,
    ).toEqual({ requestsPerMinute: 500 })
    expect(
      read({
        MEMORY_TRANSFORMERS_MODEL: './mine',
        MEMORY_STATIC_MODEL: 'tiny',
        MEMORY_STATIC_CACHE_DIR: '/models',
      }).embedding,
    ).toEqual({ localModel: './mine', staticModel: 'tiny', modelFolder: '/models' })
    expect(read({ MEMORY_RRF_K: '10', MEMORY_VEC_TOP_K: '50' }).settings).toEqual({
      'recall.rrfK': 10,
      'recall.vectorCandidates': 50,
    })
    expect(read({ MEMORY_VEC_QUANTIZATION: 'int8' }).vectorForm).toBe('int8')
    expect(read({ RECOLLECT_RERANK_MODEL_FOLDER: '/ranker' }).rerank).toEqual({ folder: '/ranker' })
    expect(
      read({ RECOLLECT_RERANK_URL: 'http://localhost:1', RECOLLECT_RERANK_MODEL: 'm' }).rerank,
    ).toEqual({ url: 'http://localhost:1', model: 'm' })
  })

  it('[CL1] variables configure how the server listens and what it logs', () => {
    const read = (environment: Record<string, string>) => readConfig({}, environment, linux)
    expect(read({})).toMatchObject({
      remote: null,
      server: { tls: null, trustProxy: false, allowedHosts: [], allowedOrigins: [] },
      log: null,
      telemetry: { endpoint: null, traceContent: false },
      mcpTools: { hasCompatibilityTools: false, hasExtendedTools: false },
    })
    expect(
      read({
        RECOLLECT_LOG_LEVEL: 'debug',
        OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other',
        RECOLLECT_TRACE_CONTENT: 'on',
        RECOLLECT_MCP_COMPATIBILITY_TOOLS: '1',
        RECOLLECT_MCP_EXTENDED_TOOLS: '1',
        RECOLLECT_REQUESTS_PER_MINUTE: '0',
        RECOLLECT_URL: 'http://127.0.0.1:9/',
        RECOLLECT_API_KEY: 'rc_x',
      }),
    ).toMatchObject({
      log: 'debug',
      telemetry: { endpoint: 'http://other', traceContent: true },
      mcpTools: { hasCompatibilityTools: true, hasExtendedTools: true },
      settings: { 'server.requestsPerMinute': 0 },
      remote: { url: 'http://127.0.0.1:9', key: 'rc_x', origin: 'RECOLLECT_URL' },
    })
    const both = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://other',
      RECOLLECT_OTLP_ENDPOINT: 'http://ours',
    }
    expect(read(both).telemetry.endpoint).toBe('http://ours')
  })

  it('[CL24] who names a folder means that one, not a server that is set elsewhere', () => {
    const environment = { RECOLLECT_URL: 'http://127.0.0.1:9' }
    expect(readConfig({ data: '/d' }, environment, linux)).toMatchObject({
      remote: null,
      dataFolder: '/d',
    })
    const postgres = { RECOLLECT_POSTGRES_URL: 'postgresql://x' }
    expect(() => readConfig({ data: '/d' }, postgres, linux)).toThrow(
      '`--data` and `RECOLLECT_POSTGRES_URL` must not be combined',
    )
    expect(readConfig({}, { ...postgres, RECOLLECT_DATA: '/d' }, linux)).toMatchObject({
      ...{ postgres: 'postgresql://x', dataFolder: '/d' },
    })
    expect(() => readConfig({ data: '/d', url: 'http://127.0.0.1:9' }, {}, linux)).toThrow(
      'not both',
    )
  })

  it('[CL1] what a cluster sets for a service of our name is not ours', () => {
    const environment = {
      RECOLLECT_SERVICE_HOST: '10.0.0.1',
      RECOLLECT_PORT: 'tcp://10.0.0.1:20128',
      RECOLLECT_PORT_20128_TCP_ADDR: '10.0.0.1',
    }
    expect(readConfig({}, environment, linux).listen.port).toBe(20_128)
  })

  it.each([
    [{ RECOLLECT_EMBEDDING_SOURCE: 'magic' }, 'auto, transformers, static, remote, none'],
    [{ RECOLLECT_EMBEDDING_MODEL: 'gpt' }, 'provider/model'],
    [{ MEMORY_RRF_K: 'sixty' }, 'whole number'],
    [{ MEMORY_RRF_K: '1001' }, 'from 0 to 1000'],
    [{ MEMORY_VEC_TOP_K: '0' }, 'MEMORY_VEC_TOP_K must be an integer from 1 to 1000; got 0.'],
    [{ RECOLLECT_REQUESTS_PER_MINUTE: '-1' }, 'RECOLLECT_REQUESTS_PER_MINUTE'],
    [{ RECOLLECT_TRUST_PROXY: 'maybe' }, 'RECOLLECT_TRUST_PROXY takes 1 or 0'],
    [{ RECOLLECT_LOG_LEVEL: 'loud' }, 'silent, error, warn, info, debug'],
    [{ RECOLLECT_TLS_CERT: 'a' }, 'RECOLLECT_TLS_CERT and RECOLLECT_TLS_KEY must be set together.'],
    [{ RECOLLECT_URL: 'x' }, 'RECOLLECT_URL must be the URL of a server'],
    [{ MEMORY_VEC_QUANTIZATION: 'int4' }, 'float32, int8'],
    [{ RECOLLECT_RERANK_URL: 'http://localhost:1' }, 'RECOLLECT_RERANK_MODEL'],
  ])('[CL2] %j is refused in words', (environment, words) => {
    expect(() => readConfig({}, environment, linux)).toThrow(words)
  })
})

/** Runs a command whose configuration throws. */
async function failing(error: unknown, ...flags: readonly string[]) {
  let err = ''
  const output = (write: (text: string) => void): Host['stderr'] => ({
    isTerminal: false,
    columns: 80,
    write: async (text) => write(text),
  })
  const host: Host = {
    version: '1.2.3',
    stdin: { isTerminal: true, async *bytes() {} },
    stdout: output(() => {}),
    stderr: output((text) => {
      err += text
    }),
    hasColor: false,
    stopSignal: new AbortController().signal,
    now: () => 0,
    program: ['/usr/bin/node', '/opt/recollect/cli-main.js'],
    confirm: async () => false,
    askSecret: async () => '',
    configure: () => {
      throw error
    },
    makeTemporaryFolder: temporaryFolder,
    runTool: async () => null,
    homes: { platform: 'linux', home: '/nowhere' },
  }
  return { exit: await runCommandLine(['list', ...flags], host), err }
}
