/** Configuration files of other programs: our entry goes in, and nothing else moves. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  backupPath,
  CLIENTS,
  type ClientName,
  clientNames,
  configPath,
  createHttpEntry,
  createStdioEntry,
  isClientName,
  planInstallation,
  planRemoval,
  renderEntry,
  supportsKeyVariable,
  unifiedDiff,
} from './client-config.ts'

const HOME = '/home/ann'
const NODE = '/usr/bin/node'
const PROGRAM = [NODE, '/opt/recollect/cli-main.js'] as const
const LOCAL = createStdioEntry({ program: PROGRAM, owner: 'ann' })
const REMOTE = createHttpEntry({ url: 'http://127.0.0.1:20128', key: 'rc_secret' })

function planned(name: ClientName, existing: string | null, entry = LOCAL) {
  return planInstallation(name, 'linux', HOME, existing, entry)
}

describe('where files are', () => {
  it('[MC9] knows each client on each platform', () => {
    const paths = clientNames().map((name) => [
      name,
      configPath(name, 'darwin', '/Users/ann'),
      configPath(name, 'linux', HOME),
      configPath(name, 'win32', 'C:\\Users\\ann'),
    ])
    expect(paths).toMatchInlineSnapshot(`
      [
        [
          "claude-desktop",
          "/Users/ann/Library/Application Support/Claude/claude_desktop_config.json",
          "/home/ann/.config/Claude/claude_desktop_config.json",
          "C:\\Users\\ann\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
        ],
        [
          "claude-code",
          "/Users/ann/.claude.json",
          "/home/ann/.claude.json",
          "C:\\Users\\ann\\.claude.json",
        ],
        [
          "cursor",
          "/Users/ann/.cursor/mcp.json",
          "/home/ann/.cursor/mcp.json",
          "C:\\Users\\ann\\.cursor\\mcp.json",
        ],
        [
          "vscode",
          "/Users/ann/Library/Application Support/Code/User/mcp.json",
          "/home/ann/.config/Code/User/mcp.json",
          "C:\\Users\\ann\\AppData\\Roaming\\Code\\User\\mcp.json",
        ],
        [
          "windsurf",
          "/Users/ann/.codeium/windsurf/mcp_config.json",
          "/home/ann/.codeium/windsurf/mcp_config.json",
          "C:\\Users\\ann\\.codeium\\windsurf\\mcp_config.json",
        ],
        [
          "zed",
          "/Users/ann/.config/zed/settings.json",
          "/home/ann/.config/zed/settings.json",
          "C:\\Users\\ann\\AppData\\Roaming\\Zed\\settings.json",
        ],
        [
          "codex",
          "/Users/ann/.codex/config.toml",
          "/home/ann/.codex/config.toml",
          "C:\\Users\\ann\\.codex\\config.toml",
        ],
        [
          "gemini",
          "/Users/ann/.gemini/settings.json",
          "/home/ann/.gemini/settings.json",
          "C:\\Users\\ann\\.gemini\\settings.json",
        ],
      ]
    `)
  })

  it('[MC9.4] starts this installation, and no name of a registry', () => {
    const entry = createStdioEntry({
      program: ['C:\\node.exe', 'C:\\recollect\\cli-main.js'],
      data: 'C:\\data',
      tools: { hasCompatibilityTools: true, hasExtendedTools: true },
    })
    expect(entry).toEqual({
      kind: 'stdio',
      command: 'C:\\node.exe',
      args: [
        ...['C:\\recollect\\cli-main.js', 'mcp', '--data', 'C:\\data'],
        ...['--compatibility-tools', '--extended-tools'],
      ],
    })
    for (const name of clientNames()) expect(renderEntry(name, 'linux', LOCAL)).not.toContain('npx')
  })

  it('[MC9.5] names a variable for the key where the client reads one', () => {
    const entry = createHttpEntry({
      ...{ url: 'http://127.0.0.1:20128', key: 'rc_secret' },
      keyVariable: 'RECOLLECT_API_KEY',
    })
    const references = clientNames()
      .filter((name) => name !== 'claude-desktop')
      .map((name) => {
        const text = renderEntry(name, 'linux', entry)
        expect(text.includes('rc_secret')).toBe(!supportsKeyVariable(name))
        return [name, /\$\{.*?\}|bearer_token_env_var = "\w+"/.exec(text)?.[0] ?? null]
      })
    expect(Object.fromEntries(references)).toEqual({
      'claude-code': null,
      cursor: `\${env:RECOLLECT_API_KEY}`,
      vscode: `\${env:RECOLLECT_API_KEY}`,
      windsurf: `\${env:RECOLLECT_API_KEY}`,
      zed: null,
      codex: 'bearer_token_env_var = "RECOLLECT_API_KEY"',
      gemini: `\${RECOLLECT_API_KEY}`,
    })
  })

  it('[MC9] names the copy that is made first', () => {
    expect(backupPath('/x/mcp.json', new Date(0))).toBe('/x/mcp.json.19700101T000000Z.backup')
    expect(isClientName('cursor')).toBe(true)
    expect(isClientName('toString')).toBe(false)
  })
})

describe('an entry', () => {
  it.each(clientNames())('[MC9] has the form that %s reads', (name) => {
    const local = renderEntry(name, 'linux', LOCAL)
    expect(local).toContain('recollect')
    expect(local).toContain('--owner')
    if (name === 'claude-desktop') {
      expect(() => renderEntry(name, 'linux', REMOTE)).toThrow(/Connect it without a url/)
    } else {
      expect(renderEntry(name, 'linux', REMOTE)).toContain('Bearer rc_secret')
    }
  })

  it('[MC9] spells each client’s own names', () => {
    expect(JSON.parse(renderEntry('vscode', 'linux', REMOTE))).toEqual({
      servers: {
        recollect: {
          type: 'http',
          url: 'http://127.0.0.1:20128/mcp',
          headers: { Authorization: 'Bearer rc_secret' },
        },
      },
    })
    expect(
      JSON.parse(renderEntry('windsurf', 'linux', REMOTE)).mcpServers.recollect,
    ).toHaveProperty('serverUrl')
    expect(renderEntry('codex', 'linux', REMOTE)).toBe(
      '[mcp_servers.recollect]\nurl = "http://127.0.0.1:20128/mcp"\nhttp_headers = { Authorization = "Bearer rc_secret" }\n',
    )
  })

  it('[MC9] refuses addresses that are none', () => {
    expect(() => createHttpEntry({ url: 'file:///etc' })).toThrow(/url/)
    expect(createHttpEntry({ url: 'https://memory.example/team/mcp' })).toMatchObject({
      url: 'https://memory.example/team/mcp',
      headers: {},
    })
  })
})

describe('JSON with comments', () => {
  it('[MC9] keeps comments, order and trailing commas', () => {
    const before = `{
    // my servers
    "mcpServers": {
        "other": { "command": "x", "args": ["a", /* b, */ "c"], }, // keep, this
    },
    "theme": "dark"
}
`
    const { after } = planned('cursor', before)
    expect(after).toBe(`{
    // my servers
    "mcpServers": {
        "other": { "command": "x", "args": ["a", /* b, */ "c"], }, // keep, this
        "recollect": {
            "command": "/usr/bin/node",
            "args": [
                "/opt/recollect/cli-main.js",
                "mcp",
                "--owner",
                "ann"
            ]
        },
    },
    "theme": "dark"
}
`)
    expect(planned('cursor', after).isChanged).toBe(false)
  })

  it('[MC9] adds a comma before a comment, not into it', () => {
    const { after } = planned('zed', '{\r\n\t"a": 1 // one, two\r\n}')
    expect(after).toMatch(/^\{\r\n\t"a": 1, \/\/ one, two\r\n\t"context_servers": \{\r\n\t\t"rec/)
    expect(after.endsWith('\r\n\t}\r\n}')).toBe(true)
    expect(after.replaceAll('\r\n', '')).not.toContain('\n')
  })

  it('[MC9] replaces only our entry, the last where there are two', () => {
    const before = '{"mcpServers":{"recollect":{"command":"old"},"b":{},"recollect":1}}'
    const { after } = planned('cursor', before)
    expect(after.startsWith('{"mcpServers":{"recollect":{"command":"old"},"b":{},')).toBe(true)
    expect(JSON.parse(after).mcpServers.recollect.command).toBe(NODE)
  })

  it('[MC9] creates missing files', () => {
    for (const nothing of [null, '', '  \n', '{}', '{ // empty\n}', '{"mcpServers": {}}']) {
      const { after } = planned('claude-desktop', nothing)
      const bare = after.replace(' // empty', '')
      expect(JSON.parse(bare).mcpServers.recollect.command).toBe(NODE)
    }
    expect(planned('claude-desktop', '{ // empty\n}').after).toContain('// empty\n')
  })

  it.each([
    '{"mcpServers": ',
    '[]',
    '{"mcpServers": []}',
    '{"a" 1}',
    "{'a': 1}",
    '{"a": 01x}',
    '{} {}',
    'not json',
    `{"a":${'['.repeat(1000)}${']'.repeat(1000)}}`,
  ])('[MC9] refuses %s', (broken) => {
    expect(() => planned('cursor', broken)).toThrow(/Nothing was changed/)
  })

  it('[MC9] any JSON keeps its other values, and a second run changes nothing', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(json, json, fc.constantFrom(undefined, 1, 2, '\t'), (rest, servers, indent) => {
        const { mcpServers: _, ...others } = rest
        const before = JSON.stringify({ ...others, mcpServers: servers }, null, indent)
        const { after } = planned('gemini', before)
        const read = JSON.parse(after)
        expect(read).toEqual({
          ...JSON.parse(before),
          mcpServers: { ...JSON.parse(before).mcpServers, recollect: read.mcpServers.recollect },
        })
        expect(read.mcpServers.recollect.command).toBe(NODE)
        expect(planned('gemini', after).isChanged).toBe(false)
        const moved = planned('gemini', after, REMOTE).after
        expect(planned('gemini', moved).after).toBe(after)
      }),
    )
  })
})

describe('TOML', () => {
  const OURS =
    '[mcp_servers.recollect]\ncommand = "/usr/bin/node"\nargs = ["/opt/recollect/cli-main.js", "mcp", "--owner", "ann"]\n'

  it('[MC9] appends our table and keeps the rest', () => {
    const before = 'model = "o9" # mine\n\n[mcp_servers.other]\nargs = [\n  "[x]",\n]\n'
    const { after } = planned('codex', before)
    expect(after).toBe(`${before}\n${OURS}`)
    expect(planned('codex', after).isChanged).toBe(false)
  })

  it('[MC9] replaces our table with those below it, and nothing else', () => {
    const before = [
      'notes = """',
      '[mcp_servers.recollect]',
      '"""',
      '[mcp_servers."recollect"] # ours',
      'command = "old"',
      '[mcp_servers.recollect.env]',
      'A = "b"',
      '',
      '# about the other',
      '[mcp_servers.other]',
      'command = "y"',
      '',
    ].join('\n')
    expect(planned('codex', before).after).toBe(
      `notes = """\n[mcp_servers.recollect]\n"""\n${OURS}\n# about the other\n[mcp_servers.other]\ncommand = "y"\n`,
    )
  })

  it('[MC9] keeps line ends and writes any text', () => {
    const owner = 'a"b\\c\u007f\té'
    const { after } = planned('codex', 'a = 1\r\n', createStdioEntry({ program: PROGRAM, owner }))
    expect(after.startsWith('a = 1\r\n\r\n[mcp_servers.recollect]\r\n')).toBe(true)
    expect(after).toContain('"a\\"b\\\\c\\u007f\\té"')
  })

  it.each([
    'mcp_servers = { recollect = {} }',
    'mcp_servers.recollect.command = "x"',
    '[mcp_servers]\nrecollect = { command = "x" }',
    '[mcp_servers.recollect]\n[mcp_servers.recollect]',
    '[[mcp_servers.recollect]]',
    'a = "never ends',
    'a = """\n',
    'a = [1,',
    'a = 1]',
    '[broken',
    'no assignment here',
  ])('[MC9] refuses %s', (broken) => {
    expect(() => planned('codex', broken)).toThrow(/Nothing was changed/)
  })
})

describe('taking the entry out', () => {
  const removed = (name: ClientName, text: string | null) => planRemoval(name, 'linux', HOME, text)

  it.each([
    '{\n  // servers\n  "mcpServers": {\n    "other": {} // keep, this\n  }\n}\n',
    '{\n  "mcpServers": {\n    "other": {}, // keep\n  },\n}\n',
    '{ "mcpServers": { "other": [1, 2] } }',
  ])('[MC9] leaves the values and comments of %s', (before) => {
    const { after } = removed('cursor', planned('cursor', before).after)
    expect(after.replaceAll(/\s/g, '')).toBe(before.replaceAll(/\s/g, ''))
    expect(removed('cursor', after).isChanged).toBe(false)
  })

  it('[MC9] takes it from any place among the others', () => {
    for (const text of [
      '{"mcpServers":{"recollect":{"a":[1,2]},"b":{},"c":1}}',
      '{"mcpServers":{"b":{},"recollect":{},"c":1}}',
      '{"mcpServers":{"b":{},"c":1,"recollect":null}}',
    ]) {
      expect(JSON.parse(removed('cursor', text).after)).toEqual({ mcpServers: { b: {}, c: 1 } })
    }
    expect(JSON.parse(removed('zed', '{"context_servers":{"recollect":{}}}').after)).toEqual({
      context_servers: {},
    })
    expect(removed('zed', null).isChanged).toBe(false)
    expect(removed('zed', '{}').isChanged).toBe(false)
    expect(() => removed('zed', '{')).toThrow(/Nothing was changed/)
  })

  it('[MC9] TOML is as it was before', () => {
    const before = 'a = 1\n\n[other]\nb = 2\n'
    expect(removed('codex', planned('codex', before).after).after).toBe(before)
    const between = 'a = 1\n\n[mcp_servers.recollect]\nx = "y"\n\n# other\n[other]\nb = 2\n'
    expect(removed('codex', between).after).toBe('a = 1\n\n# other\n[other]\nb = 2\n')
  })

  it('[MC9] any JSON is what it was', () => {
    const json = fc.dictionary(fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(json, json, fc.constantFrom(undefined, 2), (rest, servers, indent) => {
        const { recollect: _, ...others } = servers
        const before = JSON.stringify({ ...rest, mcpServers: others }, null, indent)
        const { after } = removed('gemini', planned('gemini', before).after)
        expect(JSON.parse(after)).toEqual(JSON.parse(before))
      }),
    )
  })
})

describe('the diff', () => {
  it('[MC9] shows what changes, with some lines around it', () => {
    const before = ['{', '  "a": 1,', '  "b": 2,', '  "c": 3,', '  "d": 4', '}', ''].join('\n')
    const { path, after } = planned('cursor', before)
    const lines = unifiedDiff(path, before, after).split('\n')
    expect(lines.slice(0, 7)).toEqual([
      '--- /home/ann/.cursor/mcp.json',
      '+++ /home/ann/.cursor/mcp.json',
      '@@ -2,5 +2,16 @@',
      '   "a": 1,',
      '   "b": 2,',
      '   "c": 3,',
      '-  "d": 4',
    ])
    expect(unifiedDiff(path, after, after)).toBe('')
    expect(unifiedDiff(path, null, 'x\n')).toBe(
      '--- /dev/null\n+++ /home/ann/.cursor/mcp.json\n@@ -0,0 +1,1 @@\n+x\n',
    )
    expect(unifiedDiff('f', 'x', 'x\n')).toContain('\\ No newline at end of file')
  })
})

it('[MC9] each client says what to do next', () => {
  for (const name of clientNames()) expect(CLIENTS[name].next).toMatch(/\.$/)
})
