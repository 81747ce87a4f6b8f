/** The scan over vectors, ready to be called. Its source is `scan.as`; `scan-kernel-module.ts` is made from it. */
import { SCAN_KERNEL_WASM } from './scan-kernel-module.ts'

/** See `scan.as` for what the parameters of all of them mean. */
type Scan = (
  rows: number,
  count: number,
  stride: number,
  query: number,
  unit: number,
  length: number,
  slack: number,
  place: number,
  results: number,
) => void

export type ScanKernel = {
  readonly scan: Scan
  readonly estimate: (a: number, b: number, count: number) => number
  readonly sketch: (
    rows: number,
    count: number,
    stride: number,
    centre: number,
    sketches: number,
    bytes: number,
  ) => void
  readonly countDifferences: (
    sketches: number,
    count: number,
    bytes: number,
    query: number,
    counts: number,
  ) => void
  readonly scanNear: (
    rows: number,
    count: number,
    stride: number,
    sketches: number,
    bytes: number,
    sketched: number,
    reach: number,
    query: number,
    unit: number,
    length: number,
    slack: number,
    first: number,
    chosen: number,
    results: number,
  ) => number
}

/** What a row gets that is not to be found. */
export const EXCLUDED_SCORE = -3.4028234663852886e38

/** What is used of the platform's WebAssembly: Node's types leave it to those of browsers. */
type WebAssemblyParts = {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => WasmMemory
  readonly Module: new (binary: Uint8Array) => object
  readonly Instance: new (
    module: object,
    imports: { readonly env: { readonly memory: WasmMemory } },
  ) => { readonly exports: ScanKernel }
}
export type WasmMemory = { readonly buffer: ArrayBuffer; grow(pages: number): number }

const { Memory, Module, Instance } = (
  globalThis as unknown as { readonly WebAssembly: WebAssemblyParts }
).WebAssembly // every Node that we support has it
const module = new Module(Buffer.from(SCAN_KERNEL_WASM, 'base64'))

/** Memory in pages of 64 KiB. */
export function createWasmMemory(initial: number, maximum: number): WasmMemory {
  return new Memory({ initial, maximum })
}

export function loadScanKernel(memory: WasmMemory): ScanKernel {
  return new Instance(module, { env: { memory } }).exports
}
