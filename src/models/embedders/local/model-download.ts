/**
 * Downloads a model from the hub into the model folder.
 *
 * The hub lists size and hash of every file. A download goes to a temporary sibling folder, is verified against that list
 * and renamed when complete, so that a killed process leaves no partial model.
 */
import { createHash, type Hash } from 'node:crypto'
import {
  access,
  mkdir,
  mkdtemp,
  open,
  readdir,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppError } from '../../../lib/errors.ts'
import { DAY_MS } from '../../../lib/time.ts'
import { CHECKSUM_FILE, MODEL_FILES, TOKENIZER_FILE } from '../../runtime/model-files.ts'
import type { ModelLocation } from './embedder-worker-protocol.ts'
import { OPTIONAL_FILES } from './embedding-model-folder.ts'

type HubPlace = Extract<ModelLocation, { kind: 'hub' }>

type HubFile = {
  readonly path: string
  readonly size: number
  /** Git's blob hash, or SHA-256 for files in LFS. */
  readonly hash: { readonly kind: 'git' | 'sha256'; readonly hex: string }
}

const FILE_BYTES_MAX = 2 ** 31
/** Age after which a leftover download is removed: no live download is that old. */
const LEFTOVER_MS = DAY_MS

/** Does nothing when the model exists. */
export async function downloadModel(place: HubPlace): Promise<void> {
  if (await exists(place.folder)) return
  const { hubUrl } = place
  if (hubUrl === null) {
    throw new AppError(
      'missing_part',
      `The model ${place.name} is not in ${place.folder}. Set allowDownload, or put its files there.`,
      { model: place.name, path: place.folder },
    )
  }
  const files = chosenFiles(place, await listFiles(place, hubUrl))
  try {
    await downloadAll(place, hubUrl, files)
  } catch (thrown) {
    throw thrown instanceof AppError ? thrown : cannotBeKept(place, thrown)
  }
}

async function downloadAll(
  place: HubPlace,
  hubUrl: string,
  files: readonly HubFile[],
): Promise<void> {
  const parent = dirname(place.folder)
  const prefix = `.${basename(place.folder)}.part-`
  await mkdir(parent, { recursive: true })
  await removeLeftovers(parent, prefix)
  const part = await mkdtemp(join(parent, prefix))
  try {
    const sums: string[] = []
    for (const file of files) {
      sums.push(`${await downloadFile(place, hubUrl, file, part)}  ${file.path}\n`)
    }
    await writeFile(join(part, CHECKSUM_FILE), sums.join(''), { flush: true })
    await moveInto(part, place.folder)
  } finally {
    await rm(part, { recursive: true, force: true })
  }
}

/** Another process may have finished first, with the same files. */
async function moveInto(part: string, folder: string): Promise<void> {
  try {
    await rename(part, folder)
  } catch (error) {
    if (!(await exists(folder))) throw error
  }
}

async function listFiles(place: HubPlace, hubUrl: string): Promise<readonly HubFile[]> {
  const url = `${hubUrl}/api/models/${place.name}/tree/main?recursive=true`
  const response = await get(place, url)
  const list: unknown = await response.json().catch(() => null)
  if (!Array.isArray(list)) throw unusable(place, 'its list of files is not a list')
  return list.flatMap(parseHubFile)
}

function parseHubFile(entry: unknown): readonly HubFile[] {
  const { type, path, size, oid, lfs } = (entry ?? {}) as Record<string, unknown> // checked below
  if (type !== 'file' || typeof path !== 'string' || typeof size !== 'number') return []
  const { oid: sha256 } = (lfs ?? {}) as Record<string, unknown> // checked below
  if (typeof sha256 === 'string') return [{ path, size, hash: { kind: 'sha256', hex: sha256 } }]
  return typeof oid === 'string' ? [{ path, size, hash: { kind: 'git', hex: oid } }] : []
}

function chosenFiles(place: HubPlace, files: readonly HubFile[]): readonly HubFile[] {
  const find = (path: string) => files.find((file) => file.path === path)
  const weights = MODEL_FILES.map(find).find((file) => file !== undefined)
  const tokenizer = find(TOKENIZER_FILE)
  if (weights === undefined || tokenizer === undefined) {
    const lacking = weights === undefined ? 'ONNX weights' : TOKENIZER_FILE
    throw new AppError(
      'missing_part',
      `The model ${place.name} has no ${lacking} on the hub. Choose one that has been exported to ONNX.`,
      { model: place.name },
    )
  }
  const chosen = [tokenizer, weights, ...OPTIONAL_FILES.map(find)].filter(
    (file) => file !== undefined,
  )
  const large = chosen.find(({ size }) => size > FILE_BYTES_MAX)
  if (large !== undefined) {
    throw new AppError('invalid_input', `The model ${place.name} is too large: ${large.path}.`)
  }
  return chosen
}

/** The SHA-256 of what was written, which is what the hub said it would be. */
async function downloadFile(
  place: HubPlace,
  hubUrl: string,
  file: HubFile,
  part: string,
): Promise<string> {
  const { body } = await get(place, `${hubUrl}/${place.name}/resolve/main/${file.path}`)
  const path = join(part, file.path)
  await mkdir(dirname(path), { recursive: true })
  const sha256 = createHash('sha256')
  const check = file.hash.kind === 'git' ? gitHash(file.size) : sha256
  const target = await open(path, 'wx')
  let size = 0
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length
      if (size > file.size) break
      sha256.update(chunk)
      if (check !== sha256) check.update(chunk)
      await target.writeFile(chunk)
    }
    await target.sync()
  } catch (cause) {
    throw cause instanceof TypeError ? interrupted(place, file, cause) : cause // fetch throws a TypeError when the connection breaks
  } finally {
    await target.close()
  }
  const written = sha256.copy().digest('hex')
  if (size !== file.size || check.digest('hex') !== file.hash.hex) throw interrupted(place, file)
  return written
}

function gitHash(size: number): Hash {
  return createHash('sha1').update(`blob ${size}\0`)
}

async function get(place: HubPlace, url: string): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url)
  } catch (cause) {
    throw new AppError(
      'unavailable',
      `The hub could not be reached to download the model ${place.name}. Check the connection, or put its files into ${place.folder}.`,
      { model: place.name, host: new URL(url).host },
      cause,
    )
  }
  if (response.ok) return response
  await response.body?.cancel()
  if ([401, 403, 404].includes(response.status)) {
    throw new AppError('missing_part', `The hub has no public model ${place.name}.`, {
      model: place.name,
      status: response.status,
    })
  }
  throw unusable(place, `it answered with status ${response.status}`)
}

function unusable(place: HubPlace, why: string): AppError {
  return new AppError(
    'unavailable',
    `The hub can't be used to download the model ${place.name}: ${why}. Try again later.`,
    { model: place.name },
  )
}

function interrupted(place: HubPlace, file: HubFile, cause?: unknown): AppError {
  return new AppError(
    'unavailable',
    `The download of ${file.path} of the model ${place.name} was interrupted or corrupted. Nothing was stored; try again.`,
    { model: place.name, file: file.path },
    cause,
  )
}

function cannotBeKept(place: HubPlace, cause: unknown): AppError {
  const reason = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause)
  const code = reason === 'ENOSPC' ? 'disk_full' : 'unavailable'
  return new AppError(
    code,
    `The model ${place.name} could not be stored in ${place.folder} (${reason}).`,
    { model: place.name, path: place.folder },
    cause,
  )
}

async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue
    const path = join(parent, name)
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > LEFTOVER_MS) await rm(path, { recursive: true, force: true })
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
