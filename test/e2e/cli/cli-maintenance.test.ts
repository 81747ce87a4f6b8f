import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { COMMANDS } from '../../../src/api/cli/commands/index.ts'
import { renderMarkdownReference } from '../../../src/api/cli/output/help-text.ts'
import { ENVIRONMENT } from '../../../src/app/config/config.ts'
import { ERRORS } from '../../../src/lib/errors.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { added, createCli } from './cli-host.ts'

describe('upkeep', () => {
  it('[CL1] status, settings and doctor report without creating a database', async () => {
    const cli = createCli()
    expect((await cli(['status'])).out).toContain('not there yet')
    expect((await cli(['doctor'])).exit).toBe(0)
    expect((await cli(['list'])).out).toMatch(/^No memories here yet/)
    expect(existsSync(cli.folder)).toBe(false)
    await added(cli, '--owner', 'ada', '--user', 'bob', 'I like tea')
    expect(statSync(cli.folder).mode & 0o777).toBe(0o700)
    const { out } = await cli(['status'])
    expect(out).toMatch(/encrypted +no\n[\s\S]*schema +version \d+[\s\S]*ada \/ bob: 1 memory/)
    expect((await cli(['status', '--json'])).json).toMatchObject({
      state: 'ok',
      store: { memories: 1 },
      database: { state: 'plain', key: null },
    })
    expect((await cli(['settings'])).out).toMatch(/retention\.trashDays +30 +default +0 to 3650/)
    expect(await cli(['doctor'])).toMatchObject({ exit: 0, out: 'No problems found.\n' })
  })

  it('[CL1] doctor reports a damaged file with exit code 8 and salvages it', async () => {
    const cli = createCli()
    for (let number = 0; number < 40; number++)
      await added(cli, `note ${number} ${'x'.repeat(900)}`)
    const file = join(cli.folder, 'recollect.db')
    const bytes = readFileSync(file)
    bytes.fill(0x55, 0, 100)
    writeFileSync(file, bytes)
    expect(await cli(['doctor'])).toMatchObject({ exit: 8, out: '' })
    const saved = await cli(['doctor', '--salvage'])
    expect(saved).toMatchObject({ exit: 0, err: '' })
    expect(saved.out).toMatch(
      /Recovered:\n {2}40 memories\n[\s\S]*damaged database is kept in .*quarantine/,
    )
    expect((await cli(['list', '--json'])).json.data).toHaveLength(40)
  })

  it('[CL1] status shows where an encrypted database is, and how to pass its key', async () => {
    const cli = createCli()
    mkdirSync(cli.folder)
    const start = Buffer.alloc(4096, 7)
    // A page size and the sign of our form of encryption, see the format of SQLite's first page.
    Buffer.from([0x10, 0x00, 2, 2, 64, 64, 32, 32]).copy(start, 16)
    writeFileSync(join(cli.folder, 'recollect.db'), start)
    const { exit, out, err } = await cli(['status'])
    expect({ exit, err }).toEqual({ exit: 7, err: '' })
    expect(out).toMatch(/database +.*recollect\.db\n +encrypted +yes\n +state +locked\n/)
    expect(out).toContain('--encryption-key-file')
    expect((await cli(['status', '--json'])).json).toMatchObject({
      state: 'unavailable',
      database: { state: 'encrypted', key: null },
    })
  })

  it('[CL1] doctor says how many memories lack a vector, and what changes that', async () => {
    const cli = createCli()
    await added(cli, 'I like tea')
    const { exit, out } = await cli(['doctor'], {
      environment: { RECOLLECT_EMBEDDING_SOURCE: 'static' },
    })
    expect(exit).toBe(0)
    expect(out).toMatch(
      /^No problems found\.\n1 memory or turn is not embedded yet .*`recollect reindex`/,
    )
  })

  it('[CL1] backup makes a copy that works, and never over another file', async () => {
    const cli = createCli()
    const { id } = await added(cli, 'I like tea')
    const copy = createCli()
    expect(await cli(['backup', join(copy.folder, 'recollect.db')])).toMatchObject({ exit: 4 })
    await added(copy, 'something')
    const file = temporaryFile('recollect.db')
    expect((await cli(['backup', file])).out).toBe(`Backed up the database to ${file}.\n`)
    expect(await cli(['backup', file])).toMatchObject({ exit: 5 })
    expect((await cli(['get', id, '--data', join(file, '..')])).out).toContain('I like tea')
    expect(await createCli()(['backup', temporaryFile('x')])).toMatchObject({ exit: 4 })
  })

  it('[CL1] serve prints its address, stops on a signal, and closes', async () => {
    const cli = createCli()
    const stop = new AbortController()
    const events: unknown[] = []
    const serve = async ({ host, port }: { host: string; port: number }) => {
      events.push([host, port])
      setTimeout(() => stop.abort(), 5)
      return { url: 'http://here', close: async () => void events.push('closed') }
    }
    const ran = await cli(['serve'], { stop: stop.signal, serve })
    expect(ran).toMatchObject({ exit: 0, err: 'Stopping…\n' })
    expect(ran.out).toContain('http://here')
    expect(events).toEqual([['127.0.0.1', 20_128], 'closed'])
    const environment = { RECOLLECT_HOST: '0.0.0.0', RECOLLECT_PORT: '99' }
    const again = await cli(['serve', '--json', '--port', '8080'], {
      stop: stop.signal,
      serve,
      environment,
    })
    expect(again.json).toEqual({ url: 'http://here' })
    expect(events.at(-2)).toEqual(['0.0.0.0', 8080])
  })
})

describe('help and documents', () => {
  it('[CL1] help explains every command', async () => {
    const cli = createCli()
    const { out } = await cli([])
    for (const { name, summary } of COMMANDS) {
      expect(out).toContain(summary)
      const help = await cli(['help', name])
      expect(help.out).toMatch(new RegExp(`^Usage: recollect ${name}`))
      expect((await cli([name, '--help'])).out).toBe(help.out)
    }
    expect((await cli(['--version'])).out).toBe('recollect 1.2.3\n')
    expect((await cli(['help', '--json'])).json.commands).toHaveLength(COMMANDS.length)
  })

  it('[CL1] docs/reference/cli.md holds the reference as the table makes it (run vitest with -u to renew it)', async () => {
    const path = new URL('../../../docs/reference/cli.md', import.meta.url).pathname
    const parts: Readonly<Record<string, string>> = {
      commands: renderMarkdownReference(COMMANDS),
      environment: markdownTable(['Variable', ''], Object.entries(ENVIRONMENT)),
      'exit codes': markdownTable(
        ['Exit code', 'Error', ''],
        Object.entries(ERRORS).map(([code, { exit, help }]) => [String(exit), code, help]),
      ),
    }
    const written = readFileSync(path, 'utf8')
    const renewed = written.replace(
      /<!-- generated: ([a-z ]+) -->\n[\s\S]*?<!-- end -->/g,
      (_, name: string) => `<!-- generated: ${name} -->\n\n${parts[name]}\n\n<!-- end -->`,
    )
    expect(written.match(/<!-- generated: /g)).toHaveLength(Object.keys(parts).length)
    await expect(renewed).toMatchFileSnapshot(path)
  })
})

function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column < cells.length - 1 ? `\`${cell}\`` : cell)).join(' | ')} |`
  return [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join(
    '\n',
  )
}
