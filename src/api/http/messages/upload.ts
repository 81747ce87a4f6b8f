/** Reads an uploaded file from a request: the whole body, or the file part of a multipart form. */
import type { IncomingMessage } from 'node:http'
import { AppError } from '../../../lib/errors.ts'
import type { Upload } from '../../operations/operation.ts'
import { hasBody, readBodyChunks } from './request-body.ts'

const PART_HEADER_BYTES_MAX = 16_384
const FIELD_BYTES_MAX = 65_536
const UPLOAD_BYTES_MAX = 2 * 1024 * 1024 * 1024

export type UploadRequest = {
  readonly upload: Upload
  /** The form fields before the file. */
  readonly fields: Readonly<Record<string, string>>
}

export async function readUpload(request: IncomingMessage): Promise<UploadRequest> {
  if (!hasBody(request)) {
    throw new AppError('invalid_input', 'The request body must contain the file to import.')
  }
  const chunks = limitSize(readBodyChunks(request))
  const boundary = parseBoundary(request.headers['content-type'] ?? '')
  if (boundary !== null) return readForm(new ByteReader(chunks), boundary)
  return { upload: { bytes: chunks, name: 'The request body' }, fields: {} }
}

async function* limitSize(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of chunks) {
    size += chunk.length
    if (size > UPLOAD_BYTES_MAX) {
      throw new AppError('too_large', `An upload must have at most ${UPLOAD_BYTES_MAX} bytes.`)
    }
    yield chunk
  }
}

/** Null unless the body is a multipart form. */
function parseBoundary(type: string): string | null {
  if (!/^multipart\/form-data\s*;/i.test(type)) return null
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;]{1,200}))/i.exec(type) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) throw malformed('its Content-Type has no boundary')
  return boundary
}

/** Fields must precede the file, because the file is streamed. */
async function readForm(reader: ByteReader, boundary: string): Promise<UploadRequest> {
  const fields: Record<string, string> = {}
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  // The first delimiter has no line break before it.
  reader.prepend(Buffer.from('\r\n'))
  await reader.skipThrough(delimiter)
  for (;;) {
    const end = (await reader.readThrough(Buffer.from('\r\n'), PART_HEADER_BYTES_MAX)).toString()
    if (end.startsWith('--')) throw malformed('it contains no file')
    const header = await readPartHeader(reader)
    if (header.fileName !== null) {
      return { upload: { bytes: reader.streamUntil(delimiter), name: header.fileName }, fields }
    }
    const value = await reader.readThrough(delimiter, FIELD_BYTES_MAX)
    fields[header.name] = value.toString('utf8')
  }
}

async function readPartHeader(
  reader: ByteReader,
): Promise<{ readonly name: string; readonly fileName: string | null }> {
  let disposition = ''
  for (;;) {
    const line = (await reader.readThrough(Buffer.from('\r\n'), PART_HEADER_BYTES_MAX)).toString()
    if (line === '') break
    if (/^content-disposition\s*:/i.test(line)) disposition = line
  }
  const name = /[;\s]name="([^"]*)"/i.exec(disposition)?.[1]
  if (name === undefined) throw malformed('a part has no name')
  return { name, fileName: /[;\s]filename="([^"]*)"/i.exec(disposition)?.[1] ?? null }
}

function malformed(what: string): AppError {
  return new AppError('invalid_input', `The multipart body is malformed: ${what}.`)
}

/** Searches a byte stream for delimiters, holding back what may be the beginning of one. */
class ByteReader {
  readonly #chunks: AsyncIterator<Buffer>
  #buffered: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Buffer>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  prepend(bytes: Buffer): void {
    this.#buffered = Buffer.concat([bytes, this.#buffered])
  }

  async readThrough(delimiter: Buffer, bytesMax: number): Promise<Buffer> {
    for (;;) {
      const at = this.#buffered.indexOf(delimiter)
      if (at >= 0) return this.#take(at, delimiter.length)
      if (this.#buffered.length > bytesMax) throw malformed('a field or header is too long')
      await this.#fill()
    }
  }

  async skipThrough(delimiter: Buffer): Promise<void> {
    await this.readThrough(delimiter, PART_HEADER_BYTES_MAX)
  }

  async *streamUntil(delimiter: Buffer): AsyncGenerator<Uint8Array> {
    for (;;) {
      const at = this.#buffered.indexOf(delimiter)
      if (at >= 0) {
        yield this.#take(at, delimiter.length)
        for (let rest = await this.#chunks.next(); rest.done !== true; ) {
          rest = await this.#chunks.next()
        }
        return
      }
      const safe = this.#buffered.length - delimiter.length
      if (safe > 0) yield this.#take(safe, 0)
      await this.#fill()
    }
  }

  #take(length: number, skipped: number): Buffer {
    const taken = this.#buffered.subarray(0, length)
    this.#buffered = this.#buffered.subarray(length + skipped)
    return taken
  }

  async #fill(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done === true) throw malformed('it is truncated')
    this.#buffered = Buffer.concat([this.#buffered, value])
  }
}
