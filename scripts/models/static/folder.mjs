/** Writes a folder of static vectors in the form that src/models/embedders/static/static-model-folder.ts reads. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FORMAT = 1
const BYTE_MAX = 127

export function writeStaticFolder(folder, { vocabulary, vectors, width, languages }) {
  const scales = new Float32Array(vocabulary.length)
  const bytes = new Int8Array(vectors.length)
  vocabulary.forEach((_, token) => {
    const row = vectors.subarray(token * width, (token + 1) * width)
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
    scales[token] = largest / BYTE_MAX
    row.forEach((value, at) => {
      bytes[token * width + at] = largest === 0 ? 0 : Math.round(value / scales[token])
    })
  })
  const files = {
    'model.json': `${JSON.stringify({ format: FORMAT, dimensions: width, languages })}\n`,
    'vocabulary.txt': `${vocabulary.join('\n')}\n`,
    'vectors.bin': Buffer.concat([littleEndian(scales), Buffer.from(bytes.buffer)]),
  }
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  const sums = Object.entries(files).map(
    ([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`,
  )
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
}

function littleEndian(numbers) {
  const bytes = Buffer.alloc(numbers.length * 4)
  numbers.forEach((number, at) => {
    bytes.writeFloatLE(number, at * 4)
  })
  return bytes
}
