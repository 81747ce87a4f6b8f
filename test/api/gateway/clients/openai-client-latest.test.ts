/** The newest client library of OpenAI, which needs a newer Node than we do. It is installed in `test/lts`. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, it } from 'vitest'
import { describeOpenAi, type OpenAiClass } from './openai-client.suite.ts'

const MAJOR = 7
const NODE_MAJOR = 22

type Found =
  | { readonly Client: OpenAiClass; readonly version: string }
  | { readonly reason: string }

const found = await findNewest()
if ('Client' in found) {
  describeOpenAi(`openai ${found.version}`, found.Client)
} else {
  describe.skip(`The newest openai package, which ${found.reason}`, () => {
    it('[GW1] finds the gateway as it finds OpenAI', () => {})
  })
}

async function findNewest(): Promise<Found> {
  if (Number(process.versions.node.split('.')[0]) < NODE_MAJOR) {
    return { reason: `needs Node ${NODE_MAJOR}` }
  }
  const path = createRequire(new URL('../../../lts/package.json', import.meta.url)).resolve(
    'openai',
  )
  const { version } = JSON.parse(readFileSync(join(dirname(path), 'package.json'), 'utf8')) as {
    readonly version: string
  }
  // Without one of its own, that folder finds the project's package, which is older.
  if (Number(version.split('.')[0]) < MAJOR) return { reason: 'is not installed in test/lts' }
  const module = (await import(pathToFileURL(path).href)) as { readonly OpenAI: OpenAiClass }
  return { Client: module.OpenAI, version }
}
