/** What callers may choose about the local model, checked. */
import { basename, isAbsolute, join, resolve } from 'node:path'
import { parseIntegerOption } from '../../../domain/field-parsers.ts'
import { AppError } from '../../../lib/errors.ts'
import { findPackageFolder } from '../../../lib/package-folder.ts'
import { MINUTE_MS } from '../../../lib/time.ts'
import { ONNX_RUNTIMES, type RuntimePreference } from '../../runtime/onnx-runtime.ts'
import type { ModelLocation, ModelRequest } from './embedder-worker-protocol.ts'

export type LocalEmbedderOptions = {
  /**
   * `gte-small-int8`, which comes with the package (the default); the path of a folder, beginning with `/` or `./`; or
   * `owner/name` of a model on the hub.
   */
  readonly model?: string
  /** Where models of the hub are kept. */
  readonly cacheFolder?: string
  /** Whether a model of the hub that isn't kept yet may be downloaded. Default: no. */
  readonly allowDownload?: boolean
  readonly hubUrl?: string
  /** `auto` takes the native runtime where it can be loaded, and WebAssembly elsewhere. */
  readonly runtime?: RuntimePreference
  /** How many texts may wait, of queries and of documents each. */
  readonly queueMax?: number
  readonly threads?: number
  /** Where texts are cut. Half of what the default model could read: twice the length takes almost three times as long. */
  readonly tokensMax?: number
  /** How long a worker may take for one text before it is taken for stuck. */
  readonly answerTimeoutMs?: number
  /** Milliseconds from any beginning, for the pause after a failure. */
  readonly now?: () => number
}

export type LocalEmbedderSettings = {
  readonly name: string
  /** Null where it is not known. */
  readonly languages: readonly string[] | null
  readonly request: ModelRequest
  readonly queueMax: number
  readonly textLengthMax: number
  readonly answerTimeoutMs: number
  readonly now: () => number
}

export const DEFAULT_MODEL = 'gte-small-int8'
const LANGUAGES: ReadonlyMap<string, readonly string[]> = new Map([[DEFAULT_MODEL, ['en']]])
export const DEFAULT_TOKENS_MAX = 256
export const TOKENS_MIN = 4
const TOKENS_MAX = 8_192
const QUEUE_TEXTS = 4_096
const QUEUE_TEXTS_MAX = 65_536
const THREADS_MAX = 64
const ANSWER_MS_MAX = MINUTE_MS
const HUB_URL = 'https://huggingface.co'
/** Hardly a token stands for more. What lies beyond would be cut off after it was tokenised, which takes its time. */
const UNITS_PER_TOKEN = 16
/**
 * One thread. A second one made short texts no faster on two cores, and slower when the other core had work; it would
 * take from the server what it gives to the model.
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
    languages: place.kind === 'shipped' ? (LANGUAGES.get(place.name) ?? null) : null,
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
    return { kind: 'shipped', name, folder: join(findPackageFolder(), 'models', name) }
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
    throw new AppError(
      'invalid_input',
      `The model ${name} of the hub needs a cacheFolder to be kept in.`,
      { model: name },
    )
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
