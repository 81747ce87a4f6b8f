/** Clients that other generators make of the description of the API: they compile, and what they send is understood. */
import { execFile } from 'node:child_process'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { start } from '../api/http/http-support.ts'
import { installPart, partFolder } from '../support/part.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const missing =
  (await installPart('clients', 'openapi-typescript')) ??
  (await installPart('clients', '@hey-api/openapi-ts'))
/** Its output, or what it said when it failed. */
async function node(cwd: string, ...args: readonly string[]): Promise<string> {
  try {
    return (await promisify(execFile)(process.execPath, [...args], { cwd })).stdout
  } catch (thrown) {
    throw new Error(`${Object(thrown).stdout}${Object(thrown).stderr}`)
  }
}

/** The two calls that every program makes. */
const PROGRAMS = {
  'openapi-typescript': {
    generator: 'openapi-typescript/bin/cli.js',
    args: ['openapi.json', '-o', 'api.ts'],
    code: `import createClient from 'openapi-fetch'
import type { paths } from './api.ts'

const [baseUrl = '', key = ''] = process.argv.slice(2)
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const made = await client.POST('/api/memory', { body: { content: 'I prefer tea.' } })
if (made.data === undefined) throw new Error(JSON.stringify(made.error))
const found = await client.GET('/api/memory/{id}', { params: { path: { id: made.data.id } } })
console.log(found.data?.memory.content)
`,
  },
  '@hey-api/openapi-ts': {
    generator: '@hey-api/openapi-ts/bin/run.js',
    args: ['-i', 'openapi.json', '-o', 'api'],
    code: `import { client } from './api/client.gen.ts'
import { memoryAdd, memoryGet } from './api/index.ts'

const [baseUrl = '', key = ''] = process.argv.slice(2)
client.setConfig({ baseUrl, headers: { authorization: \`Bearer \${key}\` } })
const made = await memoryAdd({ body: { content: 'I prefer tea.' } })
if (made.data === undefined) throw new Error(JSON.stringify(made.error))
const found = await memoryGet({ path: { id: made.data.id } })
console.log(found.data?.memory.content)
`,
  },
} as const

const OPTIONS = {
  ...{ target: 'es2022', module: 'preserve', moduleResolution: 'bundler', strict: true },
  ...{ skipLibCheck: true, types: ['node'], allowImportingTsExtensions: true },
  ...{ rewriteRelativeImportExtensions: true, outDir: 'out' },
}

describe.skipIf(missing !== null)(
  `generated clients${missing === null ? '' : `: ${missing}`}`,
  () => {
    it.each(Object.entries(PROGRAMS))('[HT62] of %s compile and run', async (_, program) => {
      const server = await start()
      const { secret } = await server.engine.admin.keys.create({
        ...{ name: 'generated', defaultOwner: 'ada', role: 'user' },
      })
      const folder = temporaryFolder()
      symlinkSync(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
      const description = await (await fetch(`${server.url}/openapi.json`)).text()
      writeFileSync(join(folder, 'openapi.json'), description)
      writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
      writeFileSync(join(folder, 'main.ts'), program.code)
      const tsconfig = { compilerOptions: OPTIONS, include: ['main.ts'] }
      writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(tsconfig))
      await node(
        folder,
        join(partFolder('clients'), 'node_modules', program.generator),
        ...program.args,
      )
      await node(folder, resolve('node_modules/typescript/bin/tsc'), '-p', '.')
      const bundle = join(folder, 'out/main.js')
      expect((await node(folder, bundle, server.url, secret)).trim()).toBe('I prefer tea.')
    })
  },
)
