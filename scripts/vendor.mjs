/**
 * Vendors the native packages into `dist/vendor`, without what Recollect never loads: a consumer installs 90 MB instead of
 * 270, and no package with an install script. `node_modules` holds them verified against the hashes of the lockfile.
 *
 * - `onnxruntime-web` weighs 141 MB, for every browser and backend; Node loads 14 of them, 3 compressed.
 * - `onnxruntime-node` weighs 98 MB. Intel Macs and Windows on ARM are left out: they run the WebAssembly build, or a
 *   package that the user installs.
 * - `@photostructure/sqlite` weighs 29 MB, a third of it the sources of SQLite, and has an install script that checks the
 *   prebuilt binary.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants } from 'node:zlib'
import { build } from 'vite'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const DIST = join(ROOT, 'dist')
const VENDOR = join(DIST, 'vendor')
const SQLITE = '@photostructure/sqlite'
/** Takes a second; the highest one takes half a minute for another 15 %. */
const COMPRESSION_QUALITY = 6

/** `entry` is bundled with the packages that it imports; `files` are copied, `compressed` ones as `.br`. */
const PACKAGES = [
  {
    name: 'onnxruntime-web',
    entry: 'dist/ort.node.min.mjs',
    files: ['dist/ort-wasm-simd-threaded.mjs'],
    compressed: ['dist/ort-wasm-simd-threaded.wasm'],
    licenses: ['scripts/licenses/onnxruntime.txt'],
  },
  {
    name: 'onnxruntime-node',
    entry: 'dist/index.js',
    format: 'cjs',
    files: ['linux/x64', 'linux/arm64', 'darwin/arm64', 'win32/x64'].map(
      (platform) => `bin/napi-v3/${platform}`,
    ),
    licenses: ['scripts/licenses/onnxruntime.txt'],
  },
  {
    name: SQLITE,
    entry: 'dist/index.mjs',
    files: ['prebuilds'],
    licenses: [`node_modules/${SQLITE}/LICENSE`, 'node_modules/node-gyp-build/LICENSE'],
  },
]

export async function vendorPackages() {
  rmSync(VENDOR, { recursive: true, force: true })
  for (const part of PACKAGES) await vendorPackage(part)
  importVendoredSqlite(DIST)
}

async function vendorPackage({ name, entry, format = 'es', files, compressed = [], licenses }) {
  const source = join(ROOT, 'node_modules', name)
  const target = join(VENDOR, name)
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'error',
    ssr: { noExternal: true },
    build: {
      ssr: join(source, entry),
      target: 'node20',
      outDir: join(target, dirname(entry)),
      rolldownOptions: {
        output: { format, entryFileNames: entryFile(entry, format), codeSplitting: false },
      },
    },
  })
  for (const file of files) cpSync(join(source, file), join(target, file), { recursive: true })
  for (const file of compressed) {
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: COMPRESSION_QUALITY } }
    const bytes = brotliCompressSync(readFileSync(join(source, file)), options)
    writeFileSync(join(target, `${file}.br`), bytes)
  }
  const texts = licenses.map((file) => readFileSync(join(ROOT, file), 'utf8').trim())
  writeFileSync(join(target, 'LICENSE'), `${texts.join('\n\n---\n\n')}\n`)
  const type = format === 'es' ? 'module' : 'commonjs'
  writeFileSync(join(target, 'package.json'), `${JSON.stringify({ name, version, type })}\n`)
}

function entryFile(entry, format) {
  return posix.basename(entry).replace(/\.m?js$/, format === 'es' ? '.mjs' : '.cjs')
}

/** Modules that the compiler has left unchanged may have been rewritten by an earlier build. */
function importVendoredSqlite(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === VENDOR) continue
    if (entry.isDirectory()) importVendoredSqlite(path)
    else if (entry.name.endsWith('.js')) {
      const code = readFileSync(path, 'utf8')
      const file = join(VENDOR, SQLITE, 'dist/index.mjs')
      const address = `./${relative(folder, file).split(sep).join('/')}`
      const rewritten = code.replaceAll(/(["'])@photostructure\/sqlite\1/g, `'${address}'`)
      if (rewritten !== code) writeFileSync(path, rewritten)
    }
  }
}
