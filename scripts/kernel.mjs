/**
 * Compiles the scan over vectors (`src/storage/sqlite/vectors/wasm/scan.as`) and writes it as text into `scan-kernel-module.ts` beside
 * it, so that nothing has to be compiled where it runs. Run it after changing the source; a test compares the two.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { main } from 'assemblyscript/asc'

const folder = join(
  dirname(fileURLToPath(import.meta.url)),
  '..',
  'src/storage/sqlite/vectors/wasm',
)
const OPTIONS = [
  ['--runtime', 'stub'],
  ['--enable', 'simd'],
  ['--importMemory'],
  ['-O3'],
  ['--converge'],
  ['--noAssert'],
].flat()

/** The module as WebAssembly. */
export async function compileKernel() {
  const source = readFileSync(join(folder, 'scan.as'), 'utf8')
  let binary = null
  const { error, stderr } = await main(['scan.ts', '--outFile', 'scan.wasm', ...OPTIONS], {
    readFile: (name) => (name === 'scan.ts' ? source : null),
    writeFile: (name, contents) => {
      if (name === 'scan.wasm') binary = contents
    },
    listFiles: () => [],
  })
  if (error !== null || binary === null) throw new Error(`The kernel does not compile.\n${stderr}`)
  return binary
}

function asModule(binary) {
  const lines =
    Buffer.from(binary)
      .toString('base64')
      .match(/.{1,96}/g) ?? []
  return `/** Made by \`scripts/kernel.mjs\` from scan.as. */
export const KERNEL = [
${lines.map((line) => `  '${line}',`).join('\n')}
].join('')
`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(join(folder, 'scan-kernel-module.ts'), asModule(await compileKernel()))
}
