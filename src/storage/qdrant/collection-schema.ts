/** The collection of a space: how it is made, and whether one that is there can be used. */
import { AppError } from '../../domain/errors.ts'
import { field } from '../../lib/json.ts'
import { type QdrantClient, statusOf, unknownForm } from './qdrant-client.ts'

/** Whether vectors are also kept smaller, to be looked through in memory; the best are compared exactly in any case. */
export const QUANTISATIONS = ['none', 'int8', 'binary'] as const
export type Quantisation = (typeof QUANTISATIONS)[number]

/** The name of our vector. A point of a zero vector has none, so it is there but is never found. */
export const VECTOR = 'meaning'

const CONFIGURATIONS = {
  none: 'Disabled',
  int8: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } },
  binary: { binary: { always_ram: true } },
} as const satisfies Record<Quantisation, unknown>

/**
 * Every search is of one owner, so each owner has a graph of its own (`payload_m`) and there is none across owners (`m`),
 * which nobody would walk and which costs most of the time of building. An owner with little is scanned, exactly.
 */
const HNSW = { m: 0, payload_m: 16 }

/**
 * What searches are filtered by. All of it is indexed, which hosted servers insist on. Only owners get graphs: those of
 * other fields would span owners and make again what `m: 0` saves.
 */
const INDEXES = {
  owner: { type: 'keyword', is_tenant: true },
  user: { type: 'keyword', enable_hnsw: false },
  session: { type: 'keyword', enable_hnsw: false },
  type: { type: 'keyword', enable_hnsw: false },
  expires_at: { type: 'integer', lookup: false, range: true, enable_hnsw: false },
} as const

/** Makes the collection where it is missing, completes one that is there, and refuses one that isn't fit. */
export async function ensureCollection(
  client: QdrantClient,
  name: string,
  dimensions: number,
  quantisation: Quantisation,
): Promise<void> {
  const path = `/collections/${name}`
  let info = await client.askIfThere('GET', path)
  if (info === null) {
    await createCollection(client, path, dimensions, quantisation)
    info = await client.ask('GET', path)
  }
  const config = field(info, 'config')
  refuseUnfitCollection(name, dimensions, field(field(config, 'params'), 'vectors'))
  await adjustQuantisation(client, path, field(config, 'quantization_config'), quantisation)
  await createIndexes(client, path, field(info, 'payload_schema'))
}

async function createCollection(
  client: QdrantClient,
  path: string,
  dimensions: number,
  quantisation: Quantisation,
): Promise<void> {
  // Those that are kept short are in memory; the whole ones are only read for the best.
  const whole = quantisation === 'none' ? {} : { on_disk: true }
  const wanted = {
    vectors: { [VECTOR]: { size: dimensions, distance: 'Cosine', ...whole } },
    hnsw_config: HNSW,
    ...(quantisation === 'none' ? {} : { quantization_config: CONFIGURATIONS[quantisation] }),
  }
  try {
    await client.ask('PUT', path, wanted)
  } catch (thrown) {
    const status = statusOf(thrown)
    // Somebody else made it in between, or an answer got lost and it was asked twice.
    if (status === 409) return
    throw status === 404 ? wrongAddress() : thrown
  }
}

function wrongAddress(): AppError {
  const message = 'There is no Qdrant at this address, or only under a longer one (404). Check it.'
  return new AppError('invalid_input', message, { status: 404 })
}

function refuseUnfitCollection(name: string, dimensions: number, vectors: unknown): void {
  const vector = field(vectors, VECTOR)
  const size = field(vector, 'size')
  if (field(vector, 'distance') !== 'Cosine' || typeof size !== 'number') {
    throw new AppError(
      'invalid_input',
      `The Qdrant collection ${name} was not made by Recollect. Remove it, or choose another prefix.`,
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

/** What somebody has tuned within one way of quantising is left as it is. */
async function adjustQuantisation(
  client: QdrantClient,
  path: string,
  current: unknown,
  wanted: Quantisation,
): Promise<void> {
  if (quantisationOf(current) === wanted) return
  await client.ask('PATCH', path, { quantization_config: CONFIGURATIONS[wanted] })
}

/** Null for one that we never set. */
function quantisationOf(config: unknown): Quantisation | null {
  if (config === undefined || config === null) return 'none'
  if (field(config, 'scalar') !== undefined) return 'int8'
  return field(config, 'binary') === undefined ? null : 'binary'
}

async function createIndexes(client: QdrantClient, path: string, present: unknown): Promise<void> {
  if (typeof present !== 'object' || present === null) throw unknownForm()
  for (const [name, schema] of Object.entries(INDEXES)) {
    if (Object.hasOwn(present, name)) continue
    await client.ask('PUT', `${path}/index?wait=true`, { field_name: name, field_schema: schema })
  }
}
