/** The bench of stores: people decide by its numbers, so they are tested. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { expect, it } from 'vitest'
import { seededRandom } from '../../bench/harness.ts'
import { BASE_DIMENSIONS, Corpus, type CorpusShape, writeBase } from '../../bench/recall/corpus.ts'
import { growthOf } from '../../bench/stores/load.ts'
import { fill, measureQueries } from '../../bench/stores/store-queries.ts'
import { shapesFor } from '../../bench/stores.ts'
import { bundled } from '../support/bundle.ts'
import { temporaryFile, temporaryFolder } from '../support/temporary-folder.ts'

const BASE_TEXTS = 50

it('[BS1] plans stores of 10,000 and 100,000 memories, of one owner and of 1,000', () => {
  const sizes = (scale: number) =>
    shapesFor(scale, 'base').map(({ memories, owners }) => [memories, owners])
  const usual = [
    [10_000, 1],
    [10_000, 1_000],
    [100_000, 1],
    [100_000, 1_000],
  ]
  expect(sizes(1)).toEqual(usual)
  expect(sizes(10)).toEqual([...usual, [1_000_000, 1], [1_000_000, 1_000]])
  expect(sizes(0.1).at(-1)).toEqual([10_000, 1_000])
})

it('[BS1] fills, queries and measures a store', async () => {
  const shape = shapeOf({ memories: 300, owners: 3 })
  const place = { kind: 'sqlite', folder: temporaryFolder(), isEncrypted: false } as const
  const shares: number[] = []
  const filled = await fill({ place, shape }, (share) => shares.push(share))
  const corpus = new Corpus(shape)
  const queries = await measureQueries({
    place,
    shape,
    nearest: corpus.nearest(corpus.questions(), 20),
  })
  expect(filled.writesPerSecond).toBeGreaterThan(0)
  expect(filled.diskMb).toBeGreaterThan(0)
  expect(shares.at(-1)).toBe(1)
  expect(queries.shareFound).toBe(1)
  expect(queries.hybrid.p95).toBeGreaterThanOrEqual(queries.hybrid.p50)
  expect(queries.rssMb).toBeGreaterThan(0)
})

it('[BS1] detects a store that does not find the nearest', async () => {
  const shape = shapeOf({ memories: 100, owners: 1 })
  const place = { kind: 'sqlite', folder: temporaryFolder(), isEncrypted: false } as const
  await fill({ place, shape }, () => {})
  const corpus = new Corpus(shape)
  const nearest = corpus.nearest(corpus.questions().slice(0, 10), 20)
  const others = nearest.map((numbers) => {
    const found = new Set(numbers)
    const rest = Array.from({ length: shape.memories }, (_, n) => n).filter((n) => !found.has(n))
    return [...numbers.slice(0, 5), ...rest.slice(0, 15)]
  })
  expect((await measureQueries({ place, shape, nearest: others })).shareFound).toBeCloseTo(0.25)
})

it('[BS2] the expected results are the nearest memories of the owner', () => {
  const corpus = new Corpus(shapeOf({ memories: 200, owners: 4 }))
  const questions = corpus.questions().slice(0, 8)
  const nearest = corpus.nearest(questions, 5)
  for (const [index, { owner, vector }] of questions.entries()) {
    const similarity = (number: number) =>
      corpus.vectorOf(number).reduce((sum, value, at) => sum + value * (vector[at] ?? 0), 0)
    const own = Array.from({ length: 200 }, (_, number) => number)
      .filter((number) => corpus.placeOf(number).owner === owner)
      .sort((a, b) => similarity(b) - similarity(a))
    expect(nearest[index]).toEqual(own.slice(0, 5))
  }
  expect(new Set(questions.map(({ owner }) => owner)).size).toBeGreaterThan(1)
})

it('[BS2] vectors depend only on those of the model', () => {
  const vectors = baseVectors()
  const together = new Float32Array([...vectors.flatMap((vector) => [...vector])])
  const parts = vectors.map((_, n) =>
    together.subarray(n * BASE_DIMENSIONS, (n + 1) * BASE_DIMENSIONS),
  )
  const apart = new Corpus(shapeOf({ memories: 10, owners: 1 }, vectors))
  const joined = new Corpus(shapeOf({ memories: 10, owners: 1 }, parts))
  expect(joined.vectorOf(3)).toEqual(apart.vectorOf(3))
})

it.skipIf(process.platform === 'win32')(
  '[BS3] an interrupted bench removes its files and ends its processes (skipped on Windows, which has no signals)',
  async () => {
    const program = await bundled('test/bench/interruption.child.ts')
    const cwd = temporaryFolder()
    const bench = spawn(process.execPath, [program], { cwd, stdio: ['ignore', 'pipe', 'ignore'] })
    const lines: string[] = []
    let before: readonly string[] = []
    createInterface({ input: bench.stdout }).on('line', (line) => {
      lines.push(line)
      before = runningNow(program)
      bench.kill('SIGTERM')
    })
    const [code] = await once(bench, 'close')
    expect(code).toBe(143)
    expect(lines).toEqual(['started'])
    expect(before).toHaveLength(2)
    expect(readdirSync(cwd)).toEqual([])
    expect(runningNow(program)).toEqual([])
  },
)

/** The processes of a program. */
function runningNow(program: string): readonly string[] {
  const commands = execFileSync('ps', ['-ww', '-eo', 'args'], { encoding: 'utf8' }).split('\n')
  return commands.filter((command) => command.includes(program) && command.includes('node'))
}

it('[BS4] two processes must answer 1.6 times as much as one if there are cores for them', () => {
  const one = { perSecond: 100, busyCores: 3 }
  const enough = growthOf('search', one, { perSecond: 170 }, 8)
  expect(enough.bars).toEqual([expect.objectContaining({ value: 1.7, holds: true })])
  expect(enough.notes).toEqual([])
  const missed = growthOf('search', one, { perSecond: 150 }, 8)
  expect(missed.bars).toEqual([expect.objectContaining({ value: 1.5, holds: false })])
})

it('[BS4] reports that one process leaves no cores free', () => {
  const { bars, notes } = growthOf(
    'search',
    { perSecond: 100, busyCores: 1.9 },
    { perSecond: 99 },
    2,
  )
  expect(bars).toEqual([])
  expect(notes).toEqual([expect.stringContaining("can't be judged on 2 cores")])
  expect(notes[0]).toContain('0.99 times')
})

function shapeOf(
  size: Pick<CorpusShape, 'memories' | 'owners'>,
  vectors: readonly Float32Array[] = baseVectors(),
): CorpusShape {
  const base = temporaryFile('base')
  writeBase(base, vectors)
  return { ...size, dimensions: BASE_DIMENSIONS, base }
}

function baseVectors(): readonly Float32Array[] {
  const random = seededRandom(1)
  return Array.from({ length: BASE_TEXTS }, () =>
    Float32Array.from({ length: BASE_DIMENSIONS }, () => random() - 0.5),
  )
}
