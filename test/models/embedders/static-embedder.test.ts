import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { innerProduct, quantizeVector } from '../../../src/lib/vector-math.ts'
import type { Embedder } from '../../../src/models/embedder.ts'
import { openStaticEmbedder } from '../../../src/models/embedders/static/static-embedder.ts'
import { describeEmbedder } from '../../conformance/models/embedder.suite.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const SHIPPED = 'models/static-gte-256'
const DIMENSIONS = 4
/** Along the last dimension nothing lies: that is where texts without a known piece are put. */
const VECTORS: Readonly<Record<string, readonly number[]>> = {
  '[UNK]': [0, 0, 0, 0],
  cat: [1, 0, 0, 0],
  '##s': [0.1, 0.1, 0, 0],
  sat: [0.9, 0.2, 0, 0],
  sitting: [0.9, 0.1, 0, 0],
  tax: [0, 1, 0, 0],
  friday: [0, 0.8, 0.3, 0],
  the: [0.01, 0.01, 0.01, 0],
  '[': [0, 0, 0.5, 0],
}

for (const [name, folder] of [
  ['static', writeFolder()],
  ['static, as shipped', SHIPPED],
] as const) {
  describeEmbedder(name, async () => {
    const embedder = openStaticEmbedder({ folder })
    // Its full name is known once it is loaded.
    await embedder.describe()
    return embedder
  })
}

it('[EM34] ships vectors that bring texts of nearly the same meaning together', async () => {
  const embedder = opened(SHIPPED)
  expect(await embedder.describe()).toMatchObject({ dimensions: 256, languages: ['en'] })
  for (const [question, answer, other] of [
    ['Where does Ann live?', 'Ann: I moved to a flat in Oslo.', 'Ann: I had soup at noon.'],
    ['What illness does Tom have?', 'Tom: The doctor says it is asthma.', 'Tom: I like old cars.'],
    ['Which pet do I own?', 'My puppy ate the cushions.', 'My printer is out of paper.'],
  ] as const) {
    const [asked, right, wrong] = await embed(embedder, [question, answer, other])
    expect(inner(asked, right), question).toBeGreaterThan(inner(asked, wrong))
  }
})

it('[EM30] gives a text the direction of the sum of its pieces', async () => {
  const embedder = opened(writeFolder())
  const [cats, twice, shouted] = await embed(embedder, ['cats', 'cats cats', '  THE cáts!'])
  expectNear(cats, unit([1.1, 0.1, 0, 0]))
  expectNear(twice, unit([1.1, 0.1, 0, 0]))
  expectNear(shouted, unit([1.11, 0.11, 0.01, 0]))
})

it('[EM30] puts a text without a known piece where no other text is', async () => {
  const embedder = opened(writeFolder())
  const [blank, unknown, cat] = await embed(embedder, ['', '漢字 zebra', 'cat'])
  expect([...(blank ?? [])]).toEqual([0, 0, 0, 1])
  expect(unknown).toEqual(blank)
  expect(cat?.[3]).toBe(0)
})

it('[EM30] reads names of special tokens in a text as text', async () => {
  const embedder = opened(writeFolder())
  const [special, bracket] = await embed(embedder, ['[UNK]', '['])
  expect(special).toEqual(bracket)
})

it('[EM31] reads the beginning of a very long text', async () => {
  const embedder = opened(writeFolder())
  const [long, cat] = await embed(embedder, [
    `${'cat '.repeat(5_000)}${'tax '.repeat(50_000)}`,
    'cat',
  ])
  expectNear(long, [...(cat ?? [])])
})

it('[EM31] lets other work have its turn between texts', async () => {
  const embedder = opened(writeFolder())
  await embedder.describe()
  let turns = 0
  let isDone = false
  const count = () => {
    turns++
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  await embed(embedder, Array<string>(20).fill('cat sat '.repeat(1_000)))
  isDone = true
  expect(turns).toBeGreaterThan(5)
})

it('[EM32] names the model after its folder and content', async () => {
  const [one, same] = [opened(writeFolder()), opened(writeFolder())]
  const other = opened(writeFolder({ ...VECTORS, cat: [0, 0, 1, 0] }))
  const names = await Promise.all([one, same, other].map(async (e) => (await e.describe()).model))
  expect(names[0]).toMatch(/^words@[0-9a-f]{8}$/)
  expect(names[1]).toBe(names[0])
  expect(names[2]).not.toBe(names[0])
})

it('[EM32] reports the languages that the folder declares', async () => {
  const folder = writeFolder()
  expect(await opened(folder).describe()).not.toHaveProperty('languages')
  rmSync(join(folder, 'SHA256SUMS'))
  writeFileSync(join(folder, 'model.json'), '{"format":1,"dimensions":4,"languages":["en"]}')
  expect((await opened(folder).describe()).languages).toEqual(['en'])
})

for (const file of ['model.json', 'vocabulary.txt', 'vectors.bin']) {
  it(`[EM33] says that ${file} is missing, and works once it is there`, async () => {
    const folder = writeFolder()
    const content = readFileSync(join(folder, file))
    rmSync(join(folder, file))
    const embedder = opened(folder)
    await expect(embed(embedder, ['cat'])).rejects.toMatchObject({
      code: 'missing_part',
      message: expect.stringContaining(file),
    })
    expect(embedder.report().state.kind).toBe('failing')
    writeFileSync(join(folder, file), content)
    expect(await embed(embedder, ['cat'])).toHaveLength(1)
    expect(embedder.report().state).toEqual({ kind: 'ready' })
  })

  it(`[EM33] refuses ${file} when it differs from its checksum`, async () => {
    const folder = writeFolder()
    const content = readFileSync(join(folder, file))
    content[content.length - 2] = (content[content.length - 2] ?? 0) ^ 1
    writeFileSync(join(folder, file), content)
    await expect(opened(folder).describe()).rejects.toMatchObject({
      code: 'damaged',
      facts: { path: join(folder, file) },
    })
  })
}

it('[EM33] says that the whole folder is missing', async () => {
  const embedder = opened(join(temporaryFolder(), 'nowhere'))
  expect(embedder.report()).toMatchObject({ model: 'nowhere', state: { kind: 'cold' } })
  await expect(embedder.describe()).rejects.toMatchObject({ code: 'missing_part' })
})

const BROKEN: readonly (readonly [string, string, string | Buffer])[] = [
  ['model.json', 'is no JSON', '{'],
  ['model.json', 'is no object', 'null'],
  ['model.json', 'is of another format', '{"format":2,"dimensions":4}'],
  ['model.json', 'has no dimensions', '{"format":1}'],
  ['model.json', 'has half a dimension', '{"format":1,"dimensions":2.5}'],
  ['model.json', 'has one language as a text', '{"format":1,"dimensions":4,"languages":"en"}'],
  ['vocabulary.txt', 'holds a piece twice', `${Object.keys(VECTORS).join('\n')}\ncat\n`],
  ['vocabulary.txt', 'has nothing for what is unknown', 'cat\nsat\n'],
  ['vocabulary.txt', 'has another number of pieces', '[UNK]\ncat\n'],
  ['vectors.bin', 'is too short', Buffer.alloc(7)],
  ['vectors.bin', 'holds a number that is not finite', Buffer.alloc(9 * (4 + DIMENSIONS), 0xff)],
]
for (const [file, how, content] of BROKEN) {
  it(`[EM33] refuses a folder without checksums whose ${file} ${how}`, async () => {
    const folder = writeFolder()
    rmSync(join(folder, 'SHA256SUMS'))
    expect((await opened(folder).describe()).dimensions).toBe(DIMENSIONS)
    writeFileSync(join(folder, file), content)
    await expect(opened(folder).describe()).rejects.toMatchObject({ code: 'damaged' })
  })
}

function opened(folder: string): Embedder {
  const embedder = openStaticEmbedder({ folder })
  onTestFinished(() => embedder.close())
  return embedder
}

function embed(embedder: Embedder, texts: readonly string[]): Promise<readonly Float32Array[]> {
  return embedder.embed(texts, { purpose: 'document' })
}

function writeFolder(vectors = VECTORS): string {
  const folder = join(temporaryFolder(), 'words')
  mkdirSync(folder)
  const rows = Object.values(vectors).map((vector) => quantizeVector(Float32Array.from(vector)))
  const files = {
    'model.json': Buffer.from(`{ "format": 1, "dimensions": ${DIMENSIONS} }\n`),
    'vocabulary.txt': Buffer.from(`${Object.keys(vectors).join('\n')}\n`),
    'vectors.bin': Buffer.concat([
      ...rows.map(({ scale }) => floatBytes(scale)),
      ...rows.map(({ bytes }) => Buffer.from(bytes.buffer)),
    ]),
  }
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folder, file), content)
  const sums = Object.entries(files).map(
    ([file, content]) => `${createHash('sha256').update(content).digest('hex')}  ${file}\n`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  return folder
}

function inner(a: Float32Array | undefined, b: Float32Array | undefined): number {
  return innerProduct(a ?? new Float32Array(), b ?? new Float32Array())
}

function floatBytes(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}

function unit(values: readonly number[]): readonly number[] {
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

/** Bytes round every number by up to half a percent. */
function expectNear(vector: Float32Array | undefined, expected: readonly number[]): void {
  expect(vector).toHaveLength(expected.length)
  for (const [at, value] of expected.entries()) expect(vector?.[at]).toBeCloseTo(value, 2)
}
