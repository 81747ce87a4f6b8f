/** The schema of the providers file, and its error messages. */
import { z } from 'zod'
import { API_FORMATS, type ApiFormat } from '../../domain/model-call.ts'
import { findClosestMatch } from '../../lib/closest-match.ts'
import { AppError } from '../../lib/errors.ts'
import { DAY_MS } from '../../lib/time.ts'
import {
  PROVIDER_KINDS,
  type ProviderKind,
  type ProviderModelConfig,
  type ProviderTimeouts,
  SYSTEM_ROLES,
  type SystemRole,
} from '../../models/provider.ts'
import { isReservedHeader } from '../../models/providers/upstream-headers.ts'

export type ProviderEntry = {
  readonly kind: ProviderKind
  readonly baseUrl: string | undefined
  readonly key: string | null
  /** The next four: of Amazon Bedrock only. */
  readonly region: string | undefined
  readonly accessKeyId: string | undefined
  readonly secretAccessKey: string | undefined
  readonly sessionToken: string | undefined
  readonly models: readonly ProviderModelConfig[]
  readonly systemRole: SystemRole | null
  readonly supportsTools: boolean | null
  readonly private: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly timeouts: Partial<ProviderTimeouts>
}

export type ProvidersFile = {
  readonly default: Readonly<Partial<Record<ApiFormat, string>>>
  readonly aliases: Readonly<Record<string, string>>
  readonly providers: Readonly<Record<string, ProviderEntry>>
}

const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const TIMEOUT_MS_MAX = DAY_MS

const text = z.string().trim().min(1)
const milliseconds = z.int().min(1).max(TIMEOUT_MS_MAX)
const systemRole = z.enum(SYSTEM_ROLES).nullable().default(null)
const supportsTools = z.boolean().nullable().default(null)

const timeouts = z.strictObject({
  connectMs: milliseconds.optional(),
  firstByteMs: milliseconds.optional(),
  idleMs: milliseconds.optional(),
})

const model = z.strictObject({
  id: text,
  contextWindow: z.int().min(1).nullable().default(null),
  systemRole,
  supportsTools,
})

const headerName = z
  .string()
  .regex(HEADER_NAME, 'must be a valid header name')
  .refine((name) => !isReservedHeader(name), 'must not be a header that is set per request')

const entry = z.strictObject({
  kind: z.preprocess(
    (kind) => (kind === 'openai-compatible' ? 'openai' : kind),
    z.enum(PROVIDER_KINDS),
  ),
  baseUrl: text.optional(),
  key: text.nullable().default(null),
  region: text.regex(/^[a-z0-9-]+$/, 'must be the name of a region, as in eu-central-1').optional(),
  accessKeyId: text.optional(),
  secretAccessKey: text.optional(),
  sessionToken: text.optional(),
  models: z
    .array(z.preprocess((each) => (typeof each === 'string' ? { id: each } : each), model))
    .default([]),
  systemRole,
  supportsTools,
  private: z.boolean().default(false),
  headers: z
    .record(
      headerName,
      z.string().regex(HEADER_VALUE, 'must not contain characters that are invalid in headers'),
    )
    .default({}),
  timeouts: timeouts.default({}),
})

const defaults = z.strictObject({
  chat: text.optional(),
  responses: text.optional(),
  messages: text.optional(),
  gemini: text.optional(),
})

const file = z.strictObject({
  default: z
    .preprocess(
      (value) =>
        typeof value === 'string'
          ? Object.fromEntries(API_FORMATS.map((format) => [format, value]))
          : value,
      defaults,
    )
    .default({}),
  aliases: z.record(text, text).default({}),
  providers: z
    .record(z.string().regex(NAME, 'must be a name of letters, digits and _.-'), entry)
    .default({}),
})

/** Messages call the file by `name`. */
export function parseProvidersFile(value: unknown, name: string): ProvidersFile {
  const result = file.safeParse(value)
  if (!result.success) {
    const sentences = result.error.issues.slice(0, FAULTS_SHOWN).map(describeFault)
    const field = result.error.issues[0]?.path.join('.') ?? ''
    throw new AppError('invalid_input', `${name}: ${sentences.join(' ')}`, { field })
  }
  // The schema omits absent fields; they are never undefined.
  const parsed = result.data as ProvidersFile
  checkNames(Object.entries(parsed.providers), name)
  return parsed
}

const FAULTS_SHOWN = 5

/** The known keys, by the path of the unknown one. */
function knownNames(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(file.shape)
  if (path[0] === 'default') return API_FORMATS
  if (path.length === 2) return Object.keys(entry.shape)
  return Object.keys(path[2] === 'timeouts' ? timeouts.shape : model.shape)
}

/** The schema's own messages never contain a value of the file, only the expectation. */
function describeFault(issue: z.core.$ZodIssue): string {
  if (issue.code === 'unrecognized_keys') {
    const known = knownNames(issue.path)
    return issue.keys.map((key) => describeUnknownKey(issue.path, key, known)).join(' ')
  }
  const where = issue.path.length === 0 ? 'the file' : `"${issue.path.join('.')}"`
  if (issue.code === 'invalid_key')
    return `${where} ${issue.issues[0]?.message ?? 'must be a valid name'}.`
  return `${where}: ${issue.message}.`
}

function describeUnknownKey(
  path: readonly PropertyKey[],
  key: string,
  known: readonly string[],
): string {
  const meant = findClosestMatch(key, known)
  const suggestion =
    meant === null ? ` Known are ${known.join(', ')}.` : ` Did you mean "${meant}"?`
  return `Unknown key "${[...path, key.slice(0, 60)].join('.')}".${suggestion}`
}

function checkNames(entries: readonly (readonly [string, ProviderEntry])[], file: string): void {
  const seen = new Set<string>()
  for (const [name, { kind }] of entries) {
    const known = name.toLowerCase()
    if (seen.has(known)) {
      const message = `${file}: two provider names differ only in case: ${name}.`
      throw new AppError('invalid_input', message, { provider: name })
    }
    if (known === 'demo' && kind !== 'demo') {
      const message = `${file}: the name "demo" is reserved for the built-in demo. Choose another.`
      throw new AppError('invalid_input', message, { provider: name })
    }
    seen.add(known)
  }
}
