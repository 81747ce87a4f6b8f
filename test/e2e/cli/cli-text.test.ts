/** Text in and out: from arguments and standard input, through export and import, always the same text. */
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { added, type Cli, createCli } from './cli-host.ts'
import { startServer } from './cli-server.ts'

const NAUGHTY = new URL(
  '../../../../shared/evals/adversarial/naughty-strings.json',
  import.meta.url,
)

const ODD_TEXTS = [
  '-5 degrees',
  '--json',
  '--',
  '-',
  'line\nbreaks\r\nof\ttwo kinds\n\n',
  ' spaces around ',
  '\u2028 separators \u2029 that look like line ends \u0085',
  '\ufeffa mark of byte order',
  'a NUL \0 inside',
  '\u001b[31mred\u001b[0m \u202ebackwards',
  '日本語 🏳️‍🌈 e\u0301',
  `quotes ' " \` $HOME $(ls) \\`,
  '{"json": true}',
]

describe('text', () => {
  it.each(ODD_TEXTS)(
    '[CL4] %j comes back unchanged from an argument and from a pipe',
    async (text) => {
      const cli = createCli()
      const { json } = await cli(['add', '--json', '--', text])
      expect((await cli(['get', json.memory.id, '--json'])).json.memory.content).toBe(text)
      expect((await cli(['get', json.memory.id])).out.startsWith(`${text}\n\n  id`)).toBe(true)
      const other = createCli()
      const piped = await other(['add', '--json'], { stdin: `${text}\n` })
      expect(piped.json.memory.content).toBe(text)
    },
  )

  it('[CL4] several words are joined, - is standard input, one line end is dropped', async () => {
    const cli = createCli()
    expect((await added(cli, 'two', 'words')).content).toBe('two words')
    let keys = 0
    const from = async (stdin: string | Uint8Array) =>
      (await cli(['add', '-', '--json', '--key', `k${keys++}`], { stdin })).json
    expect((await from('piped\r\n')).memory.content).toBe('piped')
    expect((await from('piped\n\n')).memory.content).toBe('piped\n')
    expect((await from('piped')).memory.content).toBe('piped')
    expect((await from(Uint8Array.of(0x61, 0xff))).error.message).toBe(
      'Standard input is not UTF-8 text.',
    )
    expect((await from('')).error.code).toBe('invalid_input')
  })
})

describe('--json', () => {
  it('[CL3] every command prints exactly one JSON value', async () => {
    const cli = createCli()
    const { id, change } = await added(cli, 'I like tea')
    const file = temporaryFile('export.jsonl')
    const commandLines = [
      ['add', 'I live in Lisbon'],
      ['learn', 'I love old maps'],
      ['list'],
      ['get', id],
      ['search', 'tea'],
      ['history', id],
      ['edit', id, '--pin'],
      ['disable', id],
      ['restore', id],
      ['forget', id],
      ['restore', id],
      ['undo', change],
      ['export', file],
      ['import', file],
      ['backup', temporaryFile('backup.db')],
      ['status'],
      ['settings'],
      ['doctor'],
      ['decrypt'],
      ['erase', id, '--yes'],
      ['help'],
      ['--version'],
    ]
    for (const argv of commandLines) {
      for (const columns of [undefined, 80]) {
        const around = columns === undefined ? {} : { columns }
        if (
          columns !== undefined &&
          ['export', 'backup', 'forget', 'erase'].includes(argv[0] ?? '')
        )
          continue
        const { exit, out } = await cli([...argv, '--json'], around)
        expect({ argv, exit }).toEqual({ argv, exit: 0 })
        expect(typeof JSON.parse(out)).toBe('object')
        if (columns === undefined) expect(out.match(/\n/g)).toHaveLength(1)
      }
    }
  })

  it('[CL3] times are ISO text, and null when there is none', async () => {
    const memory = await added(createCli(), '--expires', '2999-01-01T00:00:00Z', 'I like tea')
    expect(memory).toMatchObject({ expiresAt: '2999-01-01T00:00:00.000Z', validFrom: null })
    expect(new Date(memory.createdAt).toISOString()).toBe(memory.createdAt)
  })
})

describe('export and import', () => {
  it('[CL6] an export taken in elsewhere is exported equal', async () => {
    const cli = createCli()
    for (const text of ODD_TEXTS) await cli(['add', '--owner', 'ada', '--', text])
    const { id } = await added(
      cli,
      '--owner',
      'ada',
      '--user',
      'bob',
      '--metadata',
      '{"a":1}',
      'tea',
    )
    await cli(['edit', id, '--owner', 'ada', '--content', 'coffee'])
    await cli(['forget', id, '--owner', 'ada'])
    await added(cli, '--owner', 'eve', 'something else')
    await expectSameElsewhere(cli)
  })

  it.skipIf(!existsSync(NAUGHTY))(
    '[CL6] strings that break other programs survive add, export, import and get',
    async () => {
      // Every fourth: the stores are shown all of them.
      const all: readonly string[] = JSON.parse(readFileSync(NAUGHTY, 'utf8'))
      const strings = all.filter((_, index) => index % 4 === 0)
      const cli = createCli()
      const contents = new Map<string, string>()
      for (const [index, text] of strings.entries()) {
        const { exit, json } = await cli(['add', '--json', '--key', `n${index}`, '--', text])
        expect({ text, exit }).toEqual({ text, exit: text.trim() === '' ? 2 : 0 })
        if (exit === 0) contents.set(json.memory.id, text)
      }
      const other = await expectSameElsewhere(cli)
      let after: readonly string[] = []
      do {
        const { data, next } = (await other(['list', '--limit', '200', '--json', ...after])).json
        for (const { id, content } of data) {
          expect(content).toBe(contents.get(id))
          contents.delete(id)
        }
        after = next === null ? [] : ['--after', next]
      } while (after.length > 0)
      expect(contents.size).toBe(0)
    },
  )

  it('[CL6] reports malformed lines by number and imports the others', async () => {
    const cli = createCli()
    await added(cli, 'one apple')
    await added(cli, 'two pears')
    const lines = (await cli(['export'])).out.trimEnd().split('\n')
    lines.splice(2, 0, '{"table":"memory","row":{', '{"table":"spoon"}', '')
    const other = createCli()
    const ran = await other(['import', '-'], { stdin: lines.join('\n') })
    expect(ran).toMatchObject({ exit: 2, err: '' })
    expect(ran.out).toMatch(
      /^Imported 2, updated 0, skipped 0 already there, failed 2\.\n {2}line 3: .*\n {2}line 4: /,
    )
    const again = await other(['import', '-', '--json'], { stdin: lines.join('\n') })
    expect(again.json).toMatchObject({ imported: 0, skipped: 2, failed: 2 })
    expect(await other(['import', '-'], { stdin: 'no export\n' })).toMatchObject({ exit: 2 })
    expect(await other(['import', '-'], { stdin: '' })).toMatchObject({ exit: 2 })
  })

  it.each(['--owner', '--into-owner'])(
    '[CL6] %s moves everything to another owner',
    async (flag) => {
      const cli = createCli()
      await added(cli, 'one apple')
      const { out } = await cli(['export'])
      const other = createCli()
      await other(['import', '-', flag, 'eve'], { stdin: out })
      expect((await other(['list', '--owner', 'eve'])).out).toContain('one apple')
      expect((await other(['list'])).out).toMatch(/^No memories/)
    },
  )

  it('[CL6] a file is written whole or not at all, and never over another one unasked', async () => {
    const cli = createCli()
    await added(cli, 'one apple')
    const file = temporaryFile('export.jsonl')
    expect((await cli(['export', file])).out).toBe(`Wrote 1 row to ${file}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await cli(['export', file])).toMatchObject({ exit: 5 })
    writeFileSync(file, 'old')
    const stopped = await cli(['export', file, '--force'], { stop: AbortSignal.abort() })
    expect(stopped).toMatchObject({ exit: 130, err: 'recollect: Stopped; nothing was written.\n' })
    expect(readFileSync(file, 'utf8')).toBe('old')
    expect(readdirSync(dirname(file))).toEqual(['export.jsonl'])
    expect((await cli(['export', file, '--force'])).exit).toBe(0)
    expect(await cli(['import', file], { stop: AbortSignal.abort() })).toMatchObject({ exit: 130 })
  })

  it('[CL6] an export is encrypted with a passphrase and opened only with it', async () => {
    const cli = createCli()
    await added(cli, 'one apple')
    const [file, secret, wrong] = ['export.enc', 'secret', 'wrong'].map(temporaryFile)
    writeFileSync(secret ?? '', 'correct horse battery\n')
    writeFileSync(wrong ?? '', 'another')
    const wrote = await cli(['export', file ?? '', '--passphrase-file', secret ?? ''])
    expect(wrote.out).toBe(`Wrote 1 row to ${file}\n`)
    expect(readFileSync(file ?? '', 'utf8')).not.toContain('apple')
    const other = createCli()
    const from = (...argv: readonly string[]) =>
      other(['import', file ?? '', ...argv], { stdin: '' })
    expect(await from()).toMatchObject({ exit: 7, out: '' })
    expect(await from('--passphrase-file', wrong ?? '')).toMatchObject({ exit: 7, out: '' })
    expect((await from('--passphrase-file', secret ?? '')).out).toMatch(/^Imported 1,/)
    const response = await other(['import', file ?? ''], {
      columns: 80,
      answers: ['correct horse battery'],
    })
    expect(response).toMatchObject({ exit: 0, asked: ['Passphrase of the export: '] })
  })

  it('[CL6] what another system keeps is taken in, for the owner that is named', async () => {
    const cli = createCli()
    const file = temporaryFile('notes.md')
    writeFileSync(file, '# Food\n\n- I like tea\n- No walnuts for me\n')
    expect((await cli(['import', file, '--into-owner', 'ada'])).out).toMatch(/^Imported 2,/)
    expect((await cli(['list', '--owner', 'ada'])).out).toContain('No walnuts for me')
    expect((await cli(['audit', '--owner', 'ada', '--json'])).json.entries).toMatchObject([
      { operation: 'memory.importSource' },
    ])
    const remote = await (await startServer()).cli('user', 'bob')
    expect((await remote(['import', file])).out).toMatch(/^Imported 2,/)
    expect((await remote(['import', file])).out).toMatch(/^Imported 0, updated 0, skipped 2/)
    expect((await remote(['list'])).out).toContain('No walnuts for me')
    expect((await cli(['import', file, '--from', 'markdwn'])).err).toContain(
      'Did you mean markdown?',
    )
  })

  it('[CL6] progress is shown on a terminal and wiped away', async () => {
    const cli = createCli()
    await added(cli, 'one apple')
    const file = join(cli.folder, 'export.jsonl')
    const { out, err } = await cli(['export', file], { columns: 80 })
    expect(out).toBe(`Wrote 1 row to ${file}\n`)
    expect(err).toMatch(/^\r\u001b\[KExporting: .*\r\u001b\[K$/)
    expect((await cli(['import', file], { columns: 80 })).err).toMatch(/Importing: 1 line \(100%\)/)
  })
})

async function expectSameElsewhere(cli: Cli): Promise<Cli> {
  const file = temporaryFile('export.jsonl')
  await cli(['export', '--all-owners', file])
  const other = createCli()
  expect(await other(['import', file])).toMatchObject({ exit: 0 })
  expect(rows((await other(['export', '--all-owners'])).out)).toEqual(
    rows(readFileSync(file, 'utf8')),
  )
  return other
}

/** Everything below the header, which holds the time of the export. */
function rows(text: string): readonly unknown[] {
  return text
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => JSON.parse(line))
}
