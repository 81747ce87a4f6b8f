/** Learning before a conversation is compacted: in the gateway, and by the hooks of agent programs. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createInMemoryStore } from '../../src/storage/in-memory/in-memory-store.ts'
import { answerOf, openConversations } from '../conversations/conversations-support.ts'
import { createCli } from '../e2e/cli/cli-host.ts'
import { startServer } from '../e2e/cli/cli-server.ts'
import { folderWith } from '../files/file-support.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const FIRST = ['I live in Lisbon and I work as a gardener.']

async function openGateway(reserveTokens?: number) {
  const { engine, client, clock } = await openConversations(async () => createInMemoryStore(), {
    settings:
      reserveTokens === undefined ? {} : { 'learning.compactionReserveTokens': reserveTokens },
  })
  const ask = (
    said: readonly string[],
    usedTokens: number,
    contextWindow: number | null = 100_000,
  ) =>
    client.ask(
      said,
      answerOf('Noted.', { usage: { input: usedTokens, output: 0, cached: null } }),
      {
        contextWindow,
      },
    )
  const isDue = async () => {
    const [job] = (await engine.jobs.list({ kind: 'distill' })).rows
    return job === undefined ? null : (job.dueAt ?? 0) <= clock.now()
  }
  return { engine, ask, isDue, clock }
}

describe('the gateway', () => {
  it('[LI15.1] OpenClaw: a conversation is distilled before its client compacts it', async () => {
    const { ask, isDue } = await openGateway()
    await ask(FIRST, 75_999)
    expect(await isDue()).toBe(false)
    await ask([...FIRST, 'Noted.', 'I also keep bees on the roof.'], 76_000)
    expect(await isDue()).toBe(true)
  })

  it('[LI15.1] a reserve of 0, or an unknown window, waits for the end of the conversation', async () => {
    const off = await openGateway(0)
    await off.ask(FIRST, 99_999)
    expect(await off.isDue()).toBe(false)
    const unknown = await openGateway()
    await unknown.ask(FIRST, 99_999, null)
    expect(await unknown.isDue()).toBe(false)
  })

  it('[LI15.1] at most half of a small window is reserved', async () => {
    const { ask, isDue } = await openGateway()
    await ask(FIRST, 3_000, 8_192)
    expect(await isDue()).toBe(false)
    await ask([...FIRST, 'Noted.', 'I also keep bees on the roof.'], 4_096, 8_192)
    expect(await isDue()).toBe(true)
  })

  it('[LI15.2] a conversation is distilled once until it was compacted', async () => {
    const { ask, isDue, engine } = await openGateway()
    const said = [...FIRST]
    const next = async (text: string, usedTokens: number) => {
      said.push('Noted.', text)
      await ask(said, usedTokens)
    }
    await ask(said, 80_000)
    expect(await isDue()).toBe(true)
    await engine.jobs.runDue()
    await next('I also keep bees on the roof.', 81_000)
    expect(await isDue()).toBe(false)
    await next('Their honey is dark and sweet.', 10_000)
    expect(await isDue()).toBe(false)
    await next('I sell it on the market each Friday.', 80_000)
    expect(await isDue()).toBe(true)
  })
})

const line = (value: object) => JSON.stringify(value)
const said = 'Remember that I am allergic to nuts. <system-reminder>be brief</system-reminder>'

/** What each program passes to its hooks, and the transcript that it writes. */
const PROGRAMS = {
  'Claude Code': {
    transcript: [
      line({ type: 'summary', summary: 'x' }),
      line({ type: 'user', isMeta: true, message: { role: 'user', content: 'a caveat' } }),
      line({ type: 'user', message: { role: 'user', content: said } }),
      line({
        type: 'assistant',
        message: { role: 'assistant', content: [{ type: 'text', text: 'I will.' }] },
      }),
      line({
        type: 'user',
        message: { role: 'user', content: [{ type: 'tool_result', content: 'spam' }] },
      }),
    ].join('\n'),
    compact: { hook_event_name: 'PreCompact', trigger: 'auto', custom_instructions: '' },
    prompt: { hook_event_name: 'UserPromptSubmit', prompt: 'Is Ada allergic to nuts?' },
    end: { hook_event_name: 'SessionEnd', reason: 'clear' },
  },
  Codex: {
    transcript: [
      line({ type: 'session_meta', payload: { id: 's' } }),
      line({
        type: 'response_item',
        payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: said }] },
      }),
      line({
        type: 'response_item',
        payload: {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I will.' }],
        },
      }),
    ].join('\n'),
    compact: { hook_event_name: 'PreCompact', trigger: 'auto' },
    prompt: { hook_event_name: 'UserPromptSubmit', prompt: 'Is Ada allergic to nuts?' },
    end: { hook_event_name: 'SessionEnd', reason: 'clear' },
  },
  'Gemini CLI': {
    transcript: line({
      sessionId: 's',
      messages: [
        { type: 'user', content: [{ text: said }] },
        { type: 'gemini', content: 'I will.' },
        { type: 'info', content: 'spam' },
      ],
    }),
    compact: { hook_event_name: 'PreCompress', trigger: 'auto' },
    prompt: { hook_event_name: 'BeforeAgent', prompt: 'Is Ada allergic to nuts?' },
    end: { hook_event_name: 'SessionEnd', reason: 'clear' },
  },
  OpenClaw: {
    transcript: [
      line({ type: 'session', id: 's' }),
      line({ type: 'message', message: { role: 'user', content: said } }),
      line({
        type: 'message',
        message: { role: 'assistant', content: [{ type: 'text', text: 'I will.' }] },
      }),
      line({ type: 'message', message: { role: 'user', content: '/new' } }),
    ].join('\n'),
    compact: { hook_event_name: 'PreCompact' },
    prompt: { hook_event_name: 'UserPromptSubmit', prompt: 'Is Ada allergic to nuts?' },
    end: { type: 'command', action: 'new', sessionKey: 'agent:main:main' },
  },
} as const

describe.each(Object.entries(PROGRAMS))('the hooks of %s', (_, program) => {
  const open = () => {
    const cli = createCli()
    const path = temporaryFile('transcript.jsonl')
    writeFileSync(path, program.transcript)
    const about = { session_id: 's1', transcript_path: path, cwd: '/' }
    const hook = (event: object) =>
      cli(['hook', '--json'], { stdin: JSON.stringify({ ...about, ...event }) })
    return { cli, hook, path }
  }

  it('[CL25.2] learn from the transcript before a compaction, once', async () => {
    const { cli, hook } = open()
    const { json, exit } = await hook(program.compact)
    expect([exit, json.session]).toEqual([0, 's1'])
    const shown = await cli(['sessions', 'show', 's1', '--json'])
    expect(shown.json.turns.slice(0, 2).map((turn: { content: string }) => turn.content)).toEqual([
      'Remember that I am allergic to nuts.',
      'I will.',
    ])
    const { json: list } = await cli(['list', '--json'])
    expect(list.data).toMatchObject([{ content: expect.stringContaining('allergic to nuts') }])
    await hook(program.compact)
    expect((await cli(['list', '--json'])).json.data).toHaveLength(1)
  })

  it('[CL25.1] add memories to a prompt', async () => {
    const { cli, hook } = open()
    await cli(['add', 'Ada is allergic to nuts.'])
    const { json } = await hook(program.prompt)
    expect(json.hookSpecificOutput).toMatchObject({
      hookEventName: program.prompt.hook_event_name,
      additionalContext: expect.stringContaining('allergic to nuts'),
    })
    expect((await hook({ ...program.prompt, prompt: 'How do volcanoes work?' })).out).toBe('{}\n')
  })

  it('[FD17.3] write the last messages as a note of their own when the user starts over', async () => {
    const { cli, hook } = open()
    const folder = folderWith({})
    await cli(['files', 'add', folder, '--kind', 'workspace'])
    const { json } = await hook(program.end)
    const [note] = json.notes
    expect(note).toMatch(/^memory\/\d{4}-\d\d-\d\d-\d{4}\.md$/)
    const text = readFileSync(join(folder, note), 'utf8')
    expect(text).toBe(
      '# Session s1\n\n- user: Remember that I am allergic to nuts.\n\n- assistant: I will.\n',
    )
    const again = await hook(program.end)
    expect(again.json.notes).toEqual([note])
  })
})

it('[CL25.1] the start of a session gets a digest of who the user is', async () => {
  const cli = createCli()
  const start = { session_id: 's', hook_event_name: 'SessionStart', source: 'startup' }
  const hook = (event: object) => cli(['hook'], { stdin: JSON.stringify(event) })
  expect((await hook(start)).out).toBe('')
  await cli(['identity', 'add', 'My name is Ada. </recollect-memory>'])
  const { hookSpecificOutput } = JSON.parse((await hook(start)).out)
  expect(hookSpecificOutput.hookEventName).toBe('SessionStart')
  expect(hookSpecificOutput.additionalContext).toContain('- My name is Ada. &lt;/recollect')
  const cursor = JSON.parse((await hook({ ...start, hook_event_name: 'sessionStart' })).out)
  expect(cursor.additional_context).toContain('My name is Ada.')
  await cli(['settings', 'set', 'hooks.recallEnabled=false'])
  expect((await hook(start)).out).toBe('')
})

it('[CL25.3] the end of an answer captures what the user asked to remember', async () => {
  const cli = createCli()
  const stop = {
    type: 'agent-turn-complete',
    'thread-id': 't',
    'input-messages': ['Remember that I prefer oat milk.'],
  }
  const hook = () => cli(['hook', '--json'], { stdin: JSON.stringify(stop) })
  expect((await hook()).json).toEqual({ captured: 0 })
  await cli(['settings', 'set', 'hooks.captureEnabled=true'])
  expect((await hook()).json).toEqual({ captured: 1 })
  const { json } = await cli(['list', '--json'])
  expect(json.data).toMatchObject([{ content: 'Remember that I prefer oat milk.' }])
})

it('[CL25.4] a failing hook never blocks the program', async () => {
  const cli = createCli()
  for (const [stdin, message] of [
    ['spam', 'JSON object'],
    ['{}', 'hook_event_name'],
    ['{"hook_event_name":"PreCompact"}', 'session'],
    [
      JSON.stringify({
        hook_event_name: 'PreCompact',
        session_id: 's',
        transcript_path: '/nowhere/t.jsonl',
      }),
      '/nowhere/t.jsonl',
    ],
  ] as const) {
    const { exit, out, err } = await cli(['hook'], { stdin })
    expect([exit, out]).toEqual([1, ''])
    expect(err).toContain(message)
  }
  const other = await cli(['hook'], { stdin: '{"hook_event_name":"PostToolUse"}' })
  expect([other.exit, other.out, other.err]).toEqual([0, '', ''])
  expect(existsSync(cli.folder)).toBe(false)
})

it('[CL25.2] a long transcript is ingested in parts that stay the same as it grows', async () => {
  const cli = createCli()
  const path = temporaryFile('transcript.jsonl')
  const write = (count: number) =>
    writeFileSync(
      path,
      Array.from({ length: count }, (_, index) =>
        line({ type: 'user', message: { role: 'user', content: `message ${index}` } }),
      ).join('\n'),
    )
  const hook = () =>
    cli(['hook', '--json'], {
      stdin: JSON.stringify({
        hook_event_name: 'PreCompact',
        session_id: 's',
        transcript_path: path,
      }),
    })
  write(501)
  expect((await hook()).json.exchanges).toBe(501)
  write(503)
  await hook()
  const { json } = await cli(['sessions', '--json'])
  const sizes = json.sessions.map((each: { id: string; turns: number }) => [each.id, each.turns])
  expect(sizes.sort()).toEqual([
    ['s', 500],
    ['s:2', 3],
  ])
})

it('[CL25.2] hooks reach a server with the key of an agent', async () => {
  const server = await startServer()
  const cli = await server.cli('agent', 'ada')
  const path = temporaryFile('transcript.jsonl')
  writeFileSync(path, PROGRAMS['Claude Code'].transcript)
  const about = { session_id: 's1', transcript_path: path }
  const hook = (event: object) =>
    cli(['hook', '--json'], { stdin: JSON.stringify({ ...about, ...event }) })
  const learned = await hook({ hook_event_name: 'SessionEnd', reason: 'clear' })
  expect([learned.exit, learned.err]).toEqual([0, ''])
  expect(learned.json).toMatchObject({ session: 's1', exchanges: 1, notes: [] })
  const start = await hook({ hook_event_name: 'SessionStart', source: 'startup' })
  expect([start.exit, start.err]).toEqual([0, ''])
  const prompt = await hook({
    hook_event_name: 'UserPromptSubmit',
    session_id: 's2',
    prompt: 'Am I allergic to nuts?',
  })
  expect(prompt.json.hookSpecificOutput.additionalContext).toContain('allergic to nuts')
})
