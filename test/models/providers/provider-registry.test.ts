/** Providers: whom a model is asked from, what is known of it, and what the file of providers says. */
import { chmodSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findJsonErrorLine } from '../../../src/app/config/json-error-position.ts'
import { readProviders } from '../../../src/app/config/providers-file.ts'
import { API_FORMATS } from '../../../src/domain/model-call.ts'
import type { AppError } from '../../../src/lib/errors.ts'
import {
  getContextWindow,
  getSystemRole,
  hasToolSupport,
} from '../../../src/models/model-capabilities.ts'
import { routeModel } from '../../../src/models/model-routing.ts'
import type { Provider, ProviderRegistry } from '../../../src/models/provider.ts'
import { temporaryFile } from '../../support/temporary-folder.ts'
import { provider } from './upstream-support.ts'

const KEY = 'sk-very-secret-key'

describe('routes', () => {
  const registry: ProviderRegistry = {
    providers: [
      provider('https://api.openai.com/v1', { name: 'openai' }),
      provider('https://api.anthropic.com/v1', { name: 'Claude', kind: 'anthropic' }),
      provider('https://openrouter.ai/api/v1', {
        name: 'router',
        models: [
          { id: 'meta-llama/llama-3', contextWindow: null, systemRole: null, supportsTools: null },
        ],
      }),
      provider('', {
        name: 'demo',
        kind: 'demo',
        models: [{ id: 'echo', contextWindow: null, systemRole: null, supportsTools: null }],
      }),
    ],
    aliases: { fast: 'openai/gpt-5-mini', 'openai/gpt-4': 'router/openai/gpt-4o', lost: 'gone/x' },
    defaults: { chat: 'openai', responses: 'router', messages: null, gemini: null },
    chosenDefaults: ['responses'],
  }

  it.each([
    ['openai/gpt-5', 'openai', 'gpt-5'],
    ['OpenAI/gpt-5', 'openai', 'gpt-5'],
    ['claude/claude-x', 'Claude', 'claude-x'],
    ['router/openai/gpt-4o', 'router', 'openai/gpt-4o'],
    ['fast', 'openai', 'gpt-5-mini'],
    ['openai/gpt-4', 'router', 'openai/gpt-4o'],
    ['meta-llama/llama-3', 'router', 'meta-llama/llama-3'],
    ['gpt-5', 'openai', 'gpt-5'],
    ['demo/anything', 'demo', 'anything'],
    ['constructor', 'openai', 'constructor'],
    // The demo answers only those who name it.
    ['echo', 'openai', 'echo'],
  ])('[PV1] %s is asked from %s as %s', (model, name, asked) => {
    const route = routeModel(registry, 'chat', model)
    expect([route.provider.name, route.model]).toEqual([name, asked])
  })

  it('[PV1] a name with a slash goes to a default that was chosen, or that has such names', () => {
    expect(routeModel(registry, 'responses', 'mistral/large').provider.name).toBe('router')
    const gemini = provider('https://generativelanguage.googleapis.com/v1beta', { kind: 'gemini' })
    const implied = {
      ...registry,
      providers: [gemini],
      defaults: { ...registry.defaults, chat: gemini.name },
    }
    expect(routeModel(implied, 'chat', 'models/gemini-x').model).toBe('models/gemini-x')
    expect(faultOf(() => routeModel(implied, 'chat', 'other/gemini-x')).code).toBe('not_found')
  })

  it.each([
    ['chat', 'anthropic/claude-x'],
    ['chat', 'lost'],
    ['chat', 'openai/'],
    ['messages', 'claude-x'],
    ['messages', ''],
  ] as const)('[PV1] for %s, %j is unknown, and the error says what there is', (format, model) => {
    const fault = faultOf(() => routeModel(registry, format, model))
    expect(fault).toMatchObject({ code: 'not_found', facts: { model } })
    expect(fault.message).toContain('openai, Claude, router, demo')
  })

  it('[PV1] reports that there is no provider', () => {
    const none = { ...registry, providers: [], aliases: {} }
    for (const format of API_FORMATS) {
      expect(faultOf(() => routeModel(none, format, 'gpt-5')).message).toContain('No provider')
    }
  })
})

describe('capabilities', () => {
  it.each([
    ['openai', 'o1', 'none'],
    ['openai', 'o1-mini', 'none'],
    ['openai', 'O1-Preview-2024-09-12', 'none'],
    ['openai', 'o1-mini-2024-09-12', 'none'],
    ['router', 'openai/o1-mini', 'none'],
    ['openai', 'o10', 'any'],
    ['openai', 'o1-pro', 'any'],
    ['openai', 'o3', 'any'],
    ['openai', 'gpt-5', 'any'],
    ['o1-mini', 'deployment', 'none'],
    ['GLM', 'anything', 'none'],
    ['glmt', 'x', 'none'],
    ['glm-cn', 'glm-4.6', 'none'],
    ['zai', 'glm-5', 'none'],
    ['zai', 'glm-5.1', 'any'],
    ['glm', 'GLM-5.2-Air', 'any'],
    ['router', 'z-ai/glm-4.5-air', 'none'],
    ['router', 'z-ai/glm-6v', 'any'],
    ['router', 'glm-4v-plus', 'none'],
    ['router', 'glm-z1-air', 'none'],
    ['router', 'chatglmology', 'any'],
    ['qianfan', 'qwen3-8b', 'none'],
    ['qianfan', 'glm-5.1', 'none'],
    ['xiaomi-mimo', 'x', 'leading'],
    ['MiMo', 'x', 'leading'],
    ['router', 'xiaomi/mimo-v2-flash', 'leading'],
    ['router', 'mimosa', 'any'],
    ['ollama', 'qwen3:8b', 'leading'],
    ['router', 'Qwen/Qwen3.8-27B', 'leading'],
    ['glmx', 'x', 'any'],
    ['unknown', 'unknown', 'any'],
  ] as const)('[PV2] %s with %s takes the system role: %s', (name, model, role) => {
    expect(getSystemRole(provider('https://a.example/v1', { name }), model)).toBe(role)
  })

  it('[PV2] what the operator says of a model wins over what they say of the provider, and that over the table', () => {
    const special = { id: 'Special', contextWindow: 5_000, systemRole: 'leading' } as const
    const models = [{ ...special, supportsTools: true }]
    const result = provider('https://a.example/v1', { name: 'glm', systemRole: 'any', models })
    expect(getSystemRole(result, 'special')).toBe('leading')
    expect(getSystemRole(result, 'glm-4')).toBe('any')
    expect(getContextWindow(result, 'special')).toBe(5_000)
    const without = provider('https://a.example/v1', { supportsTools: false, models })
    expect(hasToolSupport(without, 'special')).toBe(true)
    expect(hasToolSupport(without, 'gpt-5')).toBe(false)
  })

  it.each([
    ['o1-mini', false],
    ['openai/o1-preview-2024-09-12', false],
    ['o1', true],
    ['o1-mini-turbo', true],
    ['anything', true],
  ])('[PV2] %s takes tools: %s', (model, takes) => {
    const result = { supportsTools: null } as const
    expect(hasToolSupport(provider('https://a.example/v1', result), model)).toBe(takes)
    expect(hasToolSupport(provider('', { ...result, kind: 'demo' }), model)).toBe(false)
  })

  it.each([
    ['gpt-4o', 128_000],
    ['gpt-4o-mini-2024-07-18', 128_000],
    ['openai/gpt-4.1-nano', 1_047_576],
    ['GPT-5', 400_000],
    ['gpt-5-mini', 400_000],
    ['gpt-5-chat-latest', 128_000],
    ['gpt-4', 8_192],
    ['gpt-4-turbo', 128_000],
    ['o1-mini', 128_000],
    ['o3', 200_000],
    ['o4-mini-2025-04-16', 200_000],
    ['claude-3-5-sonnet-20241022', 200_000],
    ['anthropic/claude-3.7-sonnet', 200_000],
    ['claude-sonnet-4-20250514', 200_000],
    ['claude-opus-4-1-20250805', 200_000],
    ['claude-haiku-4-5', 200_000],
    ['models/gemini-2.5-flash', 1_048_576],
    ['gemini-1.5-pro-latest', 2_097_152],
    ['meta-llama/Llama-3.3-70B-Instruct', 131_072],
    ['llama3.1:8b', 131_072],
    ['llama3:8b', 8_192],
    ['openai/gpt-oss-120b', 131_072],
    ['gpt-4o-realtime-preview', null],
    ['gpt-50', null],
    ['gemini-2.5-flash-image', null],
    ['claude-something-9', null],
    ['my-model', null],
  ])('[PV3] the window of %s is %s', (model, window) => {
    expect(getContextWindow(provider('https://a.example/v1'), model)).toBe(window)
  })

  it('[PV3] what Ollama gives a model is not known', () => {
    const ollama = provider('http://127.0.0.1:11434/v1', { kind: 'ollama' })
    expect(getContextWindow(ollama, 'llama3.1:8b')).toBeNull()
  })
})

describe('the file of providers', () => {
  it('[PV4] is read with variables in any text, and defaults for the rest', () => {
    const { providers, aliases, warnings } = read(
      {
        aliases: { fast: 'work/gpt-5-mini' },
        providers: {
          work: {
            kind: 'openai-compatible',
            baseUrl: `https://${variable('HOST')}/v1/`,
            key: variable('WORK_KEY'),
            models: [
              'gpt-5-mini',
              { id: 'small', contextWindow: 4096, systemRole: 'none', supportsTools: false },
            ],
            headers: { 'x-team': `a-${variable('TEAM')}` },
            timeouts: { idleMs: 1000 },
          },
          local: { kind: 'ollama', baseUrl: 'http://10.0.0.5:11434', private: true },
          claude: { kind: 'anthropic', baseUrl: 'https://proxy.example/anthropic' },
        },
      },
      { HOST: 'llm.example.com', WORK_KEY: ` ${KEY} `, TEAM: 'b' },
    )
    expect(aliases).toEqual({ fast: 'work/gpt-5-mini' })
    expect(providers[0]).toEqual({
      name: 'work',
      kind: 'openai',
      baseUrl: 'https://llm.example.com/v1',
      key: KEY,
      models: [
        { id: 'gpt-5-mini', contextWindow: null, systemRole: null, supportsTools: null },
        { id: 'small', contextWindow: 4096, systemRole: 'none', supportsTools: false },
      ],
      systemRole: null,
      supportsTools: null,
      isPrivate: false,
      headers: { 'x-team': 'a-b' },
      timeouts: { connectMs: 10_000, firstByteMs: 600_000, idleMs: 1_000 },
    } satisfies Provider)
    expect(providers[1]).toMatchObject({ baseUrl: 'http://10.0.0.5:11434/v1', isPrivate: true })
    expect(providers[2]).toMatchObject({ baseUrl: 'https://proxy.example/anthropic/v1', key: null })
    expect(warnings).toEqual([])
  })

  it.each([
    [{ provider: {} }, 'Did you mean "providers"?'],
    [{ providers: { a: { kind: 'openai', baseURL: 'x' } } }, 'Did you mean "baseUrl"?'],
    [{ providers: { a: { kind: 'openai', timeouts: { idle: 5 } } } }, 'Did you mean "idleMs"?'],
    [
      { providers: { a: { kind: 'openai', models: [{ name: 'x', id: 'y' }] } } },
      'providers.a.models.0.name',
    ],
    [{ default: { message: 'openai' } }, 'Did you mean "messages"?'],
    [{ default: 'olama' }, 'Did you mean ollama?'],
    [{ providers: { a: { kind: 'vertex' } } }, 'providers.a.kind'],
    [{ providers: { a: {} } }, 'providers.a.kind'],
    [{ providers: { 'a/b': { kind: 'openai' } } }, 'letters, digits'],
    [{ providers: { a: { kind: 'openai' }, A: { kind: 'openai' } } }, 'differ only in case'],
    [{ providers: { demo: { kind: 'openai' } } }, 'built-in demo'],
    [{ providers: { a: { kind: 'openai', headers: { Host: 'x' } } } }, 'set per request'],
    [{ providers: { a: { kind: 'openai', headers: { 'x-a': 'b\nc' } } } }, 'invalid in headers'],
    [
      { providers: { a: { kind: 'openai', baseUrl: 'https://u:p@a.example' } } },
      'contain no credentials and no query',
    ],
    [{ providers: { a: { kind: 'openai', baseUrl: 'http://169.254.169.254/' } } }, 'metadata'],
    [{ providers: { a: { kind: 'openai', timeouts: { idleMs: 0 } } } }, 'timeouts.idleMs'],
    [{ aliases: { a: 'b', b: 'openai/x' } }, 'another alias'],
    [[], 'the file'],
  ])('[PV4] refuses %j', (content, told) => {
    const fault = faultOf(() => read(content))
    expect(fault.code).toBe('invalid_input')
    expect(fault.message).toContain(told)
  })

  it('[PV4] names a variable that is not set, and whose it is', () => {
    const content = { providers: { work: { kind: 'openai', key: variable('WORK_KEY') } } }
    for (const environment of [{}, { WORK_KEY: '' }]) {
      const fault = faultOf(() => read(content, environment))
      expect(fault.facts).toMatchObject({ variable: 'WORK_KEY', provider: 'work' })
      expect(fault.message).toMatch(/WORK_KEY is not set.*"key" of the provider work/)
    }
    const odd = { providers: { work: { kind: 'openai', key: '${WORK-KEY' } } }
    expect(faultOf(() => read(odd)).message).toContain('without a variable name')
  })

  it('[PV11] reveals no key in any error of the file', () => {
    const path = temporaryFile('providers.json')
    const broken = [
      `{"providers": {"a": {"kind": "openai", "key": ${KEY}}}}`,
      `{"providers": {"a": {"kind": "openai", "key": "${KEY}`,
      `{"providers": {"a": {"kind": "openai", "key": "${KEY}\\u0007"}}}`,
      `{"providers": {"a": {"kind": "openai", "key": ["${KEY}"]}}}`,
      `{"providers": {"a": {"kind": "${KEY}"}}}`,
      `{"providers": {"a": {"kind": "openai", "headers": {"x-key": "${KEY}\\n"}}}}`,
      `{"providers": {"a": {"kind": "openai", "baseUrl": "http://a:${KEY}@x.example"}}}`,
    ]
    for (const text of broken) {
      writeFileSync(path, text, { mode: 0o600 })
      const fault = faultOf(() => readProviders({ path, isNamed: true, environment: {} }))
      expect(fault.code).toBe('invalid_input')
      expect(JSON.stringify([fault.message, fault.facts, fault.stack])).not.toContain(KEY)
    }
  })

  it.each([
    ['{\n  "a": 1,\n  "b": x\n}', 3],
    ['{\n  "a": 1\n  "b": 2\n}', 3],
    ['{\n  "a": [1, 2,],\n}', 2],
    ['{"a": "one\ntwo"}', 1],
    ['{\n"a": {"b": [true, null]}\n', 3],
    ['{}\n{}', 2],
    ['', 1],
    ['{"a": {"b": [1, -2.5e3, "\\u00e9"]}, "c": [], "d": {}}', null],
  ])('[PV4] finds where %j ceases to be JSON', (text, line) => {
    expect(findJsonErrorLine(text)).toBe(line)
    if (line === null) return
    const path = temporaryFile('providers.json')
    writeFileSync(path, text)
    const fault = faultOf(() => readProviders({ path, isNamed: true, environment: {} }))
    expect(fault.message).toContain(`line ${line}`)
  })

  it('[PV4] need be there only when it is named', () => {
    const path = temporaryFile('none.json')
    expect(readProviders({ path, isNamed: false, environment: {} }).providers).toHaveLength(2)
    expect(faultOf(() => readProviders({ path, isNamed: true, environment: {} })).code).toBe(
      'not_found',
    )
  })

  it.skipIf(process.platform === 'win32')(
    '[PV11] warns when others can read keys in it (not on Windows)',
    () => {
      const literal = { providers: { a: { kind: 'openai', key: KEY } } }
      const [warning] = read(literal, {}, 0o644).warnings
      expect(warning).toContain('chmod 600')
      expect(warning).not.toContain(KEY)
      expect(read(literal, {}, 0o600).warnings).toEqual([])
      const named = { providers: { a: { kind: 'openai', key: variable('A') } } }
      expect(read(named, { A: KEY }, 0o644).warnings).toEqual([])
    },
  )

  it('[PV11] warns of words that travel in the clear', () => {
    const content = { providers: { a: { kind: 'openai', baseUrl: 'http://llm.example.com/v1' } } }
    expect(read(content).warnings.join()).toContain('http://')
  })
})

describe('what the environment implies', () => {
  it('[PV5] providers by their usual keys, Ollama and the demo always', () => {
    const names = (environment: Readonly<Record<string, string>>) =>
      read({}, environment).providers.map(({ name, key }) => [name, key])
    expect(names({})).toEqual([
      ['ollama', null],
      ['demo', null],
    ])
    const all = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', GOOGLE_API_KEY: 'c' }
    expect(names(all).slice(0, 3)).toEqual([
      ['openai', 'a'],
      ['anthropic', 'b'],
      ['gemini', 'c'],
    ])
    expect(names({ GEMINI_API_KEY: 'first', GOOGLE_API_KEY: 'c' })[0]).toEqual(['gemini', 'first'])
  })

  it('[PV5] what the file names is as the file says', () => {
    const content = {
      providers: { OpenAI: { kind: 'openai' }, ollama: { kind: 'ollama', key: 'k' } },
    }
    const found = read(content, { OPENAI_API_KEY: 'a' }).providers
    expect(found.map(({ name, key }) => [name, key])).toEqual([
      ['OpenAI', null],
      ['ollama', 'k'],
      ['demo', null],
    ])
  })

  it.each([
    [{}, {}, [null, null, null]],
    [{}, { OPENAI_API_KEY: 'a' }, ['openai', 'openai', 'openai']],
    [{}, { ANTHROPIC_API_KEY: 'a' }, ['anthropic', 'anthropic', 'anthropic']],
    [{}, { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' }, ['openai', 'openai', 'anthropic']],
    [{}, { GEMINI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' }, [null, null, 'anthropic']],
    [{ default: 'Demo' }, { OPENAI_API_KEY: 'a' }, ['demo', 'demo', 'demo']],
    [{ default: { chat: 'ollama' } }, { OPENAI_API_KEY: 'a' }, ['ollama', 'openai', 'openai']],
    [{ providers: { mine: { kind: 'openai' } } }, { OPENAI_API_KEY: 'a' }, ['mine', 'mine', null]],
  ])('[PV5] with %j and %j the defaults are %j', (content, environment, expected) => {
    const { defaults, chosenDefaults } = read(content, environment)
    expect([defaults.chat, defaults.responses, defaults.messages]).toEqual(expected)
    const chosen = 'default' in content ? (content.default === 'Demo' ? API_FORMATS : ['chat']) : []
    expect(chosenDefaults).toEqual(chosen)
  })
})

function read(content: object, environment: Readonly<Record<string, string>> = {}, mode = 0o600) {
  const path = temporaryFile('providers.json')
  writeFileSync(path, JSON.stringify(content))
  chmodSync(path, mode)
  return readProviders({ path, isNamed: true, environment })
}

function faultOf(act: () => unknown): AppError {
  try {
    act()
  } catch (thrown) {
    return thrown as AppError // what is thrown is looked at by the caller
  }
  throw new Error('nothing was refused')
}

/** As it stands in the file. */
function variable(name: string): string {
  return `$\{${name}}`
}
