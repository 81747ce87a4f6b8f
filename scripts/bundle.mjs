/**
 * Puts the program and the entries of the library, which the compiler has left in `dist` as hundreds of modules, into a few files:
 * they load in half the time. What the program needs only at times, as a server, stays in files of its own. Packages stay
 * packages. The modules stay too: types lie beside them, and worker processes run from them.
 */
import { rmSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { vendorPackages } from './vendor.mjs'

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
await bundle({
  input: {
    'app/cli-main': 'src/app/cli-main.ts',
    index: 'src/index.ts',
    server: 'src/server.ts',
    'testing/index': 'src/testing/index.ts',
    ...Object.fromEntries(
      ['ai-sdk', 'langchain', 'openai-agents'].map((name) => [
        `integrations/${name}`,
        `src/integrations/${name}.ts`,
      ]),
    ),
    'testing/suites': 'test/conformance/suites.ts',
  },
  chunks: `${PARTS}/[name].js`,
  // The suites of this repository become conformance cases for other implementations and any test runner.
  alias: { vitest: join(SOURCES, 'testing/case-collector.ts') },
  inlined: ['fast-check', 'pure-rand'],
})
// On its own, so that it shares no chunk with code that needs Node.
await bundle({ input: { 'client/index': 'src/client/index.ts' } })
await vendorPackages()

function bundle({ input, chunks, alias = {}, inlined = [] }) {
  const entries = Object.entries(input).map(([name, path]) => [name, join(ROOT, path)])
  return build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [ownPlaces],
    resolve: { alias },
    ssr: { noExternal: inlined },
    build: {
      ssr: true,
      target: 'node20',
      outDir: join(ROOT, 'dist'),
      emptyOutDir: false,
      // Whoever reads where an error happened wants to find the place.
      minify: false,
      rolldownOptions: {
        input: Object.fromEntries(entries),
        output: {
          entryFileNames: '[name].js',
          ...(chunks === undefined ? { codeSplitting: false } : { chunkFileNames: chunks }),
        },
      },
    },
  })
}
