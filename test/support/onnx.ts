/** ONNX files by hand: just enough of protocol buffers for networks of a few nodes. Numbers are those of onnx.proto. */

export type Field = readonly [number, number | string | Uint8Array]

export const FLOAT = 1
export const INT64 = 7

const OPSET = 13
const IR_VERSION = 8
const INTEGER_ATTRIBUTE = 2

export type Graph = {
  readonly nodes: readonly Uint8Array[]
  readonly constants: readonly Uint8Array[]
  readonly inputs: readonly Uint8Array[]
  readonly outputs: readonly Uint8Array[]
}

export function network({ nodes, constants, inputs, outputs }: Graph): Uint8Array {
  const graph = message(
    ...nodes.map((node): Field => [1, node]),
    [2, 'tiny'],
    ...constants.map((constant): Field => [5, constant]),
    ...inputs.map((input): Field => [11, input]),
    ...outputs.map((output): Field => [12, output]),
  )
  return message([1, IR_VERSION], [7, graph], [8, message([1, ''], [2, OPSET])])
}

export function node(
  operation: string,
  inputs: readonly string[],
  output: string,
  attributes: Readonly<Record<string, number>> = {},
): Uint8Array {
  return message(
    ...inputs.map((input): Field => [1, input]),
    [2, output],
    [4, operation],
    ...Object.entries(attributes).map(
      ([name, value]): Field => [5, message([1, name], [3, value], [20, INTEGER_ATTRIBUTE])],
    ),
  )
}

export function floats(name: string, dims: readonly number[], values: readonly number[]) {
  return constant(name, dims, FLOAT, new Uint8Array(Float32Array.from(values).buffer))
}

export function integers(name: string, values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(BigInt64Array.from(values, BigInt).buffer)
  return constant(name, [values.length], INT64, bytes)
}

function constant(name: string, dims: readonly number[], type: number, bytes: Uint8Array) {
  return message(...dims.map((dim): Field => [1, dim]), [2, type], [8, name], [9, bytes])
}

/** An input or output; a dimension with a name may have any size. */
export function tensorInfo(
  name: string,
  type: number,
  dims: readonly (string | number)[],
): Uint8Array {
  const shape = message(
    ...dims.map((dim): Field => [1, message(typeof dim === 'number' ? [1, dim] : [2, dim])]),
  )
  return message([1, name], [2, message([1, message([1, type], [2, shape])])])
}

/** A protobuf message: whole numbers as varints, everything else with its length before it. */
export function message(...fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.from([...varint(number * 8), ...varint(value)])
      const bytes = typeof value === 'string' ? Buffer.from(value) : value
      const head = [...varint(number * 8 + 2), ...varint(bytes.length)]
      return Buffer.concat([Buffer.from(head), bytes])
    }),
  )
}

function varint(value: number): readonly number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...varint(Math.floor(value / 128))]
}
