/**
 * `npm run bench -- recall`: how fast the engine answers by words and meaning, and what it needs for that.
 *
 * What is searched is described in `recall/corpus.ts`. Embedding the question is measured apart; everywhere else but
 * in the cold start its vector is known. Peers search the same vectors and texts in the same run, so that ratios hold
 * on a machine that is busy with other things. Bars on an owner with turns are scaled to the machine (`calibration.ts`).
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Calibration, calibrate, calibrationRow, scaledLimit } from './calibration.ts'
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
import { type Filled, type QueryResult, writesPerSecond } from './recall/engine-queries.ts'
import type { LargeOwnerFill, LargeOwnerInput, RecallCost } from './recall/large-owner.ts'
import { installPeers, PEERS, type PeerCost, type PeerName } from './recall/peers.ts'
import { inProcess } from './recall/worker.ts'
import { type BenchServer, startBenchServer } from './stores/server.ts'
import type { StorePlace } from './stores/store-connection.ts'

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

/** 100,000 turns and 10,000 facts of one owner. */
const LARGE_OWNER_DOCUMENTS = 110_000
const LARGE_OWNER_MS_MAX = { sqlite: 20, postgres: 60 } as const
/** A question to a small owner, in a store with a large one, against the same in a store of its own. */
const STORE_GROWTH_MAX = 1.5
/** A question while turns are embedded, against one to an idle server. */
const EMBEDDING_DELAY_MAX = 1.2

/** What `--only` can choose. */
export const RECALL_PARTS = ['sizes', 'large-owner', 'background-embedding'] as const
type RecallPart = (typeof RECALL_PARTS)[number]

type Measured = {
  readonly rows: BenchRow[]
  readonly bars: Bar[]
  readonly notes: string[]
}

type Compared = {
  readonly shape: CorpusShape
  readonly folder: string
  readonly nearest: readonly (readonly number[])[]
  /** What our own search by meaning takes. */
  readonly vectorMs: number
}

type Run = {
  readonly folder: string
  readonly base: string
  readonly scale: number
  readonly plan: Plan
  readonly measured: Measured
}

export async function benchRecall({ progress, scale, only }: BenchOptions): Promise<BenchReport> {
  const folder = mkdtempSync(join(tmpdir(), 'recollect-bench-'))
  const base = join(folder, 'base')
  const plan = new Plan(progress)
  const measured: Measured = { rows: [], bars: [], notes: [] }
  const run: Run = { folder, base, scale, plan, measured }
  const isWanted = (part: RecallPart) => only === undefined || only === part
  let server: BenchServer | null = null
  try {
    if (isWanted('sizes')) planSizes(run)
    else {
      plan.add('vectors by the built-in model', 30, (tell) =>
        inProcess('base', { path: base, texts: baseTexts(scale) }, tell),
      )
    }
    if (isWanted('large-owner') || isWanted('background-embedding')) {
      progress('calibrating')
      const calibration = await calibrate()
      measured.rows.push(calibrationRow(calibration))
      server = isWanted('large-owner') ? await serverFor(run) : null
      planLargeOwner(run, server, calibration, isWanted)
    }
    await plan.run()
  } finally {
    await server?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { bench: 'recall', machine: machine(), ...measured }
}

function baseTexts(scale: number): number {
  return Math.ceil(BASE_TEXTS * Math.min(1, scale))
}

async function serverFor({ plan, measured }: Run): Promise<BenchServer | null> {
  plan.say('starting PostgreSQL')
  const server = await startBenchServer()
  if ('reason' in server) {
    measured.notes.push(`Left out: PostgreSQL. ${server.reason}`)
    return null
  }
  measured.notes.push(`${server.facts}.`)
  return server
}

function planSizes({ folder, base, scale, plan, measured }: Run): void {
  const largest = Math.max(SMALLEST, Math.round(ORDINARY * scale))
  const ordinary = Math.min(ORDINARY, largest)
  plan.add('the built-in model', 60, (tell) =>
    modelRows(join(folder, 'model.db'), base, baseTexts(scale), tell).then((rows) =>
      measured.rows.push(...rows),
    ),
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
        const { row, queries } = await measureStore(spread, folder, tell)
        measured.rows.push(row)
        if (memories !== ORDINARY || dimensions !== BASE_DIMENSIONS) return
        measured.bars.push(
          atMost('hybrid recall p95, one of 1,000 owners × 100, ms', queries.hybrid.p95, 3),
        )
      })
    }
  }
}

/** One owner with turns and facts on each store; the one on SQLite is then queried while turns are embedded. */
function planLargeOwner(
  { folder, base, scale, plan, measured }: Run,
  server: BenchServer | null,
  calibration: Calibration,
  isWanted: (part: RecallPart) => boolean,
): void {
  const memories = Math.round(LARGE_OWNER_DOCUMENTS * Math.min(1, scale))
  const shape: CorpusShape = { memories, owners: 1, dimensions: BASE_DIMENSIONS, base }
  const seconds = secondsFor(memories)
  const sqlite = (name: string): StorePlace => {
    const store = join(folder, name)
    mkdirSync(store)
    return { kind: 'sqlite', folder: store, isEncrypted: false }
  }
  const place = sqlite('large-owner')
  if (isWanted('large-owner')) {
    const places = { place, separate: sqlite('small-owner') }
    plan.add('a large owner on SQLite', 2 * seconds, (tell) =>
      measureLargeOwner(
        'SQLite',
        places,
        shape,
        LARGE_OWNER_MS_MAX.sqlite,
        calibration,
        measured,
        tell,
      ),
    )
    if (server !== null) {
      const postgres = (schema: string): StorePlace => ({
        ...({ kind: 'postgres', url: server.url, schema, serverFolder: server.folder } as const),
      })
      const onServer = { place: postgres('bench_large'), separate: postgres('bench_small') }
      plan.add('a large owner on PostgreSQL', 4 * seconds, (tell) =>
        measureLargeOwner(
          'PostgreSQL',
          onServer,
          shape,
          LARGE_OWNER_MS_MAX.postgres,
          calibration,
          measured,
          tell,
        ),
      )
    }
  } else {
    plan.add('filling a large owner on SQLite', seconds, (tell) =>
      inProcess('fillLargeOwner', { place, shape, isSmallAlone: false }, tell),
    )
  }
  if (!isWanted('background-embedding')) return
  plan.add('questions while turns are embedded', 120, async (tell) => {
    const { idle, embedding, embeddedPerSecond } = await inProcess(
      'queryWhileEmbedding',
      { place, shape },
      tell,
    )
    const what = 'questions with the built-in model, SQLite, 100,000 turns and 10,000 facts'
    measured.rows.push(
      { what: `${what}: idle`, hybridP50: idle.p50, hybridP95: idle.p95 },
      {
        what: `${what}: while turns are embedded`,
        perSecond: embeddedPerSecond,
        hybridP50: embedding.p50,
        hybridP95: embedding.p95,
      },
    )
    measured.bars.push(
      atMost(
        'recall p95 while turns are embedded, times that of an idle server',
        embedding.p95 / idle.p95,
        EMBEDDING_DELAY_MAX,
      ),
    )
  })
}

type LargeOwnerPlaces = { readonly place: StorePlace; readonly separate: StorePlace }

async function measureLargeOwner(
  store: string,
  { place, separate }: LargeOwnerPlaces,
  shape: CorpusShape,
  limitMs: number,
  calibration: Calibration,
  { rows, bars }: Measured,
  tell: (share: number) => void,
): Promise<void> {
  const both: LargeOwnerInput = { place, shape, isSmallAlone: false }
  const filled = await inProcess('fillLargeOwner', both, tell)
  const { large, small, rssMb } = await inProcess('queryLargeOwner', both)
  const single: LargeOwnerInput = { place: separate, shape, isSmallAlone: true }
  const filledAlone = await inProcess('fillLargeOwner', single)
  const { small: undisturbed } = await inProcess('queryLargeOwner', single)
  const name = (what: string, { documents }: LargeOwnerFill) =>
    `${store}, ${what}, store of ${documents.toLocaleString('en')} turns and facts`
  if (large === null) throw new Error('The large owner was not queried.')
  rows.push(
    {
      ...recallRow(name(`owner of ${shape.memories.toLocaleString('en')}`, filled), large),
      perSecond: filled.writesPerSecond,
      diskMb: filled.diskMb,
      ...(rssMb === null ? {} : { rssMb }),
    },
    recallRow(name('owner of 1,000', filled), small),
    recallRow(name('owner of 1,000', filledAlone), undisturbed),
  )
  bars.push(
    atMost(
      `${store}: recall p95 in an owner with 100,000 turns and 10,000 facts, ms`,
      large.hybrid.p95,
      scaledLimit(limitMs, calibration),
    ),
    atMost(
      `${store}: recall p50 in an owner of 1,000 in the same store, relative to a store of its own`,
      small.hybrid.p50 / undisturbed.hybrid.p50,
      STORE_GROWTH_MAX,
    ),
  )
}

function recallRow(what: string, { hybrid, keyword, vector }: RecallCost): BenchRow {
  return {
    what,
    hybridP50: hybrid.p50,
    hybridP95: hybrid.p95,
    keywordP50: keyword.p50,
    keywordP95: keyword.p95,
    vectorP50: vector.p50,
    vectorP95: vector.p95,
  }
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
  const { row, queries } = await measureStore(shape, folder, tell, nearest)
  rows.push(row)
  const compared = { shape, folder, nearest, vectorMs: queries.vector.p50 }
  plan.addNext(PEERS.map((peer) => peerStep(peer, compared, measured, plan)))
  // The bars are about the vectors of the built-in model.
  if (shape.dimensions !== BASE_DIMENSIONS) return
  bars.push(
    atMost('hybrid recall p95 in an owner with 100,000, ms', queries.hybrid.p95, 25),
    atMost('event loop held by a search, ms', queries.hybridHeld.heldMs, 10),
    atLeast('vector search, share of the 20 nearest found', queries.shareFound ?? Number.NaN, 0.99),
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
): Promise<{ readonly row: BenchRow; readonly queries: QueryResult }> {
  const path = storePath(shape, folder)
  const filled = await inProcess('fill', { shape, path }, tell)
  const queries = await inProcess('measureQueries', { shape, path, nearest })
  return { row: storeRow(`recollect, ${nameOf(shape)}`, filled, queries), queries }
}

function storeRow(what: string, filled: Filled, queries: QueryResult): BenchRow {
  const { hybrid, first, keyword, vector, hybridHeld } = queries
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
    ...(queries.shareFound === null ? {} : { recallAt20: round(queries.shareFound) }),
    heldMs: round(hybridHeld.heldMs),
    heldMsMax: round(hybridHeld.heldMsMax),
    rssMb: queries.rssMb,
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

/** An estimate, only for the progress display. */
function secondsFor(memories: number): number {
  return 10 + memories / 2_500
}
