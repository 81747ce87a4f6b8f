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
const TYPE_IMPORT = /(?:\bfrom |\bimport\()["'](\.[^"']+)["']/g
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
  vendorZodTypes()
  const [sqlite, zod] = [join(VENDOR, SQLITE, 'dist/index.mjs'), join(VENDOR, 'zod/index.js')]
  redirectImports(DIST, (file) => (file.endsWith('.js') ? [SQLITE, sqlite] : ['zod', zod]))
}

/** The code of zod is bundled; public declarations refer to its types. They take 0.3 MB of its 8. */
function vendorZodTypes() {
  const source = join(ROOT, 'node_modules/zod')
  const copied = new Set()
  const pending = ['index.d.ts']
  while (pending.length > 0) {
    const file = pending.pop()
    if (copied.has(file)) continue
    copied.add(file)
    cpSync(join(source, file), join(VENDOR, 'zod', file))
    for (const [, reference] of readFileSync(join(source, file), 'utf8').matchAll(TYPE_IMPORT)) {
      pending.push(posix.join(posix.dirname(file), reference.replace(/\.js$/, '.d.ts')))
    }
  }
  cpSync(join(source, 'LICENSE'), join(VENDOR, 'zod/LICENSE'))
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

/** Modules and declarations that the compiler has left unchanged may have been rewritten by an earlier build. */
function redirectImports(folder, targetOf) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (path === VENDOR) continue
    if (entry.isDirectory()) redirectImports(path, targetOf)
    else if (/\.(?:js|d\.ts)$/.test(entry.name)) {
      const [name, target] = targetOf(path)
      const code = readFileSync(path, 'utf8')
      const address = `./${relative(folder, target).split(sep).join('/')}`
      const rewritten = code.replaceAll(
        new RegExp(`(\\bfrom |\\bimport\\()(["'])${name}\\2`, 'g'),
        `$1'${address}'`,
      )
      if (rewritten !== code) writeFileSync(path, rewritten)
    }
  }
}
