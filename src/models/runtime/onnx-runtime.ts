/**
 * Runs ONNX models: natively where the native runtime loads, otherwise in WebAssembly, about four times slower. Outputs of
 * the two differ in the last digits.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { AppError } from '../../lib/errors.ts'
import { findPackageFolder } from '../../lib/package-folder.ts'
import { createDamagedFileError, type ModelFile, type ModelOrigin } from './model-files.ts'

export const ONNX_RUNTIMES = ['auto', 'native', 'wasm'] as const
export type RuntimePreference = (typeof ONNX_RUNTIMES)[number]

/** `scripts/vendor.mjs` puts both below `dist/vendor`. */
const NATIVE = { name: 'onnxruntime-node', entry: 'dist/index.cjs', version: '1.16.3' }
const WASM = { name: 'onnxruntime-web', entry: 'dist/ort.node.min.mjs' }
const WASM_BINARY = 'dist/ort-wasm-simd-threaded.wasm.br'
const LOG_ERRORS_ONLY = 3

/** The parts of the two packages' common API that are used here. */
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
    readonly wasm?: { numThreads?: number; wasmBinary?: Uint8Array }
  }
}

export type OnnxInput = {
  readonly ids: readonly number[]
  /** Token type ids, which separate the two texts of a pair; all zero by default. */
  readonly types?: readonly number[]
}

export type OnnxOutput = { readonly data: Float32Array; readonly dims: readonly number[] }

export type OnnxModel = {
  readonly name: string
  readonly threads: number
  readonly notNativeBecause: string | null
  run(input: OnnxInput): Promise<OnnxOutput>
}

/** `output` names the preferred output; a model without it uses its first one. */
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
    throw createDamagedFileError(origin, weights.file, `could not be loaded (${why})`)
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
  const onnx = await loadNative()
  const session = await onnx.InferenceSession.create(bytes, {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    // Memory patterns are planned per input length: 30 MB without a gain in speed.
    enableMemPattern: false,
    logSeverityLevel: LOG_ERRORS_ONLY,
  })
  return {
    name: `${NATIVE.name} ${onnx.env.versions.node ?? ''}`,
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
  const onnx = await importVendored(WASM)
  onnx.env.logLevel = 'error'
  if (onnx.env.wasm !== undefined) {
    onnx.env.wasm.numThreads = 1 // more would start worker threads
    onnx.env.wasm.wasmBinary ??= brotliDecompressSync(
      await readFile(vendoredFile(WASM.name, WASM_BINARY)),
    )
  }
  const session = await onnx.InferenceSession.create(bytes, {
    executionProviders: ['wasm'],
    logSeverityLevel: LOG_ERRORS_ONLY,
  })
  return {
    name: `${WASM.name} ${onnx.env.versions.web ?? ''}`,
    threads: 1,
    notNativeBecause,
    run: createRunner(onnx, session, output),
  }
}

/** A platform without a vendored binary may have the package itself installed. */
async function loadNative(): Promise<OnnxModule> {
  const { name, version } = NATIVE
  try {
    return await importVendored(NATIVE).catch(() => importModule(name))
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause)
    throw new AppError(
      'missing_part',
      `The package ${name} could not be loaded (${reason}). Run: npm install ${name}@${version}`,
      { package: name },
      cause,
    )
  }
}

function importVendored({ name, entry }: typeof WASM): Promise<OnnxModule> {
  return importModule(pathToFileURL(vendoredFile(name, entry)).href)
}

function vendoredFile(name: string, file: string): string {
  return join(findPackageFolder(), 'dist', 'vendor', name, file)
}

async function importModule(specifier: string): Promise<OnnxModule> {
  return (await import(specifier)) as OnnxModule // both packages have this interface
}

function createRunner(onnx: OnnxModule, session: Session, wanted: string): OnnxModel['run'] {
  const output = session.outputNames.includes(wanted) ? wanted : (session.outputNames[0] ?? '')
  return async (input) => {
    const tensor = (values: BigInt64Array) => new onnx.Tensor('int64', values, [1, values.length])
    const inputs = session.inputNames.map((name) => [name, tensor(valuesOf(name, input))])
    const { [output]: result } = await session.run(Object.fromEntries(inputs))
    if (!(result?.data instanceof Float32Array)) throw new Error(`${output} is not a float tensor`)
    return { data: result.data, dims: result.dims }
  }
}

/** A batch of one needs no padding, so the attention mask is all ones. */
function valuesOf(name: string, { ids, types }: OnnxInput): BigInt64Array {
  if (name === 'input_ids') return BigInt64Array.from(ids, BigInt)
  if (name === 'attention_mask') return new BigInt64Array(ids.length).fill(1n)
  if (name === 'token_type_ids') return BigInt64Array.from(types ?? ids.map(() => 0), BigInt)
  if (name === 'position_ids') return BigInt64Array.from(ids, (_, index) => BigInt(index))
  throw new AppError('invalid_input', `The model has an unsupported input: ${name}.`)
}
