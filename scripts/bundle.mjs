/**
 * Puts the program, the entries of the library and the workers, which the compiler has left in `dist` as hundreds of
 * modules, into a few files: they load in half the time. What the program needs only at times, as a server, stays in
 * files of its own. The other modules stay for tests and are not published; see `files` in package.json.
 *
 * Packages stay packages, except those that weigh many times what Recollect uses of them.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { vendorPackages } from './vendor.mjs'
import { WORKERS } from './workers.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const SOURCES = join(ROOT, 'src')
const PARTS = 'parts'
/** As packages, they weigh 20 MB. */
const INLINED = [
  'zod',
  '@modelcontextprotocol/server',
  '@modelcontextprotocol/core',
  'prom-client',
  'tdigest',
  'bintrees',
]
const PLACE = /__PLACE_OF\("([^"]+)"\)/g

/**
 * `import.meta.url` keeps its meaning wherever a module is bundled: modules find their workers and the other
 * files of the package.
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

/** The folders of the packages whose code went into a bundle. */
const inlinedPackages = new Set()
const recordInlined = {
  name: 'record-inlined',
  generateBundle(_, chunks) {
    for (const { modules = {} } of Object.values(chunks)) {
      for (const id of Object.keys(modules)) {
        const folder = /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.split(sep).join('/'))?.[0]
        if (folder !== undefined) inlinedPackages.add(folder)
      }
    }
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
      ['ai-sdk', 'langchain', 'llamaindex', 'mastra', 'openai-agents'].map((name) => [
        `integrations/${name}`,
        `src/integrations/${name}.ts`,
      ]),
    ),
    'testing/suites': 'test/conformance/suites.ts',
  },
  chunks: `${PARTS}/[name].js`,
  // The suites of this repository become conformance cases for other implementations and any test runner.
  alias: { vitest: join(SOURCES, 'testing/case-collector.ts') },
  inlined: [...INLINED, 'fast-check', 'pure-rand'],
})
// On its own, so that it shares no chunk with code that needs Node.
await bundle({ input: { 'client/index': 'src/client/index.ts' } })
// One file each, so that a worker loads nothing that it does not use.
for (const worker of WORKERS) await bundle({ input: { [worker]: `src/${worker}.ts` } })
writeLicenses()
await vendorPackages()

function writeLicenses() {
  const licenses = [...inlinedPackages].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
    if (file === undefined) throw new Error(`${name} has no license file.`)
    return `${name} ${version}\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  })
  writeFileSync(join(ROOT, 'dist', 'LICENSES.txt'), licenses.join('\n---\n\n'))
}

function bundle({ input, chunks, alias = {}, inlined = INLINED }) {
  const entries = Object.entries(input).map(([name, path]) => [name, join(ROOT, path)])
  return build({
    root: ROOT,
    configFile: false,
    logLevel: 'warn',
    plugins: [ownPlaces, recordInlined],
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
