/**
 * The collection of a space: its creation, and the check whether an existing one is compatible.
 */
import { AppError } from '../../lib/errors.ts'
import { getField } from '../../lib/json.ts'
import { createInvalidResponseError, getHttpStatus, type QdrantClient } from './qdrant-client.ts'

/**
 * Quantization: vectors are also kept in a smaller form, in memory; the best candidates are
 * rescored exactly in any case.
 */
export const QUANTIZATIONS = ['none', 'int8', 'binary'] as const
export type Quantization = (typeof QUANTIZATIONS)[number]

/** The name of our vector. A point of a zero vector has none, so it exists but is never found. */
export const VECTOR_NAME = 'meaning'

const CONFIGURATIONS = {
  none: 'Disabled',
  int8: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } },
  binary: { binary: { always_ram: true } },
} as const satisfies Record<Quantization, unknown>

/**
 * Every search is of one owner, so each owner has its own graph (`payload_m`). A graph across
 * owners (`m`) would never be used and would take most of the build time. Small owners are scanned
 * exactly.
 */
const HNSW = { m: 0, payload_m: 16 }

/**
 * The fields that searches filter by. All of them are indexed, which hosted servers require. Only
 * the owner gets graphs: those of other fields would span owners and bring back what `m: 0` saves.
 */
const INDEXES = {
  owner: { type: 'keyword', is_tenant: true },
  user: { type: 'keyword', enable_hnsw: false },
  session: { type: 'keyword', enable_hnsw: false },
  type: { type: 'keyword', enable_hnsw: false },
  expires_at: { type: 'integer', lookup: false, range: true, enable_hnsw: false },
} as const

/** Creates a missing collection, completes an existing one, and rejects an incompatible one. */
export async function ensureCollection(
  client: QdrantClient,
  name: string,
  dimensions: number,
  quantisation: Quantization,
): Promise<void> {
  const path = `/collections/${name}`
  let info = await client.requestOrNull('GET', path)
  if (info === null) {
    await createCollection(client, path, dimensions, quantisation)
    info = await client.request('GET', path)
  }
  const config = getField(info, 'config')
  assertCollectionFits(name, dimensions, getField(getField(config, 'params'), 'vectors'))
  await updateQuantization(client, path, getField(config, 'quantization_config'), quantisation)
  await createIndexes(client, path, getField(info, 'payload_schema'))
}

async function createCollection(
  client: QdrantClient,
  path: string,
  dimensions: number,
  quantisation: Quantization,
): Promise<void> {
  // Quantized vectors stay in memory; the originals are only read to rescore the best.
  const whole = quantisation === 'none' ? {} : { on_disk: true }
  const wanted = {
    vectors: { [VECTOR_NAME]: { size: dimensions, distance: 'Cosine', ...whole } },
    hnsw_config: HNSW,
    ...(quantisation === 'none' ? {} : { quantization_config: CONFIGURATIONS[quantisation] }),
  }
  try {
    await client.request('PUT', path, wanted)
  } catch (thrown) {
    const status = getHttpStatus(thrown)
    // Another process created it concurrently, or a retry followed a lost response.
    if (status === 409) return
    throw status === 404 ? createWrongAddressError() : thrown
  }
}

function createWrongAddressError(): AppError {
  const message = 'No Qdrant server responds at this URL (404). Check the URL, including its path.'
  return new AppError('invalid_input', message, { status: 404 })
}

function assertCollectionFits(name: string, dimensions: number, vectors: unknown): void {
  const vector = getField(vectors, VECTOR_NAME)
  const size = getField(vector, 'size')
  if (getField(vector, 'distance') !== 'Cosine' || typeof size !== 'number') {
    throw new AppError(
      'invalid_input',
      `The Qdrant collection ${name} was not created by Recollect. Remove it, or choose another prefix.`,
      { collection: name },
    )
  }
  if (size === dimensions) return
  throw new AppError(
    'invalid_input',
    `The Qdrant collection ${name} holds vectors of ${size} dimensions where ${dimensions} are expected.`,
    { collection: name, dimensions: size, expected: dimensions },
  )
}

/** Manual tuning within one quantization type is preserved. */
async function updateQuantization(
  client: QdrantClient,
  path: string,
  current: unknown,
  wanted: Quantization,
): Promise<void> {
  if (readQuantization(current) === wanted) return
  await client.request('PATCH', path, { quantization_config: CONFIGURATIONS[wanted] })
}

/** Null for a type that we never set. */
function readQuantization(config: unknown): Quantization | null {
  if (config === undefined || config === null) return 'none'
  if (getField(config, 'scalar') !== undefined) return 'int8'
  return getField(config, 'binary') === undefined ? null : 'binary'
}

async function createIndexes(client: QdrantClient, path: string, present: unknown): Promise<void> {
  if (typeof present !== 'object' || present === null) throw createInvalidResponseError()
  for (const [name, schema] of Object.entries(INDEXES)) {
    if (Object.hasOwn(present, name)) continue
    await client.request('PUT', `${path}/index?wait=true`, {
      field_name: name,
      field_schema: schema,
    })
  }
}
