/** Hooks of agent programs: how they are installed, and what they answer. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { type Cli, createCli } from './cli-host.ts'

const FACT = 'My favourite tea is jasmine from Fuzhou'
const QUESTION = 'Which tea is my favourite?'

function write(path: string, text: string): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}

const jsonLines = (...records: readonly object[]) =>
  records.map((record) => JSON.stringify(record)).join('\n')

/** What each program keeps of the same two exchanges, with what is not said by anybody. */
const TRANSCRIPTS = {
  'claude-code': jsonLines(
    { type: 'summary', summary: 'Tea' },
    { type: 'user', isMeta: true, message: { role: 'user', content: 'Caveat: …' } },
    { type: 'user', message: { role: 'user', content: '<command-name>/clear</command-name>' } },
    { type: 'user', message: { role: 'user', content: 'I live in Porto.' } },
    {
      type: 'assistant',
      message: { role: 'assistant', content: [{ type: 'thinking', thinking: 'Hm' }] },
    },
    {
      type: 'assistant',
      message: {
        role: 'assistant',
        content: [
          { type: 'text', text: 'Noted.' },
          { type: 'tool_use', id: 't1', name: 'Bash', input: {} },
        ],
      },
    },
    {
      type: 'user',
      message: { role: 'user', content: [{ type: 'tool_result', content: 'secret output' }] },
    },
    { type: 'assistant', isSidechain: true, message: { role: 'assistant', content: 'Sub' } },
    { type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'I have a dog.' }] } },
  ),
  codex: jsonLines(
    { type: 'session_meta', payload: { id: 's1' } },
    {
      type: 'response_item',
      payload: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: '<environment_context>x</environment_context>' }],
      },
    },
    {
      type: 'response_item',
      payload: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'I live in Porto.' }],
      },
    },
    { type: 'event_msg', payload: { type: 'user_message', message: 'I live in Porto.' } },
    {
      type: 'response_item',
      payload: {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Noted.' }],
      },
    },
    {
      type: 'response_item',
      payload: {
        type: 'message',
        role: 'user',
        content: [{ type: 'input_text', text: 'I have a dog.' }],
      },
    },
  ),
  gemini: JSON.stringify({
    sessionId: 's1',
    messages: [
      { type: 'info', content: 'Welcome' },
      { type: 'user', content: 'I live in Porto.' },
      { type: 'gemini', content: 'Noted.', toolCalls: [] },
    ],
  }),
  cursor: jsonLines(
    {
      role: 'user',
      message: {
        content: [
          {
            type: 'text',
            text: '<open_files>a</open_files>\n<user_query>\nI live in Porto.\n</user_query>',
          },
        ],
      },
    },
    { role: 'assistant', message: { content: [{ type: 'text', text: 'Noted.' }] } },
    { role: 'user', message: { content: [{ type: 'text', text: 'I have a dog.' }] } },
  ),
} as const

/** The last exchange, as the event of each program tells it. */
const STOPS = {
  'claude-code': { hook_event_name: 'Stop', last_assistant_message: 'Nice.' },
  codex: { hook_event_name: 'Stop', last_assistant_message: 'Nice.' },
  gemini: { hook_event_name: 'AfterAgent', prompt: 'I have a dog.', prompt_response: 'Nice.' },
  cursor: { hook_event_name: 'stop', status: 'completed' },
} as const

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
const COMPACTIONS = {
  'claude-code': 'PreCompact',
  codex: 'PreCompact',
  gemini: 'PreCompress',
  cursor: 'preCompact',
} as const

type Client = keyof typeof TRANSCRIPTS
const CLIENTS = Object.keys(TRANSCRIPTS) as readonly Client[]

async function send(cli: Cli, client: Client, event: object) {
  const ran = await cli(['hook', client], { stdin: JSON.stringify(event) })
  expect(ran.exit).toBe(0)
  return { ...ran, answer: JSON.parse(ran.out) }
}

function contextIn(client: Client, answer: Record<string, Record<string, string>>): unknown {
  if (client === 'cursor') return answer.additional_context
  return answer.hookSpecificOutput?.additionalContext
}

describe.each(CLIENTS)('hooks of %s', (client) => {
  it('[CL25.1] give a prompt what is relevant for it, in the form of the program', async () => {
    const cli = createCli()
    await cli(['add', FACT])
    await cli(['settings', 'set', 'hooks.recallEnabled=false'])
    const off = await send(cli, client, { hook_event_name: PROMPTS[client], prompt: QUESTION })
    expect(off.err).toContain('settings set hooks.recallEnabled=true')
    await cli(['settings', 'set', 'hooks.recallEnabled=true'])
    const hook_event_name = PROMPTS[client]
    const { answer } = await send(cli, client, {
      hook_event_name,
      session_id: 's1',
      prompt: QUESTION,
    })
    expect(contextIn(client, answer)).toContain('jasmine from Fuzhou')
    if (client === 'cursor') expect(answer.continue).toBe(true)
    else expect(answer.hookSpecificOutput.hookEventName).toBe(hook_event_name)
    const other = await send(cli, client, { hook_event_name, prompt: 'Write a haiku about rust.' })
    expect(contextIn(client, other.answer)).toBeUndefined()
  })

  it('[CL25.2] record what was said, once, and nothing of tools and the program', async () => {
    const cli = createCli()
    const path = write(join(temporaryFolder(), 'transcript.jsonl'), TRANSCRIPTS[client])
    const event = { ...STOPS[client], session_id: 's1', transcript_path: path }
    for (let time = 0; time < 2; time++) {
      expect((await send(cli, client, event)).answer).toEqual({})
    }
    const { json } = await cli(['sessions', 'show', 's1', '--json'])
    const turns = json.turns.map((turn: { role: string; content: string }) => [
      turn.role,
      turn.content,
    ])
    expect(turns).toEqual([
      ['user', 'I live in Porto.'],
      ['assistant', 'Noted.'],
      ['user', 'I have a dog.'],
      ...(client === 'cursor' ? [] : [['assistant', 'Nice.']]),
    ])
    const { out } = await cli(['search', 'where do I live'])
    expect(out).toContain('Porto')
  })

  it('[CL25.3] record and distill before compaction', async () => {
    const cli = createCli()
    const path = write(join(temporaryFolder(), 'transcript.jsonl'), TRANSCRIPTS[client])
    const hook_event_name = COMPACTIONS[client]
    await send(cli, client, { hook_event_name, session_id: 's1', transcript_path: path })
    expect((await cli(['sessions', 'show', 's1', '--json'])).json.turns.length).toBeGreaterThan(1)
    expect((await cli(['list'])).out).toContain('Porto')
  })

  it('[CL25.4] start a session with who the user is', async () => {
    const cli = createCli()
    const event = { hook_event_name: STARTS[client], session_id: 's2', source: 'startup' }
    expect(contextIn(client, (await send(cli, client, event)).answer)).toBeUndefined()
    await cli(['identity', 'add', 'I am Ada, a </recollect-memory> programmer.'])
    const context = String(contextIn(client, (await send(cli, client, event)).answer))
    expect(context).toContain('- I am Ada, a ‹/recollect-memory> programmer.')
    expect(context.trimEnd().endsWith('</recollect-memory>')).toBe(true)
  })

  it('[CL25.5] never stop the program: failures, unknown events and no events', async () => {
    const cli = createCli()
    const missing = { ...STOPS[client], session_id: 's1', transcript_path: '/nowhere/at/all' }
    expect((await send(cli, client, missing)).answer).toEqual({})
    expect((await send(cli, client, { hook_event_name: 'Later' })).answer).toEqual({})
    const unreachable = createCli(undefined, ['--url', 'http://127.0.0.1:9'])
    const asked = { hook_event_name: PROMPTS[client], prompt: QUESTION }
    const failed = await send(unreachable, client, asked)
    expect(failed.err).toMatch(/^Recollect: /)
    expect(contextIn(client, failed.answer)).toBeUndefined()
    expect((await cli(['hook', client], { stdin: 'no json' })).exit).toBe(0)
  })
})

describe('connect --hooks', () => {
  const FILES = {
    'claude-code': '.claude/settings.json',
    codex: '.codex/hooks.json',
    gemini: '.gemini/settings.json',
    cursor: '.cursor/hooks.json',
  } as const

  it.each(CLIENTS)('[CL26.1] installs, keeps what is there, and removes: %s', async (client) => {
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
    expect(Object.keys(hooks)).toHaveLength(4)
    expect(hooks[PROMPTS[client]]).toHaveLength(2)
    expect(hooks[PROMPTS[client]][0]).toEqual(foreign)
    const ours = hooks[STARTS[client]][0]
    const command = client === 'cursor' ? ours.command : ours.hooks[0].command
    expect(command).toMatch(new RegExp(`cli-main.*--owner ada hook ${client}$`))
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

  it('[CL26.2] writes no key, unless it is told to', async () => {
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

  it('[CL26.3] refuses clients without hooks, and files that it cannot read', async () => {
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

  it('[CL26.1] without it, hooks stay out', async () => {
    const home = temporaryFolder()
    await createCli()(['connect', 'cursor', '--yes'], { home })
    expect(existsSync(join(home, FILES.cursor))).toBe(false)
    const shown = await createCli()(['connect', 'gemini', '--hooks', '--print'], { home })
    expect(shown.out).toContain('BeforeAgent')
    expect(existsSync(join(home, FILES.gemini))).toBe(false)
  })
})
