/** Documents that are made from tables, and examples that must run. Run vitest with -u to renew the tables. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ENVIRONMENT } from '../src/app/config/config.ts'
import { CONTEXT_SKIP_REASONS } from '../src/conversations/conversations.ts'
import {
  describeSettingRange,
  listSettingNames,
  SETTINGS,
  type SettingDeclaration,
} from '../src/domain/settings/settings.ts'
import { FILE_SETTINGS } from '../src/domain/settings/settings-table.ts'
import { ERRORS } from '../src/lib/errors.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

const LIFE_SETTINGS = [
  'gateway.enabled',
  'gateway.contextEnabled',
  'gateway.contextTimeoutMs',
  'learning.enabled',
  'learning.toolResultsEnabled',
  'learning.extractionMode',
  'learning.debounceSeconds',
  'learning.extractionModel',
  'gateway.gateModel',
  'learning.modelTokensPerDay',
  'gateway.gateMode',
  'gateway.contextTokensMax',
  'hooks.recallEnabled',
  'hooks.captureEnabled',
  'hooks.captureCharactersMax',
  'learning.consolidationIntervalHours',
  'retention.minSalience',
  'retention.episodeDays',
  'retention.turnDays',
  'retention.unusedDays',
  'retention.trashDays',
  'memory.reinforcementRate',
  'memory.similarMemoriesMax',
] as const

const readme = readFileSync('README.md', 'utf8')
const isBuilt = existsSync('dist/index.js')

it('[SE1] docs/reference/settings.md lists every setting', async () => {
  const rows = listSettingNames().map((name) => {
    const { default: value, scope, help, appliesAt }: SettingDeclaration = SETTINGS[name]
    const shown = value === '' ? 'none' : value
    const when = appliesAt === 'start' ? ' Read at the start.' : ''
    return `| \`${name}\` | ${shown} | ${describeSettingRange(name)} | ${scope} | ${help}${when} |`
  })
  await expect(
    withTable('docs/reference/settings.md', 'setting default range scope help', rows),
  ).toMatchFileSnapshot('../docs/reference/settings.md')
})

it('[SE1] docs/guides/memory-lifecycle.md lists the settings of the memory lifecycle', async () => {
  const rows = LIFE_SETTINGS.map((name) => {
    const { default: value, help }: SettingDeclaration = SETTINGS[name]
    return `| \`${name}\` | ${value === '' ? 'none' : value} | ${describeSettingRange(name)} | ${help} |`
  })
  await expect(
    withTable('docs/guides/memory-lifecycle.md', 'setting default range help', rows),
  ).toMatchFileSnapshot('../docs/guides/memory-lifecycle.md')
})

it('[SE1] docs/guides/files.md lists the settings of files', async () => {
  const names = Object.keys(FILE_SETTINGS) as (keyof typeof FILE_SETTINGS)[] // its own keys
  const rows = names.map((name) => {
    const { default: value, help }: SettingDeclaration = SETTINGS[name]
    return `| \`${name}\` | ${value} | ${describeSettingRange(name)} | ${help} |`
  })
  await expect(
    withTable('docs/guides/files.md', 'setting default range help', rows),
  ).toMatchFileSnapshot('../docs/guides/files.md')
})

it('[SE1] docs/reference/environment.md lists every environment variable', async () => {
  const rows = Object.entries(ENVIRONMENT).map(([name, help]) => `| \`${name}\` | ${help} |`)
  await expect(
    withTable('docs/reference/environment.md', 'variable help', rows),
  ).toMatchFileSnapshot('../docs/reference/environment.md')
})

it('[CL2] docs/reference/errors.md lists every error', async () => {
  const rows = Object.entries(ERRORS).map(
    ([code, { status, exit, retryable, help }]) =>
      `| \`${code}\` | ${status} | ${exit} | ${retryable ? 'yes' : 'no'} | ${help} |`,
  )
  await expect(
    withTable('docs/reference/errors.md', 'code status exit retryable meaning', rows),
  ).toMatchFileSnapshot('../docs/reference/errors.md')
})

it('[GW4] docs/guides/gateway.md lists every reason for skipping memory', async () => {
  const rows = Object.entries(CONTEXT_SKIP_REASONS).map(
    ([reason, help]) => `| \`${reason}\` | ${help} |`,
  )
  await expect(withTable('docs/guides/gateway.md', 'reason meaning', rows)).toMatchFileSnapshot(
    '../docs/guides/gateway.md',
  )
})

describe.skipIf(!isBuilt)('the README (skipped when dist is not built)', () => {
  it('[AR7] its library example prints what it says', () => {
    const [example = ''] = codeBlocks('js')
    const folder = temporaryFolder()
    const program = example.replace("'recollect'", JSON.stringify(resolve('dist/index.js')))
    writeFileSync(join(folder, 'example.mjs'), program)
    const printed = execFileSync(process.execPath, ['example.mjs'], {
      cwd: folder,
      encoding: 'utf8',
    })
    const promised = [...example.matchAll(/console\.log\(.*\) \/\/ (.*)/g)].map((match) => match[1])
    expect(promised.length).toBeGreaterThan(0)
    expect(printed.trim().split('\n')).toEqual(promised)
  })

  it('[AR7] its commands work as they stand', () => {
    const folder = temporaryFolder()
    const commands = [...readme.matchAll(/^(?:\$ )?npx recollect (.*)$/gm)].map((match) => match[1])
    expect(commands.length).toBeGreaterThan(5)
    for (const command of commands) {
      const script = `node ${resolve('dist/app/cli-main.js')} ${command}`
      execFileSync('sh', ['-c', script], {
        cwd: folder,
        env: { ...process.env, RECOLLECT_DATA: folder },
      })
    }
  })
})

/** The file as it should be: the table with these columns as it follows from the code, all around it as it is. */
function withTable(path: string, columns: string, rows: readonly string[]): string {
  const header = columns.split(' ')
  const head = [`| ${header.join(' | ')} |`, `|${header.map(() => '---').join('|')}|`].join('\n')
  const text = readFileSync(path, 'utf8')
  const begin = text.indexOf(head)
  if (begin < 0) throw new Error(`${path} has no table with the columns ${columns}.`)
  const rest = text.slice(begin + head.length).replace(/^(?:\n\|.*)*/, '')
  return [text.slice(0, begin), head, ...rows.map((row) => `\n${row}`), rest].join('')
}

function codeBlocks(language: string): readonly string[] {
  return [...readme.matchAll(new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``, 'g'))].map(
    (match) => match[1] ?? '',
  )
}
