/**
 * Turns an ONNX model with 32-bit weights into one with 8-bit weights that computes nearly the same.
 *
 * A product with a constant matrix becomes a product of bytes: what comes in is rounded to unsigned bytes while it
 * runs, each column of the matrix to signed bytes beforehand. The large table of word vectors is otherFields in bytes too.
 */
import { bytesField, integerField, readFields, text, texts } from './protobuf.mjs'

/** Field numbers of the messages of onnx.proto. */
const MODEL_GRAPH = 7
const GRAPH = { node: 1, tensor: 5 }
const NODE = { input: 1, output: 2, name: 3, operator: 4, attribute: 5 }
const ATTRIBUTE = { name: 1, integer: 3, type: 20 }
const TENSOR = { dimension: 1, type: 2, name: 8, data: 9 }
const FLOAT = 1
const INT8 = 3
const INTEGER_ATTRIBUTE = 2

/**
 * Seven bits for weights: processors without instructions for bytes add pairs of products in 16 bits, and
 * 2 × 255 × 63 fits where 2 × 255 × 127 would be cut off.
 */
const WEIGHT_MAX = 63
/** Word vectors are only looked up and scaled, so they have all eight. */
const WORD_MAX = 127
const WORD_TABLE = 'embeddings.word_embeddings.weight'

export function toInt8Model(model) {
  return Buffer.concat(
    readFields(model).map((field) =>
      field.number === MODEL_GRAPH ? bytesField(MODEL_GRAPH, toInt8Graph(field.value)) : field.raw,
    ),
  )
}

function toInt8Graph(graph) {
  const fields = readFields(graph)
  const nodes = fields.filter(({ number }) => number === GRAPH.node).map(readNode)
  const tensors = fields.filter(({ number }) => number === GRAPH.tensor).map(readTensor)
  const matrices = new Set(
    nodes.filter(({ operator }) => operator === 'MatMul').flatMap(({ inputs }) => inputs),
  )
  const replaced = tensors.filter(({ name }) => name === WORD_TABLE || matrices.has(name))
  const names = new Set(replaced.map(({ name }) => name))

  const otherFields = fields.filter(
    (field) =>
      field.number !== GRAPH.node &&
      !(field.number === GRAPH.tensor && names.has(readTensor(field).name)),
  )
  return Buffer.concat([
    ...rewriteNodes(nodes, names),
    ...otherFields.map(({ raw }) => raw),
    ...replaced.flatMap((tensor) =>
      tensor.name === WORD_TABLE ? tableInBytes(tensor) : matrixInBytes(tensor),
    ),
  ])
}

function rewriteNodes(nodes, replaced) {
  const rounded = new Set()
  return nodes.flatMap((node) => {
    const [first, second] = node.inputs
    if (node.operator === 'Gather' && replaced.has(first)) return lookUp(node)
    if (node.operator !== 'MatMul' || !replaced.has(second)) return [node.raw]
    // Several products read the same numbers, as query, key and value do: they are rounded once.
    const isFirst = !rounded.has(first)
    rounded.add(first)
    return isFirst ? [rounding(first), ...product(node)] : product(node)
  })
}

function lookUp({ inputs: [table, ids], outputs: [out] }) {
  return [
    makeNode('Gather', `${out}_gq`, [`${table}_q`, ids], [`${out}_gq`]),
    makeNode('Cast', `${out}_gf`, [`${out}_gq`], [`${out}_gf`], castTo(FLOAT)),
    makeNode('Gather', `${out}_gs`, [`${table}_s`, ids], [`${out}_gs`]),
    makeNode('Mul', `${out}_gm`, [`${out}_gf`, `${out}_gs`], [out]),
  ]
}

function rounding(input) {
  const outputs = [`${input}_dq`, `${input}_dqs`, `${input}_dqz`]
  return makeNode('DynamicQuantizeLinear', `${input}_DQL`, [input], outputs)
}

function product({ inputs: [left, matrix], outputs: [out] }) {
  return [
    makeNode('Mul', `${out}_sm`, [`${left}_dqs`, `${matrix}_s`], [`${out}_sm`]),
    makeNode(
      'MatMulInteger',
      `${out}_mmi`,
      [`${left}_dq`, `${matrix}_q`, `${left}_dqz`],
      [`${out}_i`],
    ),
    makeNode('Cast', `${out}_cast`, [`${out}_i`], [`${out}_f`], castTo(FLOAT)),
    makeNode('Mul', `${out}_mul`, [`${out}_f`, `${out}_sm`], [out]),
  ]
}

/** A matrix of inputs × outputs with one scale for each output. */
function matrixInBytes({ name, dimensions: [rows, columns], values }) {
  const at = (column, row) => row * columns + column
  const { scales, bytes } = inBytes(values, columns, rows, at, (largest) =>
    Math.fround(largest / WEIGHT_MAX),
  )
  return [
    makeTensor(`${name}_q`, [rows, columns], INT8, bytes),
    makeTensor(`${name}_s`, [columns], FLOAT, scales),
  ]
}

/** A table with one scale for each row. */
function tableInBytes({ name, dimensions: [rows, columns], values }) {
  const at = (row, column) => row * columns + column
  const { scales, bytes } = inBytes(values, rows, columns, at, (largest) => largest / WORD_MAX)
  return [
    makeTensor(`${name}_q`, [rows, columns], INT8, bytes),
    makeTensor(`${name}_s`, [rows, 1], FLOAT, scales),
  ]
}

/**
 * Rounds groups of numbers to whole steps, each group by the scale of its largest number. How exact the scale is while
 * dividing decides some thousand of 33 million roundings, and with them whether the file comes out the same to the byte.
 */
function inBytes(values, groups, members, at, scaleOf) {
  const scales = new Float32Array(groups)
  const bytes = new Int8Array(values.length)
  for (let group = 0; group < groups; group++) {
    let largest = 0
    for (let member = 0; member < members; member++) {
      largest = Math.max(largest, Math.abs(values[at(group, member)]))
    }
    const scale = largest === 0 ? 1 : scaleOf(largest)
    scales[group] = scale
    for (let member = 0; member < members; member++) {
      const place = at(group, member)
      bytes[place] = Math.round(values[place] / scale)
    }
  }
  return { scales, bytes }
}

function readNode({ value, raw }) {
  const fields = readFields(value)
  return {
    operator: text(fields, NODE.operator),
    inputs: texts(fields, NODE.input),
    outputs: texts(fields, NODE.output),
    raw,
  }
}

function readTensor({ value }) {
  const fields = readFields(value)
  const data = fields.find(({ number }) => number === TENSOR.data)?.value ?? new Uint8Array()
  return {
    name: text(fields, TENSOR.name),
    dimensions: fields.filter(({ number }) => number === TENSOR.dimension).map((f) => f.value),
    // A view needs numbers that begin at a multiple of four, which bytes inside a file seldom do.
    get values() {
      return new Float32Array(Uint8Array.from(data).buffer)
    },
  }
}

function makeNode(operator, name, inputs, outputs, attribute = []) {
  return bytesField(
    GRAPH.node,
    Buffer.concat([
      ...inputs.map((input) => bytesField(NODE.input, input)),
      ...outputs.map((output) => bytesField(NODE.output, output)),
      bytesField(NODE.name, name),
      bytesField(NODE.operator, operator),
      ...attribute,
    ]),
  )
}

function castTo(type) {
  const attribute = Buffer.concat([
    bytesField(ATTRIBUTE.name, 'to'),
    integerField(ATTRIBUTE.integer, type),
    integerField(ATTRIBUTE.type, INTEGER_ATTRIBUTE),
  ])
  return [bytesField(NODE.attribute, attribute)]
}

function makeTensor(name, dimensions, type, values) {
  return bytesField(
    GRAPH.tensor,
    Buffer.concat([
      ...dimensions.map((size) => integerField(TENSOR.dimension, size)),
      integerField(TENSOR.type, type),
      bytesField(TENSOR.name, name),
      bytesField(TENSOR.data, Buffer.from(values.buffer, values.byteOffset, values.byteLength)),
    ]),
  )
}
