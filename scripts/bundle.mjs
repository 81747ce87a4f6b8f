/**
 * Puts the program and the library, which the compiler has left in `dist` as hundreds of modules, into a few files:
 * they load in half the time. What the program needs only at times, as a server, stays in files of its own. Packages stay
 * packages. The modules stay too: types lie beside them, and worker processes run from them.
 */
import { rmSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { vendorWasmRuntime } from './vendor-onnxruntime.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SOURCES = join(ROOT, 'src')
const PARTS = 'parts'
const PLACE = /__PLACE_OF\("([^"]+)"\)/g

/**
 * A module that asks where it is gets the answer that it would get on its own, wherever it is put: it looks for workers
 * beside it, and for what else is in the package.
 */
const ownPlaces = {
  name: 'own-places',
  transform(code, id) {
    if (!id.startsWith(SOURCES + sep) || !code.includes('import.meta.url')) return null
    const place = relative(SOURCES, id).split(sep).join('/').replace(/\.ts$/, '.js')
    return { code: code.replaceAll('import.meta.url', `__PLACE_OF("${place}")`), map: null }
  },
  renderChunk(code, { fileName }) {
    const from = posix.dirname(fileName)
    return code.replaceAll(PLACE, (_, place) => {
      const path = posix.relative(from, place)
      return `new URL("${path.startsWith('.') ? path : `./${path}`}", import.meta.url).href`
    })
  },
}

rmSync(join(ROOT, 'dist', PARTS), { recursive: true, force: true })
await build({
  root: ROOT,
  configFile: false,
  logLevel: 'warn',
  plugins: [ownPlaces],
  build: {
    ssr: true,
    target: 'node20',
    outDir: join(ROOT, 'dist'),
    emptyOutDir: false,
    // Whoever reads where an error happened wants to find the place.
    minify: false,
    rolldownOptions: {
      input: { 'app/cli-main': join(SOURCES, 'app/cli-main.ts'), index: join(SOURCES, 'index.ts') },
      output: { entryFileNames: '[name].js', chunkFileNames: `${PARTS}/[name].js` },
    },
  },
})
await vendorWasmRuntime()
