/**
 * Ships ONNX Runtime without the parts that Recollect never loads. Both packages are MIT licensed by Microsoft.
 *
 * - `onnxruntime-web` weighs 141 MB, for every browser and backend. The build puts what Node loads, 14 MB, into
 *   `dist/vendor`, as soon as the package is a development dependency.
 * - `onnxruntime-node` weighs 98 MB, for all platforms. `node scripts/vendor-onnxruntime.mjs --native <folder>` writes one
 *   package for each platform, about 17 MB, ready for `npm publish`. npm installs the one that matches `os` and `cpu`.
 */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const WEB = 'onnxruntime-web'
const WEB_ENTRY = 'ort.node.min.mjs'
/** The entry loads these at run time, from its own folder. */
const WEB_FILES = ['ort-wasm-simd-threaded.mjs', 'ort-wasm-simd-threaded.wasm']
const NATIVE = 'onnxruntime-node'
const NATIVE_SCOPE = '@recollect-memory'
const BINARIES = join('bin', 'napi-v3')

const LICENSE = `MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
`

/** Does nothing while consumers install the package itself. */
export async function vendorWasmRuntime() {
  const { devDependencies } = readJson(join(ROOT, 'package.json'))
  if (devDependencies[WEB] !== undefined) await copyWasmRuntime(join(ROOT, 'dist', 'vendor', WEB))
}

export async function copyWasmRuntime(target) {
  const source = join(ROOT, 'node_modules', WEB, 'dist')
  // Together with `onnxruntime-common`, which it imports, in one file.
  await build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: true },
    build: {
      ssr: join(source, WEB_ENTRY),
      target: 'node20',
      outDir: target,
      emptyOutDir: true,
      rolldownOptions: { output: { entryFileNames: WEB_ENTRY, codeSplitting: false } },
    },
  })
  for (const file of WEB_FILES) cpSync(join(source, file), join(target, file))
  writeFileSync(join(target, 'LICENSE'), LICENSE)
}

/** Returns the folders of the packages. */
export function writeNativePackages(target) {
  const source = join(ROOT, 'node_modules', NATIVE)
  const { version, dependencies } = readJson(join(source, 'package.json'))
  const platforms = readdirSync(join(source, BINARIES)).flatMap((os) =>
    readdirSync(join(source, BINARIES, os)).map((cpu) => ({ os, cpu })),
  )
  return platforms.map(({ os, cpu }) => {
    const name = `onnxruntime-${os}-${cpu}`
    const folder = join(target, name)
    rmSync(folder, { recursive: true, force: true })
    for (const part of ['dist', join(BINARIES, os, cpu)]) {
      cpSync(join(source, part), join(folder, part), {
        recursive: true,
        filter: (path) => !path.endsWith('.map'),
      })
    }
    const manifest = {
      name: `${NATIVE_SCOPE}/${name}`,
      version,
      description: `ONNX Runtime ${version} for Node on ${os} ${cpu}`,
      license: 'MIT',
      repository: readJson(join(ROOT, 'package.json')).repository,
      main: 'dist/index.js',
      files: ['bin', 'dist'],
      os: [os],
      cpu: [cpu],
      ...(os === 'linux' ? { libc: ['glibc'] } : {}),
      dependencies,
      publishConfig: { access: 'public', provenance: true },
    }
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    writeFileSync(join(folder, 'LICENSE'), LICENSE)
    return folder
  })
}

function readJson(file) {
  return JSON.parse(readFileSync(file, 'utf8'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [option, folder] = process.argv.slice(2)
  if (option !== '--native' || folder === undefined) {
    process.stderr.write('Usage: node scripts/vendor-onnxruntime.mjs --native <folder>\n')
    process.exit(2)
  }
  for (const written of writeNativePackages(folder)) process.stdout.write(`${written}\n`)
}
