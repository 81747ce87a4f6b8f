/** How Amazon Bedrock is reached: its region and credentials, of the providers file or of the usual variables of AWS. */
import { AppError } from '../../lib/errors.ts'
import type { AwsAccess, AwsCredentials } from '../../models/provider.ts'
import type { Environment } from './config.ts'
import type { ProviderEntry } from './providers-schema.ts'

export type BedrockAccess = {
  readonly aws: AwsAccess
  readonly baseUrl: string
  /** An API key of Bedrock; null when requests are signed. */
  readonly key: string | null
}

const FIELDS = ['region', 'accessKeyId', 'secretAccessKey', 'sessionToken'] as const

/** Null for other kinds of providers, which have none of these fields. */
export function readBedrockAccess(
  name: string,
  entry: ProviderEntry,
  environment: Environment,
): BedrockAccess | null {
  if (entry.kind !== 'bedrock') {
    const field = FIELDS.find((each) => entry[each] !== undefined)
    if (field === undefined) return null
    throw fault(name, field, `is for providers of kind "bedrock" only; got kind "${entry.kind}"`)
  }
  const region = entry.region ?? textOf(environment, 'AWS_REGION', 'AWS_DEFAULT_REGION')
  if (region === undefined) {
    throw fault(name, 'region', 'is required, as in eu-central-1; AWS_REGION is not set either')
  }
  const baseUrl = `https://bedrock-runtime.${region}.amazonaws.com`
  const written = readWrittenCredentials(name, entry)
  // What the file says takes precedence over the environment, and there a key over credentials, as in the SDKs of AWS.
  const key =
    written === null ? (entry.key ?? textOf(environment, 'AWS_BEARER_TOKEN_BEDROCK') ?? null) : null
  if (key !== null) return { aws: { region, credentials: null }, baseUrl, key }
  const credentials = written ?? readEnvironmentCredentials(environment)
  if (credentials !== null) return { aws: { region, credentials }, baseUrl, key }
  throw fault(
    name,
    'accessKeyId',
    'and "secretAccessKey" are required, or "key" with an API key of Bedrock; AWS_ACCESS_KEY_ID and AWS_BEARER_TOKEN_BEDROCK are not set either',
  )
}

function readWrittenCredentials(name: string, entry: ProviderEntry): AwsCredentials | null {
  const { accessKeyId, secretAccessKey, sessionToken, key } = entry
  if (accessKeyId === undefined && secretAccessKey === undefined && sessionToken === undefined) {
    return null
  }
  if (accessKeyId === undefined) throw fault(name, 'accessKeyId', 'is required here')
  if (secretAccessKey === undefined) throw fault(name, 'secretAccessKey', 'is required here')
  if (key !== null) throw fault(name, 'key', 'must be absent where "accessKeyId" is set')
  return { accessKeyId, secretAccessKey, sessionToken: sessionToken ?? null }
}

function readEnvironmentCredentials(environment: Environment): AwsCredentials | null {
  const accessKeyId = textOf(environment, 'AWS_ACCESS_KEY_ID')
  const secretAccessKey = textOf(environment, 'AWS_SECRET_ACCESS_KEY')
  if (accessKeyId === undefined || secretAccessKey === undefined) return null
  const sessionToken = textOf(environment, 'AWS_SESSION_TOKEN') ?? null
  return { accessKeyId, secretAccessKey, sessionToken }
}

function textOf(environment: Environment, ...names: readonly string[]): string | undefined {
  return names.map((name) => environment[name]?.trim()).find((value) => value)
}

function fault(name: string, field: string, what: string): AppError {
  return new AppError('invalid_input', `"${field}" of the provider ${name} ${what}.`, {
    field: `providers.${name}.${field}`,
    provider: name,
  })
}
