/**
 * `npm run bench -- recall`: how fast the engine answers by words and meaning, and what it needs for that.
 *
 * What is searched is described in `recall/corpus.ts`. Embedding the question is measured apart; everywhere else but
 * in the cold start its vector is known. Peers search the same vectors and texts in the same run, so that ratios hold
 * on a machine that is busy with other things.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  atLeast,
  atMost,
  type Bar,
  type BenchOptions,
  type BenchReport,
  type BenchRow,
  below,
  machine,
  round,
} from './harness.ts'
import { Plan, type Step } from './plan.ts'
import { BASE_DIMENSIONS, Corpus, type CorpusShape } from './recall/corpus.ts'
import { type Asked, type Filled, writesPerSecond } from './recall/own.ts'
import { installPeers, PEERS, type PeerCost, type PeerName } from './recall/peers.ts'
import { inProcess } from './recall/worker.ts'

const SMALLEST = 1_000
/** The size that the bars are about. */
const ORDINARY = 100_000
const OWNERS = 1_000
/** Fewer would be no memories of an owner, but one or two. */
const PER_OWNER_MIN = 10
const DIMENSIONS = [BASE_DIMENSIONS, 256]
const BASE_TEXTS = 1_000
const COMPARED_QUESTIONS = 50
const HITS = 20
const COLD_STARTS = 3

type Measured = {
  readonly rows: BenchRow[]
  readonly bars: Bar[]
}

type Compared = {
  readonly shape: CorpusShape
  readonly folder: string
  readonly nearest: readonly (readonly number[])[]
  /** What our own search by meaning takes. */
  readonly vectorMs: number
}

export async function benchRecall({ progress, scale }: BenchOptions): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const base = join(folder, 'base')
  const largest = Math.max(SMALLEST, Math.round(ORDINARY * scale))
  const ordinary = Math.min(ORDINARY, largest)
  const plan = new Plan(progress)
  const measured: Measured = { rows: [], bars: [] }

  plan.add('the built-in model', 60, (tell) =>
    modelRows(
      join(folder, 'model.db'),
      base,
      Math.ceil(BASE_TEXTS * Math.min(1, scale)),
      tell,
    ).then((rows) => measured.rows.push(...rows)),
  )
  for (const dimensions of DIMENSIONS) {
    for (let memories = SMALLEST; memories <= largest; memories *= 10) {
      const shape = { memories, owners: 1, dimensions, base }
      plan.add(nameOf(shape), secondsFor(memories), (tell) =>
        isOrdinary(shape, ordinary)
          ? measureOrdinary(shape, folder, measured, plan, tell)
          : measureStore(shape, folder, tell).then(({ row }) => void measured.rows.push(row)),
      )
      if (memories < OWNERS * PER_OWNER_MIN) continue
      const spread = { ...shape, owners: OWNERS }
      plan.add(nameOf(spread), secondsFor(memories), async (tell) => {
        const { row, asked } = await measureStore(spread, folder, tell)
        measured.rows.push(row)
        if (memories !== ORDINARY || dimensions !== BASE_DIMENSIONS) return
        measured.bars.push(
          atMost('hybrid recall p95, one of 1,000 owners × 100, ms', asked.hybrid.p95, 3),
        )
      })
    }
  }
  try {
    await plan.run()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return { bench: 'recall', machine: machine(), ...measured }
}

function isOrdinary({ memories }: CorpusShape, ordinary: number): boolean {
  return memories <= ordinary && memories * 10 > ordinary
}

/** The size that the bars are about: the engine, a cold start, and every peer on the same data. */
async function measureOrdinary(
  shape: CorpusShape,
  folder: string,
  measured: Measured,
  plan: Plan,
  tell: (share: number) => void,
): Promise<void> {
  const { rows, bars } = measured
  const corpus = new Corpus(shape)
  const questions = corpus.questions().slice(0, COMPARED_QUESTIONS)
  const nearest = corpus.nearest(questions, HITS)
  const path = storePath(shape, folder)
  const { row, asked } = await measureStore(shape, folder, tell, nearest)
  rows.push(row)
  const compared = { shape, folder, nearest, vectorMs: asked.vector.p50 }
  plan.addNext(PEERS.map((peer) => peerStep(peer, compared, measured, plan)))
  // The bars are about the vectors of the built-in model.
  if (shape.dimensions !== BASE_DIMENSIONS) return
  bars.push(
    atMost('hybrid recall p95 in an owner with 100,000, ms', asked.hybrid.p95, 25),
    atMost('event loop held by a search, ms', asked.hybridHeld.heldMs, 10),
    atLeast('vector search, share of the 20 nearest found', asked.shareFound ?? Number.NaN, 0.99),
  )

  const [question] = questions
  const starts: number[] = []
  for (let start = 0; start < COLD_STARTS && question !== undefined; start++) {
    const { owner, text } = question
    starts.push((await inProcess('answerOnce', { path, owner, text })).tookMs)
  }
  const coldMs = starts.sort((a, b) => a - b)[Math.floor(starts.length / 2)] ?? Number.NaN
  rows.push({
    what: `cold start, ${nameOf(shape)}: new process to first answer`,
    firstP50: round(coldMs),
  })
  bars.push(below('cold start to the first answer with 100,000, ms', coldMs, 2_000))
}

/** A peer on the same data, in a step of its own. */
function peerStep(
  peer: PeerName,
  { shape, folder, nearest, vectorMs }: Compared,
  { rows, bars }: Measured,
  plan: Plan,
): Step {
  const what = `${peer}, ${nameOf(shape)}`
  const leaveOut = (because: string) => {
    plan.remark(`left out: ${peer}. ${because}`)
    rows.push({ what: `${what}: left out. ${because}` })
  }
  return {
    what,
    seconds: secondsFor(shape.memories),
    work: async () => {
      const reason = needsInstalling(peer) ? installPeers(plan.say) : null
      if (reason !== null) return leaveOut(reason)
      const input = { peer, shape, folder: mkdtempSync(join(folder, 'peer-')), nearest }
      const cost = await inProcess('peer', input).catch((error: Error) => error)
      rmSync(input.folder, { recursive: true, force: true })
      if (cost instanceof Error) return leaveOut(cost.message)
      rows.push(peerRow(what, cost))
      if (peer !== 'sqlite-vec' || shape.dimensions !== BASE_DIMENSIONS) return
      const times = cost.vector.p50 / vectorMs
      bars.push(atLeast('vector search, times as fast as the float scan of sqlite-vec', times, 10))
    },
  }
}

function needsInstalling(peer: PeerName): boolean {
  return peer !== 'sqlite-vec' && peer !== 'JavaScript'
}

async function modelRows(
  path: string,
  base: string,
  texts: number,
  tell: (share: number) => void,
): Promise<readonly BenchRow[]> {
  const cost = await inProcess('model', { path, base, texts }, tell)
  return [
    {
      what: 'built-in model: one question',
      vectorP50: cost.question.p50,
      vectorP95: cost.question.p95,
    },
    { what: 'built-in model: import and index', perSecond: cost.importedPerSecond },
    { what: 'built-in model: remember and index', perSecond: cost.rememberedPerSecond },
    { what: 'built-in model: reindex', perSecond: cost.reindexedPerSecond },
  ]
}

async function measureStore(
  shape: CorpusShape,
  folder: string,
  tell: (share: number) => void,
  nearest: readonly (readonly number[])[] | null = null,
): Promise<{ readonly row: BenchRow; readonly asked: Asked }> {
  const path = storePath(shape, folder)
  const filled = await inProcess('fill', { shape, path }, tell)
  const asked = await inProcess('ask', { shape, path, nearest })
  return { row: storeRow(`recollect, ${nameOf(shape)}`, filled, asked), asked }
}

function storeRow(what: string, filled: Filled, asked: Asked): BenchRow {
  const { hybrid, first, keyword, vector, hybridHeld } = asked
  return {
    what,
    perSecond: writesPerSecond(filled),
    hybridP50: hybrid.p50,
    hybridP95: hybrid.p95,
    firstP50: round(first.p50),
    keywordP50: keyword.p50,
    keywordP95: keyword.p95,
    vectorP50: vector.p50,
    vectorP95: vector.p95,
    ...(asked.shareFound === null ? {} : { recallAt20: round(asked.shareFound) }),
    heldMs: round(hybridHeld.heldMs),
    heldMsMax: round(hybridHeld.heldMsMax),
    rssMb: asked.rssMb,
    diskMb: filled.diskMb,
  }
}

function peerRow(what: string, cost: PeerCost): BenchRow {
  const { hybrid, vector, held } = cost
  return {
    what,
    perSecond: cost.memoriesPerSecond,
    ...(hybrid === null ? {} : { hybridP50: hybrid.p50, hybridP95: hybrid.p95 }),
    vectorP50: vector.p50,
    vectorP95: vector.p95,
    recallAt20: round(cost.shareFound),
    heldMs: round(held.heldMs),
    heldMsMax: round(held.heldMsMax),
    rssMb: cost.rssMb,
    diskMb: cost.diskMb,
  }
}

function storePath({ memories, owners, dimensions }: CorpusShape, folder: string): string {
  return join(folder, `${memories}-${owners}-${dimensions}.db`)
}

function nameOf({ memories, owners, dimensions }: CorpusShape): string {
  const each = (memories / owners).toLocaleString('en')
  const whose = owners === 1 ? '1 owner' : `${owners.toLocaleString('en')} owners`
  return `${whose} × ${each} × ${dimensions}`
}

/** A guess, only for telling how long it will still take. */
function secondsFor(memories: number): number {
  return 10 + memories / 2_500
}
