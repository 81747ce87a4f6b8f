/** Options of the local embedder, validated. */
import { basename, isAbsolute, join, resolve } from 'node:path'
import { parseIntegerOption } from '../../../domain/field-parsers.ts'
import { AppError } from '../../../lib/errors.ts'
import { findPackageFolder } from '../../../lib/package-folder.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { ONNX_RUNTIMES, type RuntimePreference } from '../../runtime/onnx-runtime.ts'
import type { ModelLocation, ModelRequest } from './embedder-worker-protocol.ts'

export type LocalEmbedderOptions = {
  /**
   * `gte-small-multilingual` (the default) or `gte-small-int8`, which ship with the package; the path of a folder,
   * starting with `/` or `./`; or `owner/name` of a model on the hub.
   */
  readonly model?: string
  /** Folder for models from the hub. */
  readonly cacheFolder?: string
  /** Whether to download a missing model from the hub. Default: false. */
  readonly allowDownload?: boolean
  readonly hubUrl?: string
  /** `auto` prefers the native runtime and falls back to WebAssembly. */
  readonly runtime?: RuntimePreference
  /** Queue limit in texts, for queries and documents separately. */
  readonly queueMax?: number
  readonly threads?: number
  /** Truncation limit. Half of what the default model reads: doubling it almost triples the time. */
  readonly tokensMax?: number
  /** Time per text after which the worker counts as stuck. */
  readonly answerTimeoutMs?: number
  /** Monotonic milliseconds, for the pause after a failure. */
  readonly now?: () => number
}

export type LocalEmbedderSettings = {
  readonly name: string
  /** Null when unknown. */
  readonly languages: readonly string[] | null
  readonly request: ModelRequest
  readonly queueMax: number
  readonly textLengthMax: number
  readonly answerTimeoutMs: number
  readonly now: () => number
}

export const DEFAULT_MODEL = 'gte-small-multilingual'

type ShippedModel = {
  readonly folder: string
  readonly multilingualFolder: string | null
  readonly languages: readonly string[]
}

/** The default embeds English with `gte-small-int8` and all else with a model whose vectors are mapped into its space. */
const SHIPPED_MODELS: ReadonlyMap<string, ShippedModel> = new Map([
  [
    DEFAULT_MODEL,
    {
      folder: 'gte-small-int8',
      multilingualFolder: 'use-multilingual-int3',
      languages: 'en ar de es fr it ja ko nl pl pt ru th tr zh'.split(' '),
    },
  ],
  ['gte-small-int8', { folder: 'gte-small-int8', multilingualFolder: null, languages: ['en'] }],
])

export function isShippedModel(name: string): boolean {
  return SHIPPED_MODELS.has(name)
}
export const DEFAULT_TOKENS_MAX = 256
export const TOKENS_MIN = 4
const TOKENS_MAX = 8_192
const QUEUE_TEXTS = 4_096
const QUEUE_TEXTS_MAX = 65_536
const THREADS_MAX = 64
const ANSWER_MS_MAX = MINUTE_MS
const HUB_URL = 'https://huggingface.co'
/** Bounds tokenization: few tokens are longer, and text beyond the limit would be truncated anyway. */
const UNITS_PER_TOKEN = 16
/**
 * One thread: a second one was no faster for short texts on two cores, slower under load, and takes CPU from the server.
 */
const DEFAULT_THREADS = 1

const SHIPPED_NAME = /^[A-Za-z0-9][\w.-]*$/
const HUB_NAME = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/

export function parseLocalOptions(options: LocalEmbedderOptions): LocalEmbedderSettings {
  const place = parseModelLocation(options)
  const runtime = options.runtime ?? 'auto'
  if (!ONNX_RUNTIMES.includes(runtime)) {
    throw new AppError('invalid_input', `runtime must be one of ${ONNX_RUNTIMES.join(', ')}.`)
  }
  const tokensMax =
    options.tokensMax === undefined
      ? null
      : parseIntegerOption('tokensMax', options.tokensMax, TOKENS_MIN, TOKENS_MAX)
  return {
    name: place.name,
    languages: SHIPPED_MODELS.get(place.kind === 'shipped' ? place.name : '')?.languages ?? null,
    request: {
      location: place,
      runtime,
      threads: parseIntegerOption('threads', options.threads ?? DEFAULT_THREADS, 1, THREADS_MAX),
      tokensMax,
    },
    queueMax: parseIntegerOption('queueMax', options.queueMax ?? QUEUE_TEXTS, 1, QUEUE_TEXTS_MAX),
    textLengthMax: (tokensMax ?? DEFAULT_TOKENS_MAX) * UNITS_PER_TOKEN,
    answerTimeoutMs: parseIntegerOption(
      'answerMsMax',
      options.answerTimeoutMs ?? ANSWER_MS_MAX,
      1,
      2 ** 31 - 1,
    ),
    now: options.now ?? (() => performance.now()),
  }
}

function parseModelLocation(options: LocalEmbedderOptions): ModelLocation {
  const name = options.model ?? DEFAULT_MODEL
  if (SHIPPED_NAME.test(name)) {
    const { folder = name, multilingualFolder = null } = SHIPPED_MODELS.get(name) ?? {}
    const models = join(findPackageFolder(), 'models')
    return {
      ...{ kind: 'shipped', name, folder: join(models, folder) },
      multilingualFolder: multilingualFolder === null ? null : join(models, multilingualFolder),
    }
  }
  if (HUB_NAME.test(name)) return parseHubLocation(name, options)
  if (isAbsolute(name) || /^\.{1,2}[\\/]/.test(name)) {
    const folder = resolve(name)
    return { kind: 'folder', name: basename(folder), folder }
  }
  throw new AppError(
    'invalid_input',
    'model must be the name of a model that comes with Recollect, owner/name of one on the hub, or the path of a folder beginning with / or ./',
  )
}

function parseHubLocation(name: string, options: LocalEmbedderOptions): ModelLocation {
  if (options.cacheFolder === undefined) {
    throw new AppError('invalid_input', `The model ${name} from the hub needs a cacheFolder.`, {
      model: name,
    })
  }
  const hubUrl = options.allowDownload === true ? parseHubUrl(options.hubUrl ?? HUB_URL) : null
  return { kind: 'hub', name, folder: join(resolve(options.cacheFolder), name), hubUrl }
}

function parseHubUrl(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new AppError('invalid_input', 'hubUrl must be an http or https address.')
  }
  return url.replace(/\/+$/, '')
}
