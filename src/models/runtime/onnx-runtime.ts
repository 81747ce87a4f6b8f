/**
 * Runs networks in the ONNX format: natively where that can be loaded, in WebAssembly everywhere else (some four times
 * slower). What they give differs in the last digits.
 */
import { AppError } from '../../lib/errors.ts'
import { createDamagedFileError, type ModelFile, type ModelOrigin } from './model-files.ts'

export const ONNX_RUNTIMES = ['auto', 'native', 'wasm'] as const
export type RuntimePreference = (typeof ONNX_RUNTIMES)[number]

const NATIVE = 'onnxruntime-node'
const WASM = 'onnxruntime-web'
const NATIVE_VERSION = '1.16.3'
const LOG_ERRORS_ONLY = 3

/** Only what is used of the packages, so that building does not need the optional one. */
type Tensor = { readonly data: unknown; readonly dims: readonly number[] }
type Session = {
  readonly inputNames: readonly string[]
  readonly outputNames: readonly string[]
  run(inputs: Readonly<Record<string, Tensor>>): Promise<Readonly<Record<string, Tensor>>>
}
type OnnxModule = {
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<Session>
  }
  readonly Tensor: new (type: 'int64', data: BigInt64Array, dims: readonly number[]) => Tensor
  readonly env: {
    readonly versions: Readonly<Record<string, string | undefined>>
    logLevel?: string
    readonly wasm?: { numThreads?: number }
  }
}

/** What a network reads: one text, or two of which the tokens are told apart by their type. */
export type OnnxInput = {
  readonly ids: readonly number[]
  /** Left out when all are of the first type. */
  readonly types?: readonly number[]
}

export type OnnxOutput = { readonly data: Float32Array; readonly dims: readonly number[] }

export type OnnxModel = {
  readonly name: string
  readonly threads: number
  readonly notNativeBecause: string | null
  run(input: OnnxInput): Promise<OnnxOutput>
}

/** `output` is the one that is wanted; a network that has no such output gives its first. */
export async function openOnnxModel(
  origin: ModelOrigin,
  weights: Pick<ModelFile, 'file' | 'bytes'>,
  choice: RuntimePreference,
  threads: number,
  output: string,
): Promise<OnnxModel> {
  try {
    return await openChosen(weights.bytes, choice, threads, output)
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown
    const why = thrown instanceof Error ? thrown.message : String(thrown)
    throw createDamagedFileError(origin, weights.file, `can't be opened (${why})`)
  }
}

async function openChosen(
  bytes: Uint8Array,
  choice: RuntimePreference,
  threads: number,
  output: string,
): Promise<OnnxModel> {
  if (choice === 'wasm') return openWasm(bytes, output, null)
  if (choice === 'native') return openNative(bytes, threads, output)
  try {
    return await openNative(bytes, threads, output)
  } catch (thrown) {
    return openWasm(bytes, output, thrown instanceof Error ? thrown.message : String(thrown))
  }
}

async function openNative(bytes: Uint8Array, threads: number, output: string): Promise<OnnxModel> {
  const onnx = await load(NATIVE, NATIVE_VERSION)
  const session = await onnx.InferenceSession.create(bytes, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Plans for every length of text would take 30 MB, and gain nothing.
    enableMemPattern: false,
    logSeverityLevel: LOG_ERRORS_ONLY,
  })
  return {
    name: `${NATIVE} ${onnx.env.versions.node ?? ''}`,
    threads,
    notNativeBecause: null,
    run: createRunner(onnx, session, output),
  }
}

async function openWasm(
  bytes: Uint8Array,
  output: string,
  notNativeBecause: string | null,
): Promise<OnnxModel> {
  const onnx = await load(WASM, null)
  onnx.env.logLevel = 'error'
  if (onnx.env.wasm !== undefined) onnx.env.wasm.numThreads = 1 // more would start workers of its own
  const session = await onnx.InferenceSession.create(bytes, {
    executionProviders: ['wasm'],
    logSeverityLevel: LOG_ERRORS_ONLY,
  })
  return {
    name: `${WASM} ${onnx.env.versions.web ?? ''}`,
    threads: 1,
    notNativeBecause,
    run: createRunner(onnx, session, output),
  }
}

async function load(name: string, version: string | null): Promise<OnnxModule> {
  try {
    return (await import(name)) as OnnxModule // both packages have this interface
  } catch (cause) {
    const wanted = version === null ? name : `${name}@${version}`
    const why = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new AppError(
      'missing_part',
      `The package ${name} could not be loaded (${why}). Run: npm install ${wanted}`,
      { package: name },
      cause,
    )
  }
}

function createRunner(onnx: OnnxModule, session: Session, wanted: string): OnnxModel['run'] {
  const output = session.outputNames.includes(wanted) ? wanted : (session.outputNames[0] ?? '')
  return async (input) => {
    const tensor = (values: BigInt64Array) => new onnx.Tensor('int64', values, [1, values.length])
    const inputs = session.inputNames.map((name) => [name, tensor(valuesOf(name, input))])
    const { [output]: result } = await session.run(Object.fromEntries(inputs))
    if (!(result?.data instanceof Float32Array)) throw new Error(`${output} holds no numbers.`)
    return { data: result.data, dims: result.dims }
  }
}

/** One input at a time needs no padding: attention goes to every token. */
function valuesOf(name: string, { ids, types }: OnnxInput): BigInt64Array {
  if (name === 'input_ids') return BigInt64Array.from(ids, BigInt)
  if (name === 'attention_mask') return new BigInt64Array(ids.length).fill(1n)
  if (name === 'token_type_ids') return BigInt64Array.from(types ?? ids.map(() => 0), BigInt)
  if (name === 'position_ids') return BigInt64Array.from(ids, (_, index) => BigInt(index))
  throw new AppError('invalid_input', `The model wants an input that is not known: ${name}.`)
}
