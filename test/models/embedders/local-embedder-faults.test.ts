/** What happens when files or the process of the local model are harmed. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type EmbedderWorker,
  startEmbedderWorker,
} from '../../../src/models/embedders/local/embedder-worker-process.ts'
import { readModelFolder } from '../../../src/models/embedders/local/embedding-model-folder.ts'
import { openLocalEmbedderWith } from '../../../src/models/embedders/local/local-embedder.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { errorOf } from './embedder-support.ts'
import {
  embedOne,
  expectFreshWorker,
  expectSameBits,
  hastyClock,
  MODEL_FOLDER,
  openLocal,
  SLOW_TEST_MS,
} from './local-support.ts'

vi.setConfig({ testTimeout: SLOW_TEST_MS })
beforeAll(expectFreshWorker)

describe('files', () => {
  it.each(['model_int8.onnx', 'tokenizer.json', 'config.json'])(
    '[EM23] a damaged %s is named, and the model heals with it',
    async (file) => {
      const folder = copiedModel()
      const path = join(folder, file)
      const whole = readFileSync(path)
      const damaged = Buffer.from(whole)
      damaged[Math.floor(whole.length / 2)] = (damaged[Math.floor(whole.length / 2)] ?? 0) ^ 1
      writeFileSync(path, damaged)

      const embedder = openLocal({ model: folder, now: hastyClock() })
      for (let attempt = 0; attempt < 2; attempt++) {
        const error = await errorOf(embedOne(embedder, 'Hello'))
        expect(error).toMatchObject({ code: 'damaged', facts: { path } })
        expect(error.message).toContain(path)
        expect(embedder.report().state).toEqual({ kind: 'failing', reason: error.message })
      }
      writeFileSync(path, whole)
      expect((await embedOne(embedder, 'Hello')).length).toBe(384)
      expect(embedder.report().state).toEqual({ kind: 'ready' })
    },
  )

  it.each(['model_int8.onnx', 'tokenizer.json'])(
    '[EM23] a missing %s is named, and the model heals with it',
    async (file) => {
      const folder = copiedModel()
      const path = join(folder, file)
      renameSync(path, `${path}.away`)
      const embedder = openLocal({ model: folder, now: hastyClock() })
      const error = await errorOf(embedder.describe())
      expect(error).toMatchObject({ code: 'missing_part', facts: { path } })
      renameSync(`${path}.away`, path)
      expect((await embedder.describe()).dimensions).toBe(384)
    },
  )

  it('[EM23] weights that no checksum vouches for and no runtime can open are damaged', async () => {
    const folder = copiedModel()
    const path = join(folder, 'model_int8.onnx')
    rmSync(join(folder, 'SHA256SUMS'))
    writeFileSync(path, readFileSync(path).subarray(0, 1_000_000))
    const error = await errorOf(embedOne(openLocal({ model: folder }), 'Hello'))
    expect(error).toMatchObject({ code: 'damaged', facts: { path } })
  })

  it('[EM23] models of the package must have checksums', async () => {
    const folder = copiedModel()
    const place = {
      kind: 'shipped',
      name: 'gte-small-int8',
      folder,
      multilingualFolder: null,
    } as const
    expect((await readModelFolder(place)).weights.file).toBe('model_int8.onnx')
    rmSync(join(folder, 'SHA256SUMS'))
    expect(await errorOf(readModelFolder(place))).toMatchObject({ code: 'missing_part' })
    writeFileSync(join(folder, 'SHA256SUMS'), 'nothing\n')
    expect(await errorOf(readModelFolder(place))).toMatchObject({ code: 'damaged' })
  })

  it('[EM23] reports a name that is not in the package', async () => {
    const error = await errorOf(openLocal({ model: 'no-such-model' }).describe())
    expect(error.code).toBe('missing_part')
    expect(error.message).toContain('no-such-model')
  })
})

describe('the process', () => {
  it('[EM26] when it is killed, its calls fail as unavailable and the next one starts another', async () => {
    const { embedder, workers } = openWatched()
    const before = await embedOne(embedder, 'Hello')
    const texts = Array.from({ length: 200 }, (_, index) => `Text number ${index}`)
    const calls = [
      errorOf(embedder.embed(texts, { purpose: 'document' })),
      errorOf(embedder.embed(['Hello'], { purpose: 'document' })),
    ]
    await nextTurn()
    process.kill(workers[0]?.pid ?? Number.NaN, 'SIGKILL')
    for (const error of await Promise.all(calls)) {
      expect(error).toMatchObject({ code: 'unavailable' })
      expect(error.message).toContain('SIGKILL')
    }
    expect(embedder.report().state.kind).toBe('failing')
    expectSameBits(await embedOne(embedder, 'Hello'), before)
    expect(embedder.report().state).toEqual({ kind: 'ready' })
    expect(workers.length).toBe(2)
  })

  it('[EM26] a polite signal, as Ctrl-C sends it to both processes, does not stop it', async () => {
    const { embedder, workers } = openWatched()
    await embedder.describe()
    process.kill(workers[0]?.pid ?? Number.NaN, 'SIGINT')
    process.kill(workers[0]?.pid ?? Number.NaN, 'SIGTERM')
    expect((await embedOne(embedder, 'Hello')).length).toBe(384)
    expect(workers.length).toBe(1)
  })

  it('[EM26] closing ends it, also while it is at work', async () => {
    const { embedder, workers } = openWatched()
    await embedder.describe()
    const call = errorOf(embedOne(embedder, 'A long story. '.repeat(200)))
    await embedder.close()
    expect(await call).toMatchObject({ code: 'cancelled' })
    expect(isRunning(workers[0]?.pid ?? Number.NaN)).toBe(false)
  })

  it('[EM26] it ends with the program that started it, also when that is killed', async () => {
    const module = pathToFileURL(
      resolve('dist/models/embedders/local/embedder-worker-process.js'),
    ).href
    const program = `
      import { startEmbedderWorker } from ${JSON.stringify(module)}
      console.log(startEmbedderWorker().pid)
    `
    const child = spawn(process.execPath, ['--input-type=module', '-e', program])
    onTestFinished(() => void child.kill('SIGKILL'))
    const [printed] = await once(child.stdout, 'data')
    const pid = Number(printed)
    expect(isRunning(pid)).toBe(true)
    child.kill('SIGKILL')
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: SLOW_TEST_MS })
  })
})

/** An embedder whose processes the test can see. */
function openWatched() {
  const workers: EmbedderWorker[] = []
  const embedder = openLocalEmbedderWith(() => {
    const worker = startEmbedderWorker()
    workers.push(worker)
    return worker
  })
  onTestFinished(() => embedder.close())
  return { embedder, workers }
}

/** A process that has ended and that nobody has asked about yet still has its number. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch {
    return false
  }
  const stat = process.platform === 'linux' ? readFileSync(`/proc/${pid}/stat`, 'utf8') : ''
  return !/\) Z /.test(stat)
}

function copiedModel(): string {
  const folder = join(temporaryFolder(), 'gte-small-int8')
  cpSync(MODEL_FOLDER, folder, { recursive: true })
  return folder
}
