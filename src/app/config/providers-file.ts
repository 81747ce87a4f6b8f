/**
 * Providers: those of the file, and those that the environment implies. Parsing is strict, since a
 * misspelled key would otherwise be a setting that silently does nothing. Messages never contain a
 * secret.
 */
import { readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { API_FORMATS, type ApiFormat } from '../../domain/model-call.ts'
import { parseApiKey, parseBaseUrl } from '../../domain/service-endpoint.ts'
import { findClosestMatch } from '../../lib/closest-match.ts'
import { AppError } from '../../lib/errors.ts'
import type {
  Provider,
  ProviderKind,
  ProviderRegistry,
  ProviderTimeouts,
} from '../../models/provider.ts'
import { DEMO_MODEL } from '../../models/providers/demo/demo-upstream.ts'
import {
  getHost,
  isPrivateAllowed,
  parseProviderAddress,
} from '../../models/providers/ssrf-guard.ts'
import { readBedrockAccess } from './bedrock-access.ts'
import type { Environment } from './config.ts'
import { findJsonErrorLine } from './json-error-position.ts'
import { type ProviderEntry, type ProvidersFile, parseProvidersFile } from './providers-schema.ts'

export type ProviderOptions = {
  readonly path: string
  /** Whether the path was configured; the default file may be missing. */
  readonly isNamed: boolean
  readonly environment: Environment
}

export type ConfiguredRegistry = ProviderRegistry & {
  /** Warnings for the operator. */
  readonly warnings: readonly string[]
}

const BASE_URLS: Readonly<Record<ProviderKind, string | null>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  gemini: 'https://generativelanguage.googleapis.com/v1beta/openai',
  ollama: 'http://127.0.0.1:11434/v1',
  // Every resource has an address of its own.
  azure: null,
  // Every region has an address of its own.
  bedrock: null,
  demo: '',
}

/** Reasoning models may send nothing for minutes; their own clients wait as long. */
const TIMEOUTS: ProviderTimeouts = { connectMs: 10_000, firstByteMs: 600_000, idleMs: 300_000 }

/** Environment variables that imply a provider; the first one set wins. */
const IMPLIED = [
  ['openai', ['OPENAI_API_KEY']],
  ['anthropic', ['ANTHROPIC_API_KEY']],
  ['gemini', ['GEMINI_API_KEY', 'GOOGLE_API_KEY']],
] as const satisfies readonly (readonly [ProviderKind, readonly string[]])[]

export function readProviders(options: ProviderOptions): ConfiguredRegistry {
  const { path, environment } = options
  const text = readText(options)
  const raw = text === null ? {} : parseJson(text, path)
  const file = parseProvidersFile(expand(raw, [], path, environment), basename(path))
  const written = Object.entries(file.providers).map(([name, entry]) =>
    toProvider(name, entry, environment),
  )
  const providers = [...written, ...impliedProviders(environment).filter(isMissingIn(written))]
  const warnings = [
    ...(text !== null && holdsSecrets(raw) && canOthersRead(path) ? [readableWarning(path)] : []),
    ...written.flatMap(plaintextWarning),
  ]
  checkAliases(file, path)
  return {
    providers,
    aliases: file.aliases,
    defaults: resolveDefaults(file, providers, path),
    chosenDefaults: API_FORMATS.filter((format) => file.default[format] !== undefined),
    warnings,
  }
}

function readText({ path, isNamed }: ProviderOptions): string | null {
  try {
    return readFileSync(path, 'utf8').replace(/^\uFEFF/, '')
  } catch (thrown) {
    const code = Object(thrown).code
    if (code === 'ENOENT' && !isNamed) return null
    const what = code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`
    const codeOfError = code === 'ENOENT' ? 'not_found' : 'invalid_input'
    throw new AppError(codeOfError, `The providers file ${path} ${what}.`, { path })
  }
}

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    const line = findJsonErrorLine(text) ?? 1
    throw new AppError(
      'invalid_input',
      `${path} is not valid JSON: syntax error at or before line ${line}.`,
      { path, line },
    )
  }
}

/** `${NAME}` in any string is replaced by a variable. */
function expand(
  value: unknown,
  at: readonly string[],
  path: string,
  environment: Environment,
): unknown {
  if (typeof value === 'string') return expandText(value, at, path, environment)
  if (Array.isArray(value)) {
    return value.map((each, index) => expand(each, [...at, String(index)], path, environment))
  }
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(
    ([name, each]) => [name, expand(each, [...at, name], path, environment)] as const,
  )
  return Object.fromEntries(members)
}

function expandText(
  text: string,
  at: readonly string[],
  path: string,
  environment: Environment,
): string {
  const [section, provider] = at
  const whose =
    section === 'providers' && provider !== undefined ? ` of the provider ${provider}` : ''
  const where = `"${at.at(-1)}"${whose} in ${basename(path)}`
  return text.replaceAll(/\$\{([^}]*)\}?/g, (found: string, name: string) => {
    if (!found.endsWith('}') || !/^[A-Za-z_]\w*$/.test(name)) {
      const message = `${where} has a "\${" without a variable name, as in \${OPENAI_API_KEY}.`
      throw new AppError('invalid_input', message, { field: at.join('.') })
    }
    const value = environment[name]
    if (value !== undefined && value !== '') return value
    throw new AppError(
      'invalid_input',
      `The environment variable ${name} is not set, and ${where} needs it. Set it, or remove that line.`,
      {
        variable: name,
        field: at.join('.'),
        ...(whose === '' ? {} : { provider: provider ?? '' }),
      },
    )
  })
}

function toProvider(name: string, entry: ProviderEntry, environment: Environment): Provider {
  const { kind } = entry
  const bedrock = readBedrockAccess(name, entry, environment)
  const provider = {
    name,
    kind,
    baseUrl:
      kind === 'demo'
        ? ''
        : baseUrlOf(name, kind, entry.baseUrl ?? bedrock?.baseUrl ?? defaultUrl(name, kind)),
    key: parseApiKey(bedrock?.key ?? entry.key ?? undefined, `the provider ${name}`) ?? null,
    ...(bedrock === null ? {} : { aws: bedrock.aws }),
    models: kind === 'demo' && entry.models.length === 0 ? [DEMO] : entry.models,
    systemRole: entry.systemRole,
    supportsTools: entry.supportsTools,
    isPrivate: entry.private,
    headers: entry.headers,
    timeouts: { ...TIMEOUTS, ...entry.timeouts },
  }
  if (kind !== 'demo') parseProviderAddress(provider)
  return provider
}

/** Of the API that is the same for all models and versions. */
const AZURE_PATH = '/openai/v1'

const DEMO = {
  id: DEMO_MODEL,
  contextWindow: null,
  systemRole: null,
  supportsTools: null,
} as const

function defaultUrl(name: string, kind: ProviderKind): string {
  const url = BASE_URLS[kind]
  if (url !== null) return url
  throw new AppError(
    'invalid_input',
    `"baseUrl" of the provider ${name} is required: the address of the resource, as in https://name.openai.azure.com.`,
    { field: `providers.${name}.baseUrl`, provider: name },
  )
}

/** People copy what a tool shows them, and some tools omit `/v1`. */
function baseUrlOf(name: string, kind: ProviderKind, text: string): string {
  const url = parseBaseUrl(text, `the provider ${name}`)
  const isBare = new URL(url).pathname === '/'
  if (kind === 'azure') return isBare ? `${url}${AZURE_PATH}` : url
  const lacksVersion = kind === 'anthropic' ? !url.endsWith('/v1') : kind === 'ollama' && isBare
  return lacksVersion ? `${url}/v1` : url
}

function impliedProviders(environment: Environment): readonly Provider[] {
  const withKeys = IMPLIED.flatMap(([kind, variables]) => {
    const key = variables.map((variable) => environment[variable]).find((value) => value?.trim())
    return key === undefined ? [] : [implied(kind, key)]
  })
  return [...withKeys, implied('ollama', null), implied('demo', null)]
}

function implied(kind: ProviderKind, key: string | null): Provider {
  const entry = {
    ...{ kind, key, baseUrl: undefined, models: [], systemRole: null, supportsTools: null },
    ...{ region: undefined, accessKeyId: undefined, secretAccessKey: undefined },
    ...{ sessionToken: undefined, private: false, headers: {}, timeouts: {} },
  }
  return toProvider(kind, entry, {})
}

function isMissingIn(written: readonly Provider[]): (provider: Provider) => boolean {
  const names = new Set(written.map(({ name }) => name.toLowerCase()))
  return ({ name }) => !names.has(name)
}

/** An alias is resolved once, so an alias of an alias would lead nowhere. */
function checkAliases({ aliases }: ProvidersFile, path: string): void {
  for (const [name, target] of Object.entries(aliases)) {
    if (!Object.hasOwn(aliases, target)) continue
    throw new AppError(
      'invalid_input',
      `The alias ${name} in ${basename(path)} stands for another alias, ${target}. Name the model itself.`,
      { field: `aliases.${name}` },
    )
  }
}

function resolveDefaults(
  file: ProvidersFile,
  providers: readonly Provider[],
  path: string,
): ProviderRegistry['defaults'] {
  const entries = API_FORMATS.map((format) => {
    const wanted = file.default[format]
    if (wanted === undefined) return [format, impliedDefault(format, providers)] as const
    const found = providers.find(({ name }) => name.toLowerCase() === wanted.toLowerCase())
    if (found !== undefined) return [format, found.name] as const
    const meant = findClosestMatch(
      wanted,
      providers.map(({ name }) => name),
    )
    const suggestion = meant === null ? '' : ` Did you mean ${meant}?`
    throw new AppError(
      'invalid_input',
      `"default" in ${basename(path)} must name a provider; got ${wanted}.${suggestion}`,
      { field: 'default' },
    )
  })
  return Object.fromEntries(entries) as ProviderRegistry['defaults'] // one for each format
}

const IMPLIED_KINDS: Readonly<Record<ApiFormat, ProviderKind>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  gemini: 'gemini',
}

function impliedDefault(format: ApiFormat, providers: readonly Provider[]): string | null {
  const wanted = IMPLIED_KINDS[format]
  const first = providers.find(({ kind }) => kind === wanted)
  if (first !== undefined) return first.name
  // Ollama and the demo always exist, so they do not reveal the intended default.
  const [only, ...others] = providers.filter(({ kind }) => kind !== 'ollama' && kind !== 'demo')
  return only === undefined || others.length > 0 ? null : only.name
}

/** Whether the file itself contains a key. */
function holdsSecrets(raw: unknown): boolean {
  const entries = Object.values(Object(Object(raw).providers))
  return entries.some((entry) => {
    const { key, secretAccessKey, sessionToken, headers } = Object(entry)
    const values = Object.entries(Object(headers)).filter(([name]) => SECRET_HEADER.test(name))
    return [key, secretAccessKey, sessionToken, ...values.map(([, value]) => value)].some(isLiteral)
  })
}

const SECRET_HEADER = /auth|key|token|secret|cookie/i

function isLiteral(value: unknown): boolean {
  return typeof value === 'string' && value !== '' && !value.includes('${')
}

const OTHERS = 0o077

function canOthersRead(path: string): boolean {
  // Windows uses access control lists, which these mode bits do not reflect.
  return process.platform !== 'win32' && (statSync(path).mode & OTHERS) !== 0
}

function readableWarning(path: string): string {
  return `${path} contains keys, and other users of this machine can read it. Run: chmod 600 ${path}`
}

function plaintextWarning(provider: Provider): readonly string[] {
  if (provider.kind === 'demo') return []
  const url = new URL(provider.baseUrl)
  if (url.protocol === 'https:' || isPrivateAllowed(provider, url)) return []
  const { name } = provider
  return [
    `The provider ${name} uses http:// at ${getHost(url)}: keys and messages travel unencrypted.`,
  ]
}
