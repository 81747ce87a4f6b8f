/** Hooks of agent programs, as `connect` installs them. What they answer is tested with the command. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { createCli } from './cli-host.ts'

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const PROMPTS = {
  'claude-code': 'UserPromptSubmit',
  codex: 'UserPromptSubmit',
  gemini: 'BeforeAgent',
  cursor: 'beforeSubmitPrompt',
} as const
const STARTS = {
  'claude-code': 'SessionStart',
  codex: 'SessionStart',
  gemini: 'SessionStart',
  cursor: 'sessionStart',
} as const

type Client = keyof typeof PROMPTS
const CLIENTS = Object.keys(PROMPTS) as readonly Client[]

describe('connect --hooks', () => {
  const FILES = {
    'claude-code': '.claude/settings.json',
    codex: '.codex/hooks.json',
    gemini: '.gemini/settings.json',
    cursor: '.cursor/hooks.json',
  } as const

  it.each(CLIENTS)('[CL27.1] installs, keeps what is there, and removes: %s', async (client) => {
    const home = temporaryFolder()
    const path = join(home, FILES[client])
    const foreign =
      client === 'cursor'
        ? { command: 'mine.sh' }
        : { hooks: [{ type: 'command', command: 'mine.sh' }] }
    const before = `{\n  // Kept.\n  "theme": "dark",\n  "hooks": { "${PROMPTS[client]}": [${JSON.stringify(foreign)}] }\n}\n`
    write(path, before)
    const cli = createCli()
    const argv = ['connect', client, '--hooks', '--yes', '--owner', 'ada']
    expect((await cli(argv, { home })).exit).toBe(0)
    const installed = readFileSync(path, 'utf8')
    expect(installed).toContain('// Kept.')
    const { hooks } = JSON.parse(installed.replace('// Kept.', ''))
    expect(Object.keys(hooks)).toHaveLength(client === 'codex' ? 4 : 5)
    expect(hooks[PROMPTS[client]]).toHaveLength(2)
    expect(hooks[PROMPTS[client]][0]).toEqual(foreign)
    const ours = hooks[STARTS[client]][0]
    const command = client === 'cursor' ? ours.command : ours.hooks[0].command
    expect(command).toMatch(/cli-main.* --owner ada hook$/)
    // What stands there answers the event that it stands at.
    await cli(['add', 'My favourite tea is jasmine', '--owner', 'ada'])
    const event = {
      hook_event_name: PROMPTS[client],
      session_id: 's1',
      prompt: 'Which tea is my favourite?',
    }
    const words = command.slice(command.indexOf('--owner')).split(' ')
    const { out } = await cli(words, { stdin: JSON.stringify(event) })
    expect(out).toContain('My favourite tea is jasmine')
    // Again, and with other options: nothing twice.
    expect((await cli(argv, { home })).out).toContain('is connected already')
    await cli(['connect', client, '--hooks', '--yes', '--owner', 'bob'], { home })
    const changed = readFileSync(path, 'utf8')
    expect(changed).not.toContain('--owner ada hook')
    expect(JSON.parse(changed.replace('// Kept.', '')).hooks[STARTS[client]]).toHaveLength(1)
    await cli(['connect', client, '--remove', '--yes'], { home })
    const left = JSON.parse(readFileSync(path, 'utf8').replace('// Kept.', ''))
    expect(left.hooks).toEqual({ [PROMPTS[client]]: [foreign] })
    expect(left.theme).toBe('dark')
  })

  it('[CL27.2] writes no key, unless it is told to', async () => {
    const home = temporaryFolder()
    const remote = ['--url', 'http://127.0.0.1:20128', '--key', 'rc_agent_secret']
    const cli = createCli()
    await cli(['connect', 'codex', '--hooks', '--yes', ...remote], { home })
    const path = join(home, FILES.codex)
    expect(readFileSync(path, 'utf8')).toContain('--url http://127.0.0.1:20128')
    expect(readFileSync(path, 'utf8')).not.toContain('rc_agent_secret')
    await cli(['connect', 'codex', '--hooks', '--plain-key', '--yes', ...remote], { home })
    expect(readFileSync(path, 'utf8')).toContain('rc_agent_secret')
  })

  it('[CL27.3] refuses clients without hooks, and files that it cannot read', async () => {
    const home = temporaryFolder()
    const cli = createCli()
    const refused = await cli(['connect', 'zed', '--hooks', '--yes'], { home })
    expect(refused.exit).toBe(2)
    expect(refused.err).toContain('claude-code, codex, gemini, cursor')
    const path = write(join(home, FILES['claude-code']), '{ "hooks": { "Stop": {} } }')
    expect((await cli(['connect', 'claude-code', '--hooks', '--yes'], { home })).exit).toBe(2)
    expect(readFileSync(path, 'utf8')).toBe('{ "hooks": { "Stop": {} } }')
    expect(existsSync(join(home, '.claude.json'))).toBe(false)
  })

  it('[CL27.1] without it, hooks stay out', async () => {
    const home = temporaryFolder()
    await createCli()(['connect', 'cursor', '--yes'], { home })
    expect(existsSync(join(home, FILES.cursor))).toBe(false)
    const shown = await createCli()(['connect', 'gemini', '--hooks', '--print'], { home })
    expect(shown.out).toContain('BeforeAgent')
    expect(existsSync(join(home, FILES.gemini))).toBe(false)
  })
})
