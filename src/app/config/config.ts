/**
 * Configuration from flags, environment variables and defaults, in this order. The only reader of
 * the environment. An unknown variable with our prefix is an error, so that a typo does not look
 * like success.
 */
import { isAbsolute, join, resolve } from 'node:path'
import type { GlobalFlags, RemoteServer, ScopeNames } from '../../api/cli/host.ts'
import type { ServerNetworkOptions } from '../../api/http/server-options.ts'
import type { ToolSets } from '../../api/mcp/tool-registry.ts'
import { VECTOR_ENCODINGS, type VectorEncoding } from '../../domain/embedding-text.ts'
import {
  parseSettings,
  type SettingName,
  type SettingValues,
} from '../../domain/settings/settings.ts'
import { findClosestMatch } from '../../lib/closest-match.ts'
import { AppError, toAppError } from '../../lib/errors.ts'
import { omitUndefined } from '../../lib/object.ts'
import {
  EMBEDDING_PROVIDER_TABLE,
  parseEmbeddingModel,
} from '../../models/embedders/remote/embedding-providers.ts'
import { RERANKER_PROVIDERS } from '../../models/rerankers/reranker-providers.ts'
import type { PostgresStoreOptions } from '../../storage/postgres/postgres-store.ts'
import { PGVECTOR_FALLBACKS } from '../../storage/postgres/schema/vector-schema.ts'
import {
  VECTOR_SEARCH_ENGINES,
  type VectorSearchEngine,
} from '../../storage/sqlite/sqlite-store.ts'
import {
  EMBEDDING_SOURCES,
  type EmbeddingOptions,
  type ProviderKeys,
  type RerankOptions,
} from '../models/model-selection.ts'

export const ENVIRONMENT = {
  RECOLLECT_DATA: 'The data folder, as `--data`.',
  RECOLLECT_OWNER: 'The owner of the memories, as `--owner`.',
  RECOLLECT_USER: 'The user within the owner, as `--user`.',
  RECOLLECT_ENCRYPTION_KEY_FILE:
    'The file with the key of an encrypted database, as `--encryption-key-file`.',
  RECOLLECT_ENCRYPTION_KEY: 'The key itself: 64 hex digits.',
  RECOLLECT_ENCRYPTION_PASSPHRASE: 'A passphrase instead of a key.',
  RECOLLECT_POSTGRES_URL:
    'Stores memories on a PostgreSQL server instead of in the data folder: its connection string, for example `postgresql://localhost/recollect`. Needs the package `pg`.',
  RECOLLECT_POSTGRES_SCHEMA: 'The PostgreSQL schema. Default: `recollect`.',
  RECOLLECT_POSTGRES_POOL_SIZE:
    'Maximum number of PostgreSQL connections per process. Default: 10.',
  RECOLLECT_POSTGRES_STATEMENT_TIMEOUT_MS:
    'Timeout of a PostgreSQL statement in milliseconds, lock waits included. Default: 30000; 0 for no limit.',
  RECOLLECT_POSTGRES_CONNECTION_TIMEOUT_MS:
    'How long a call waits for a free PostgreSQL connection, in milliseconds. Default: 10000.',
  RECOLLECT_POSTGRES_REPLICAS:
    'Connection strings of read replicas for searches, separated by commas.',
  RECOLLECT_POSTGRES_REPLICA_LAG_MS_MAX:
    'Maximum lag of a read replica behind the writes of other processes, in milliseconds. Default: 5000.',
  RECOLLECT_POSTGRES_ROW_LEVEL_SECURITY:
    '`1` enforces row-level security between owners in PostgreSQL. Once enabled, it stays on for the schema.',
  RECOLLECT_POSTGRES_PGVECTOR_FALLBACK:
    'Fallback without pgvector: `keyword` (the default: keyword search only) or `exact` (compare all vectors of an owner).',
  RECOLLECT_VECTOR_STORE: 'The setting `vectorStore.backend`.',
  RECOLLECT_QDRANT_URL: 'The setting `vectorStore.qdrantUrl`.',
  RECOLLECT_QDRANT_API_KEY:
    'The Qdrant API key. A key stored with `PUT /api/settings/qdrant` takes precedence.',
  RECOLLECT_LANCEDB_FOLDER: 'The setting `vectorStore.lancedbFolder`.',
  RECOLLECT_URL: 'The server that commands connect to, as `--url`.',
  RECOLLECT_API_KEY: 'The API key for that server, as `--key`.',
  RECOLLECT_HOST: 'The address that `serve` listens on. Default: 127.0.0.1.',
  RECOLLECT_PORT: 'The port of `serve`. Default: 20128.',
  RECOLLECT_TLS_CERT: 'The TLS certificate of `serve`, as `--tls-cert`.',
  RECOLLECT_TLS_KEY: 'The private key of the TLS certificate, as `--tls-key`.',
  RECOLLECT_TRUST_PROXY: '`1` when `serve` runs behind a reverse proxy, as `--trust-proxy`.',
  RECOLLECT_ALLOWED_HOSTS:
    'Additional host names of the server, separated by commas, as `--allow-host`.',
  RECOLLECT_ALLOWED_ORIGINS:
    'Origins of web pages that may call the server, separated by commas, as `--allow-origin`.',
  RECOLLECT_REQUESTS_PER_MINUTE: 'The setting `server.requestsPerMinute`.',
  RECOLLECT_PROVIDERS_FILE:
    'The file that configures the model providers of the gateway. Default: `providers.json` in the data folder.',
  RECOLLECT_GATEWAY_BODY_MB_MAX: 'Maximum size of a request to a model, in megabytes. Default: 32.',
  RECOLLECT_MCP_COMPATIBILITY_TOOLS:
    '`1` adds the tool names of other memory servers, as `mcp --compatibility-tools`.',
  RECOLLECT_MCP_EXTENDED_TOOLS:
    '`1` adds tools for conversations and maintenance, as `mcp --extended-tools`.',
  RECOLLECT_LOG_LEVEL:
    'The log level of the server: `silent`, `error`, `warn`, `info` or `debug`. Default: `info`, and `warn` on a terminal.',
  RECOLLECT_OTLP_ENDPOINT:
    'The OTLP endpoint for traces, for example `http://127.0.0.1:4318`. Default: `OTEL_EXPORTER_OTLP_ENDPOINT`; without either, no traces are exported.',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'The OTLP endpoint, under the name that other programs read.',
  RECOLLECT_TRACE_CONTENT:
    '`1` includes questions and memories in traces. They are never included otherwise.',
  RECOLLECT_EMBEDDING_SOURCE:
    'The embedding source: `auto` (the default: the remote model if one is configured with a key, else the local one), `transformers` (local), `static`, `remote`, or `none`.',
  RECOLLECT_EMBEDDING_MODEL:
    'The remote embedding model, for example `openai/text-embedding-3-small`.',
  RECOLLECT_EMBEDDING_API_KEY:
    'The API key for the embedding model. Default: the usual variable of the provider, for example `OPENAI_API_KEY`.',
  RECOLLECT_EMBEDDING_URL: 'The base URL of the embedding service, when it is not the default.',
  RECOLLECT_EMBEDDING_REQUESTS_PER_MINUTE:
    'Rate limit of the embedding service in requests per minute; further requests wait. Default: 0, no limit.',
  RECOLLECT_EMBEDDING_TOKENS_PER_MINUTE:
    'Rate limit of the embedding service in tokens per minute. Default: 0, no limit.',
  RECOLLECT_EMBEDDING_ALLOW_DOWNLOAD: '`1` allows downloading a missing local model from the hub.',
  RECOLLECT_RERANK_URL: 'The URL of a reranker that implements `POST /v1/rerank`.',
  RECOLLECT_RERANK_MODEL: 'The model of the reranker.',
  RECOLLECT_RERANK_API_KEY: 'The API key for the reranker.',
  RECOLLECT_RERANK_MODEL_FOLDER:
    'The folder of a local cross-encoder, instead of a remote reranker.',
  MEMORY_TRANSFORMERS_MODEL:
    'The local embedding model: a folder, or `owner/name` of one on the hub. Default: the built-in one.',
  MEMORY_STATIC_MODEL:
    'The static embedding model: a folder created by `scripts/models/distill-static.mjs`, or the name of one in `MEMORY_STATIC_CACHE_DIR`. Static models of the hub have another format and are not supported. Default: the included one.',
  MEMORY_STATIC_CACHE_DIR: 'The folder of models that are not included in the package.',
  MEMORY_VEC_QUANTIZATION:
    '`int8` stores vectors in a quarter of the space. Default: `float32`, also called `none`.',
  RECOLLECT_VECTOR_ENGINE:
    'The vector search of SQLite: `built-in` (the default) or `sqlite-vec`, which needs the package of that name, reads all vectors of an owner per search and blocks the process meanwhile.',
  RECOLLECT_VECTOR_CACHE_MB:
    'Memory limit for SQLite vectors in megabytes; the vectors of an owner that exceed it are read from disk per search. Default: 512.',
  MEMORY_VEC_TOP_K: 'The setting `recall.vectorCandidates`.',
  MEMORY_RRF_K: 'The setting `recall.rrfK`.',
  MEMORY_EMBEDDING_CACHE_MAX:
    'Maximum number of embeddings cached in memory. Default: 1000; 0 disables the cache.',
  MEMORY_EMBEDDING_CACHE_TTL_MS:
    'How long embeddings stay in the memory cache, in milliseconds. Default: 300000, five minutes.',
} as const

type VariableName = keyof typeof ENVIRONMENT

export type Environment = { readonly [name: string]: string | undefined }

export type KeySource = {
  readonly kind: 'file' | 'text' | 'passphrase'
  /** The path of the file, or the secret itself. */
  readonly value: string
  /** The option or variable that set it. */
  readonly origin: string
}

export type Config = {
  readonly dataFolder: string
  /** The explicitly configured value, from flag or variable; null for the default. */
  readonly explicitDataFolder: string | null
  readonly scope: ScopeNames
  /** The explicitly configured parts of the scope. */
  readonly explicitScope: Partial<ScopeNames>
  readonly key: KeySource | null
  /** The connection string of a PostgreSQL server that stores the memories. */
  readonly postgres: string | null
  /** Options of the PostgreSQL store. */
  readonly postgresOptions: Omit<PostgresStoreOptions, 'connectionString'>
  readonly remote: RemoteServer | null
  readonly server: ServerNetworkOptions
  readonly mcpTools: ToolSets
  readonly gateway: GatewayConfig
  /** Null: the default of the consumer. */
  readonly log: LogLevel | null
  readonly telemetry: { readonly endpoint: string | null; readonly traceContent: boolean }
  readonly listen: { readonly host: string; readonly port: number }
  readonly embedding: EmbeddingOptions
  readonly vectorForm: VectorEncoding
  readonly vectorSearch: VectorSearchEngine | null
  readonly vectorMemoryBytes: number | null
  /** The usual API key variables of the providers. */
  readonly providerKeys: ProviderKeys
  /** The API key for the Qdrant server that the environment names. */
  readonly qdrantKey: string | null
  readonly rerank: RerankOptions | null
  readonly settings: SettingValues
}

export type GatewayConfig = {
  readonly providersFile: string
  /** Whether the path was configured: then the file must exist. */
  readonly hasExplicitProvidersFile: boolean
  /** Null: the default. */
  readonly bodyBytesMax: number | null
}

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const

export type LogLevel = (typeof LOG_LEVELS)[number]

export type PlatformInfo = { readonly platform: NodeJS.Platform; readonly home: string }

const OWNER = 'default'
const HOST = '127.0.0.1'
const PORT = 20_128
const PORT_MAX = 65_535
const FOLDER = 'recollect'

export function readConfig(
  flags: GlobalFlags,
  environment: Environment,
  system: PlatformInfo,
): Config {
  assertKnownVariables(environment)
  // Shells express "not set" as an empty variable.
  const variable = (name: VariableName) => environment[name] || undefined
  const named: Partial<ScopeNames> = omitUndefined({
    owner: flags.owner ?? variable('RECOLLECT_OWNER'),
    user: flags.user ?? variable('RECOLLECT_USER'),
    session: flags.session,
  })
  const data = flags.data ?? variable('RECOLLECT_DATA')
  const dataFolder = resolve(data ?? defaultFolder(environment, system))
  return {
    dataFolder,
    explicitDataFolder: data === undefined ? null : resolve(data),
    scope: { owner: OWNER, ...named },
    explicitScope: named,
    key: keySource(flags, variable),
    postgres: readPostgresUrl(flags, variable),
    postgresOptions: readPostgres(variable),
    remote: readRemote(flags, variable),
    server: readServer(variable),
    mcpTools: {
      hasCompatibilityTools: parseSwitch('RECOLLECT_MCP_COMPATIBILITY_TOOLS', variable),
      hasExtendedTools: parseSwitch('RECOLLECT_MCP_EXTENDED_TOOLS', variable),
    },
    gateway: readGateway(dataFolder, variable),
    log: parseChoice('RECOLLECT_LOG_LEVEL', variable, LOG_LEVELS) ?? null,
    telemetry: {
      endpoint:
        variable('RECOLLECT_OTLP_ENDPOINT') ?? variable('OTEL_EXPORTER_OTLP_ENDPOINT') ?? null,
      traceContent: parseSwitch('RECOLLECT_TRACE_CONTENT', variable),
    },
    listen: {
      host: variable('RECOLLECT_HOST') ?? HOST,
      port: parsePort(ownPort(variable('RECOLLECT_PORT'))),
    },
    embedding: readEmbedding(variable, environment),
    vectorForm: readVectorForm(variable),
    vectorSearch: parseChoice('RECOLLECT_VECTOR_ENGINE', variable, VECTOR_SEARCH_ENGINES) ?? null,
    vectorMemoryBytes: bytesOf(parseWholeNumber('RECOLLECT_VECTOR_CACHE_MB', variable)),
    providerKeys: providerKeysIn(environment),
    qdrantKey: variable('RECOLLECT_QDRANT_API_KEY') ?? null,
    rerank: readRerank(variable),
    settings: readSettings(variable),
  }
}

type Variable = (name: VariableName) => string | undefined

/** Kubernetes injects variables for each service into every container, also under this prefix. */
function ownPort(text: string | undefined): string | undefined {
  return text?.startsWith('tcp://') === true ? undefined : text
}

const SETTING_VARIABLES = [
  ['MEMORY_RRF_K', 'recall.rrfK'],
  ['MEMORY_VEC_TOP_K', 'recall.vectorCandidates'],
  ['RECOLLECT_REQUESTS_PER_MINUTE', 'server.requestsPerMinute'],
] as const satisfies readonly (readonly [VariableName, SettingName])[]

const SETTING_TEXTS = [
  ['RECOLLECT_VECTOR_STORE', 'vectorStore.backend'],
  ['RECOLLECT_QDRANT_URL', 'vectorStore.qdrantUrl'],
  ['RECOLLECT_LANCEDB_FOLDER', 'vectorStore.lancedbFolder'],
] as const satisfies readonly (readonly [VariableName, SettingName])[]

function readSettings(variable: Variable): SettingValues {
  const sources = [
    ...SETTING_VARIABLES.map(
      ([name, setting]) => [name, setting, parseWholeNumber(name, variable)] as const,
    ),
    ...SETTING_TEXTS.map(([name, setting]) => [name, setting, variable(name)] as const),
  ]
  const values = sources.map(([name, setting, value]) => {
    try {
      return parseSettings({ [setting]: value })
    } catch (error) {
      // The user can only change the variable, so the message must name it.
      const { code, message } = toAppError(error)
      throw new AppError(code, message.replace(`\`${setting}\``, name), { variable: name })
    }
  })
  return Object.assign({}, ...values)
}

function readPostgres(variable: Variable): Config['postgresOptions'] {
  const poolSize = parseWholeNumber('RECOLLECT_POSTGRES_POOL_SIZE', variable)
  if (poolSize === 0) {
    throw new AppError('invalid_input', 'RECOLLECT_POSTGRES_POOL_SIZE must be at least 1.')
  }
  return {
    replicas: parseList(variable('RECOLLECT_POSTGRES_REPLICAS')),
    rowLevelSecurity: parseSwitch('RECOLLECT_POSTGRES_ROW_LEVEL_SECURITY', variable),
    ...omitUndefined({
      schema: variable('RECOLLECT_POSTGRES_SCHEMA'),
      poolSize,
      statementTimeoutMs: parseWholeNumber('RECOLLECT_POSTGRES_STATEMENT_TIMEOUT_MS', variable),
      connectionTimeoutMs: parseWholeNumber('RECOLLECT_POSTGRES_CONNECTION_TIMEOUT_MS', variable),
      replicaLagMsMax: parseWholeNumber('RECOLLECT_POSTGRES_REPLICA_LAG_MS_MAX', variable),
      pgvectorFallback: parseChoice(
        'RECOLLECT_POSTGRES_PGVECTOR_FALLBACK',
        variable,
        PGVECTOR_FALLBACKS,
      ),
    }),
  }
}

/** Two places for the memories are refused: either of them could be the one that was meant. */
function readPostgresUrl({ data }: GlobalFlags, variable: Variable): string | null {
  const url = variable('RECOLLECT_POSTGRES_URL') ?? null
  if (url === null || data === undefined) return url
  throw new AppError(
    'invalid_input',
    '`--data` and `RECOLLECT_POSTGRES_URL` must not be combined: memories are in a folder or on a server. Unset the variable, or omit `--data`; RECOLLECT_DATA sets the folder of models and files.',
  )
}

function readRemote(flags: GlobalFlags, variable: Variable): RemoteServer | null {
  if (flags.data !== undefined && flags.url !== undefined) {
    throw new AppError('invalid_input', 'Use --data or --url, not both: a folder, or a server.')
  }
  // An explicit folder overrides everything else.
  const url = flags.data === undefined ? (flags.url ?? variable('RECOLLECT_URL')) : undefined
  if (url === undefined) {
    if (flags.key === undefined) return null
    throw new AppError(
      'invalid_input',
      '--key requires --url, the address of a server. Set the key of an encrypted database with --encryption-key-file.',
    )
  }
  const origin = flags.url === undefined ? 'RECOLLECT_URL' : '--url'
  const key = flags.key ?? variable('RECOLLECT_API_KEY') ?? null
  if (key !== null && !/^[\x21-\x7e]+$/.test(key)) {
    const name = flags.key === undefined ? 'RECOLLECT_API_KEY' : '--key'
    throw new AppError(
      'invalid_input',
      `${name} must be a server's API key, which begins with rc_.`,
    )
  }
  return { url: serverAddress(url, origin), key, origin }
}

function serverAddress(text: string, origin: string): string {
  const url = URL.canParse(text) ? new URL(text) : null
  const isHttp = url?.protocol === 'http:' || url?.protocol === 'https:'
  if (url === null || !isHttp || url.username !== '' || url.search !== '' || url.hash !== '') {
    throw new AppError(
      'invalid_input',
      `${origin} must be the URL of a server, for example http://127.0.0.1:${PORT}.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function readServer(variable: Variable): ServerNetworkOptions {
  const certFile = variable('RECOLLECT_TLS_CERT')
  const keyFile = variable('RECOLLECT_TLS_KEY')
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new AppError(
      'invalid_input',
      'RECOLLECT_TLS_CERT and RECOLLECT_TLS_KEY must be set together.',
    )
  }
  return {
    tls: certFile === undefined || keyFile === undefined ? null : { certFile, keyFile },
    trustProxy: parseSwitch('RECOLLECT_TRUST_PROXY', variable),
    allowedHosts: parseList(variable('RECOLLECT_ALLOWED_HOSTS')),
    allowedOrigins: parseList(variable('RECOLLECT_ALLOWED_ORIGINS')),
  }
}

function readGateway(dataFolder: string, variable: Variable): GatewayConfig {
  const file = variable('RECOLLECT_PROVIDERS_FILE')
  return {
    providersFile: resolve(file ?? join(dataFolder, 'providers.json')),
    hasExplicitProvidersFile: file !== undefined,
    bodyBytesMax: bytesOf(parseWholeNumber('RECOLLECT_GATEWAY_BODY_MB_MAX', variable)),
  }
}

function bytesOf(megabytes: number | undefined): number | null {
  return megabytes === undefined ? null : megabytes * 1_048_576
}

function parseList(text: string | undefined): readonly string[] {
  return (text ?? '').split(',').flatMap((part) => (part.trim() === '' ? [] : [part.trim()]))
}

const ON = ['1', 'true', 'yes', 'on']
const OFF = ['0', 'false', 'no', 'off']

function parseSwitch(name: VariableName, variable: Variable): boolean {
  const text = variable(name)?.toLowerCase()
  if (text === undefined || OFF.includes(text)) return false
  if (ON.includes(text)) return true
  throw new AppError('invalid_input', `${name} takes 1 or 0, not "${text.slice(0, 40)}".`)
}

function readEmbedding(variable: Variable, environment: Environment): EmbeddingOptions {
  const remoteModel = variable('RECOLLECT_EMBEDDING_MODEL')
  const named = remoteModel === undefined ? null : parseEmbeddingModel(remoteModel)
  const usual = named === null ? undefined : providerKeysIn(environment)[named.provider]
  return omitUndefined({
    source: parseChoice('RECOLLECT_EMBEDDING_SOURCE', variable, EMBEDDING_SOURCES),
    remoteModel,
    apiKey: variable('RECOLLECT_EMBEDDING_API_KEY') ?? usual,
    url: variable('RECOLLECT_EMBEDDING_URL'),
    localModel: variable('MEMORY_TRANSFORMERS_MODEL'),
    staticModel: variable('MEMORY_STATIC_MODEL'),
    modelFolder: variable('MEMORY_STATIC_CACHE_DIR'),
    allowDownload: parseSwitch('RECOLLECT_EMBEDDING_ALLOW_DOWNLOAD', variable) ? true : undefined,
    requestsPerMinute:
      parseWholeNumber('RECOLLECT_EMBEDDING_REQUESTS_PER_MINUTE', variable) || undefined,
    tokensPerMinute:
      parseWholeNumber('RECOLLECT_EMBEDDING_TOKENS_PER_MINUTE', variable) || undefined,
    cacheEntriesMax: parseWholeNumber('MEMORY_EMBEDDING_CACHE_MAX', variable),
    cacheAgeMsMax: parseWholeNumber('MEMORY_EMBEDDING_CACHE_TTL_MS', variable),
  })
}

/** API keys under the names that the providers' own tools use, so that they are set only once. */
export function providerKeysIn(environment: Environment): ProviderKeys {
  const services = [
    ...Object.entries(EMBEDDING_PROVIDER_TABLE),
    ...Object.entries(RERANKER_PROVIDERS),
  ]
  const keys = services.flatMap(([provider, { apiKeyVariables }]) => {
    const key = apiKeyVariables.map((name) => environment[name]).find(Boolean)
    return key === undefined ? [] : [[provider, key] as const]
  })
  return Object.fromEntries(keys)
}

/** Other systems call full precision `none`. */
function readVectorForm(variable: Variable): VectorEncoding {
  const form = parseChoice('MEMORY_VEC_QUANTIZATION', variable, [...VECTOR_ENCODINGS, 'none'])
  return form === undefined || form === 'none' ? 'float32' : form
}

function readRerank(variable: Variable): RerankOptions | null {
  const folder = variable('RECOLLECT_RERANK_MODEL_FOLDER')
  const url = variable('RECOLLECT_RERANK_URL')
  if (folder !== undefined) return { folder }
  if (url === undefined) return null
  const apiKey = variable('RECOLLECT_RERANK_API_KEY')
  const model = variable('RECOLLECT_RERANK_MODEL')
  if (model === undefined) {
    throw new AppError('invalid_input', 'RECOLLECT_RERANK_URL needs RECOLLECT_RERANK_MODEL.')
  }
  return { url, model, ...(apiKey === undefined ? {} : { apiKey }) }
}

function parseChoice<Word extends string>(
  name: VariableName,
  variable: Variable,
  words: readonly Word[],
): Word | undefined {
  const text = variable(name)
  const word = words.find((candidate) => candidate === text)
  if (text === undefined || word !== undefined) return word
  throw new AppError('invalid_input', `${name} must be one of ${words.join(', ')}; got "${text}".`)
}

function parseWholeNumber(name: VariableName, variable: Variable): number | undefined {
  const text = variable(name)
  if (text === undefined || /^\d{1,9}$/.test(text)) {
    return text === undefined ? undefined : Number(text)
  }
  throw new AppError('invalid_input', `${name} must be a whole number; got "${text}".`)
}

/** Whether colors are enabled, see no-color.org. */
export function isColorEnabled(environment: Environment): boolean {
  return !environment.NO_COLOR && environment.TERM !== 'dumb'
}

/** The environment of this process. */
export function processEnvironment(): Environment {
  return process.env
}

function defaultFolder(environment: Environment, { platform, home }: PlatformInfo): string {
  if (platform === 'win32') {
    return join(environment.APPDATA || join(home, 'AppData', 'Roaming'), FOLDER)
  }
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', FOLDER)
  const xdg = environment.XDG_DATA_HOME
  // The XDG specification says to ignore relative paths.
  return join(xdg && isAbsolute(xdg) ? xdg : join(home, '.local', 'share'), FOLDER)
}

function keySource(
  flags: GlobalFlags,
  variable: (name: VariableName) => string | undefined,
): KeySource | null {
  if (flags.keyFile !== undefined) {
    return { kind: 'file', value: flags.keyFile, origin: `the file ${flags.keyFile}` }
  }
  const kinds = [
    ['RECOLLECT_ENCRYPTION_KEY_FILE', 'file'],
    ['RECOLLECT_ENCRYPTION_KEY', 'text'],
    ['RECOLLECT_ENCRYPTION_PASSPHRASE', 'passphrase'],
  ] as const
  const keySources = kinds.flatMap(([name, kind]): readonly KeySource[] => {
    const value = variable(name)
    return value === undefined ? [] : [{ kind, value, origin: name }]
  })
  if (keySources.length > 1) {
    const names = keySources.map((source) => source.origin).join(' and ')
    throw new AppError('invalid_input', `${names} are both set. Set only one of them.`)
  }
  return keySources[0] ?? null
}

function parsePort(text: string | undefined): number {
  if (text === undefined) return PORT
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(port) || port > PORT_MAX) {
    throw new AppError('invalid_input', `RECOLLECT_PORT must be a number from 0 to ${PORT_MAX}.`)
  }
  return port
}

/** Variables that Kubernetes and linked containers set for a service of our name. */
const CLUSTER_VARIABLE = /^RECOLLECT_(?:SERVICE_|PORT_|ENV_|NAME$)/

function assertKnownVariables(environment: Environment): void {
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('RECOLLECT_') || Object.hasOwn(ENVIRONMENT, name)) continue
    if (CLUSTER_VARIABLE.test(name)) continue
    const meant = findClosestMatch(name, Object.keys(ENVIRONMENT))
    const suggestion = meant === null ? '' : ` Did you mean ${meant}?`
    throw new AppError(
      'invalid_input',
      `Unknown environment variable ${name.slice(0, 60)}.${suggestion}`,
      { variable: name },
    )
  }
}
