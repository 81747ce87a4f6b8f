/**
 * Arrow tables as plain objects around typed arrays, which LanceDB accepts from any version of
 * Arrow. Rows as objects would be converted number by number.
 */

type ArrowType =
  | 'utf8'
  | 'float32'
  | 'float64'
  | {
      readonly typeId: number
      readonly listSize?: number
      readonly children: readonly ArrowField[]
    }

export type ArrowField = {
  readonly name: string
  readonly type: ArrowType
  readonly nullable: boolean
  readonly metadata: ReadonlyMap<string, string>
}
export type ArrowSchema = { readonly fields: readonly ArrowField[] }

type NullBitmap = { readonly nullCount: number; readonly nullBitmap?: Uint8Array }

type ArrowData = NullBitmap & {
  readonly type: ArrowType
  readonly offset: 0
  readonly length: number
  readonly values?: Uint8Array | Float32Array | Float64Array
  readonly valueOffsets?: Int32Array
  readonly children: readonly ArrowData[]
}
export type ArrowTable = {
  readonly schema: ArrowSchema
  readonly batches: readonly { readonly schema: ArrowSchema; readonly data: ArrowData }[]
}

/** Type numbers of the Arrow format. */
const STRUCT = 13
const FIXED_SIZE_LIST = 16
const BITMAP_ALIGNMENT_BITS = 64
const NO_METADATA: ReadonlyMap<string, string> = new Map()
/**
 * Marks the key, so that concurrent commits that insert the same key conflict; without it, both
 * rows would stay.
 */
const KEY_METADATA = new Map([['lance-schema:unenforced-primary-key:position', '1']])

export function createTextField(name: string, nullable = false): ArrowField {
  return { name, type: 'utf8', nullable, metadata: NO_METADATA }
}

export function createKeyField(name: string): ArrowField {
  return { name, type: 'utf8', nullable: false, metadata: KEY_METADATA }
}

export function createNumberField(name: string, nullable = false): ArrowField {
  return { name, type: 'float64', nullable, metadata: NO_METADATA }
}

export function createVectorField(name: string, dimensions: number): ArrowField {
  const item = { name: 'item', type: 'float32', nullable: true, metadata: NO_METADATA } as const
  const type = { typeId: FIXED_SIZE_LIST, listSize: dimensions, children: [item] }
  return { name, type, nullable: true, metadata: NO_METADATA }
}

/** The values of one field in all rows, in order. */
export type ColumnValues = readonly (string | number | Float32Array | null)[]

/** `columns` are in the order of the fields. */
export function createArrowTable(
  schema: ArrowSchema,
  columns: readonly ColumnValues[],
): ArrowTable {
  const length = columns[0]?.length ?? 0
  const children = schema.fields.map(({ type }, index) => columnData(type, columns[index] ?? []))
  const type = { typeId: STRUCT, children: schema.fields }
  const data = { type, offset: 0, length, nullCount: 0, children } as const
  return { schema, batches: [{ schema, data }] }
}

function columnData(type: ArrowType, values: ColumnValues): ArrowData {
  if (type === 'utf8') return textData(values)
  if (typeof type === 'object') return vectorData(type, values)
  const numbers = Float64Array.from(values, (value) => (typeof value === 'number' ? value : 0))
  return { ...plainData(type, values), values: numbers, children: [] }
}

function textData(values: ColumnValues): ArrowData {
  const texts = values.map((value) => Buffer.from(typeof value === 'string' ? value : '', 'utf8'))
  const valueOffsets = new Int32Array(values.length + 1)
  for (const [index, { length }] of texts.entries()) {
    valueOffsets[index + 1] = (valueOffsets[index] ?? 0) + length
  }
  return { ...plainData('utf8', values), values: Buffer.concat(texts), valueOffsets, children: [] }
}

function vectorData(type: Exclude<ArrowType, string>, values: ColumnValues): ArrowData {
  const dimensions = type.listSize ?? 0
  const numbers = new Float32Array(values.length * dimensions)
  for (const [index, value] of values.entries()) {
    if (value instanceof Float32Array) numbers.set(value, index * dimensions)
  }
  const { length } = numbers
  const item = { type: 'float32', offset: 0, length, nullCount: 0, children: [] } as const
  return { ...plainData(type, values), children: [{ ...item, values: numbers }] }
}

function plainData(type: ArrowType, values: ColumnValues) {
  return { type, offset: 0, length: values.length, ...nullsOf(values) } as const
}

function nullsOf(values: ColumnValues): NullBitmap {
  const nullCount = values.filter((value) => value === null).length
  if (nullCount === 0) return { nullCount }
  const words = Math.ceil(values.length / BITMAP_ALIGNMENT_BITS)
  const nullBitmap = new Uint8Array((words * BITMAP_ALIGNMENT_BITS) / 8)
  for (const [index, value] of values.entries()) {
    const byte = index >> 3
    if (value !== null) nullBitmap[byte] = (nullBitmap[byte] ?? 0) | (1 << (index & 7))
  }
  return { nullCount, nullBitmap }
}
