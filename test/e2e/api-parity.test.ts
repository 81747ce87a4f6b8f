/** One script through every door: what REST answers, MCP tells a model and the command line prints is the same. */
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, it, onTestFinished } from 'vitest'
import { findOperation } from '../../src/api/operations/index.ts'
import { createEngine } from '../../src/app/composition.ts'
import { serveWithMcp } from '../../src/app/mcp-mount.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { createCli } from './cli/cli-host.ts'

type Fields = { readonly [field: string]: unknown }
/** Does an operation and gives its output. */
type Door = (operation: string, input: Fields) => Promise<unknown>

async function startServer() {
  const engine = await createEngine({
    path: join(temporaryFolder(), 'recollect.db'),
    embedding: false,
  })
  const options = { host: '127.0.0.1', port: 0, engine, version: '1.2.3' }
  const serving = await serveWithMcp(options)
  onTestFinished(async () => {
    await serving.close()
    await engine.close()
  })
  return { url: serving.url, key: serving.managementKey ?? '' }
}

async function openRest(): Promise<Door> {
  const { url, key } = await startServer()
  return async (name, input) => {
    const { method, path } = findOperation(name).http
    const left: { [field: string]: unknown } = { ...input }
    const filled = path.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = String(left[field])
      delete left[field]
      return value
    })
    const query = method === 'GET' || method === 'DELETE'
    const search = query ? `?${new URLSearchParams(left as Record<string, string>)}` : ''
    const response = await fetch(`${url}${filled}${search}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(query ? {} : { body: JSON.stringify(left) }),
    })
    const answer = (await response.json()) as { error?: { code: string } }
    return answer.error === undefined ? answer : { failed: answer.error.code }
  }
}

async function openMcp(): Promise<Door> {
  const { url, key } = await startServer()
  const client = new Client({ name: 'tests', version: '1.0.0' })
  const headers = { authorization: `Bearer ${key}` }
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  )
  onTestFinished(() => client.close())
  return async (name, input) => {
    const tool = findOperation(name).mcp?.tool ?? ''
    const { detail: _, source: __, ...given } = input
    const { structuredContent, content, isError } = await client.callTool({
      name: tool,
      arguments: given,
    })
    if (isError !== true) return structuredContent
    const [first] = content as readonly { readonly text?: string }[]
    return { failed: /^\w+/.exec(first?.text ?? '')?.[0] }
  }
}

/** The words of a command for the input of its operation. */
const COMMAND_LINES: { readonly [operation: string]: (input: Fields) => readonly string[] } = {
  'memory.add': ({ content, source: _, ...rest }) => ['add', String(content), ...flags(rest)],
  'memory.search': ({ query, detail: _, ...rest }) => ['search', String(query), ...flags(rest)],
  'memory.get': ({ id }) => ['get', String(id)],
  'memory.update': ({ id, ...rest }) => ['edit', String(id), ...flags(rest)],
  'memory.history': ({ id }) => ['history', String(id)],
  'memory.clear': ({ dryRun, all: _, ...rest }) => [
    'clear',
    ...flags(rest),
    ...(dryRun === true ? ['--dry-run'] : ['--yes']),
  ],
}

function flags(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => [`--${name}`, String(value)])
}

async function openCommandLine(isRemote: boolean): Promise<Door> {
  const { url, key } = isRemote ? await startServer() : { url: '', key: '' }
  const always = isRemote ? ['--url', url, '--key', key] : []
  const cli = createCli(join(temporaryFolder(), 'data'), always)
  return async (name, input) => {
    const { exit, json } = await cli([...(COMMAND_LINES[name]?.(input) ?? []), '--json'])
    return exit === 0 ? json : { failed: json.error.code }
  }
}

/** The same story everywhere; ids come from earlier answers. */
async function tell(door: Door): Promise<readonly unknown[]> {
  const events: unknown[] = []
  const done = async (operation: string, input: Fields) => {
    const output = await door(operation, input)
    events.push([operation, output])
    return output as { readonly id: string }
  }
  const { id } = await done('memory.add', { content: 'I like Python', source: 'mcp' })
  const text = 'The café opens at 8; "tea" & <b>scones</b> 🫖'
  await done('memory.add', { content: text, key: 'café', category: 'fact', importance: 7 })
  await done('memory.add', { content: 'The café opens at 9', key: 'café' })
  await done('memory.add', { content: "I don't like Python" })
  await done('memory.search', { query: 'which programming language?', detail: 'snippet' })
  await done('memory.search', { query: 'Python', limit: 1, detail: 'snippet' })
  await done('memory.search', { query: 'zebra crossing', detail: 'snippet' })
  await done('memory.get', { id })
  await done('memory.update', { id, importance: 9 })
  await done('memory.history', { id })
  await done('memory.get', { id: 'mem_nothing' })
  await done('memory.add', { content: 'x', importance: 11 })
  await done('memory.add', { content: 'y'.repeat(50_001) })
  await done('memory.clear', { type: 'factual', dryRun: true })
  await done('memory.clear', { type: 'factual' })
  await done('memory.search', { query: 'Python', detail: 'snippet' })
  return events
}

/** Without what differs from run to run, and what says which door it was. */
function comparable(told: readonly unknown[]): unknown {
  const ids = new Map<string, string>()
  const text = JSON.stringify(told)
    .replace(/\b(mem|chg)_[0-9a-z]{20,}\b/g, (id, kind: string) => {
      if (!ids.has(id)) ids.set(id, `${kind} ${ids.size + 1}`)
      return ids.get(id) ?? ''
    })
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replace(/"source":"\w+"/g, '"source":"<door>"')
    // Over MCP, a model writes.
    .replace(/"trust":"(?:user|assistant)"/g, '"trust":"<author>"')
    .replace(/"author":"(?:person|model)"/g, '"author":"<author>"')
    .replace(/"speaker":(?:null|"assistant")/g, '"speaker":"<author>"')
    // A memory is a few milliseconds older in one run than in the other.
    .replace(/\d+\.\d{6,}/g, (number) => Number(number).toFixed(3))
  return withoutDetail(JSON.parse(text))
}

/** Models get snippets; the command line whole memories, for it has room to show them. */
function withoutDetail(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDetail)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(
    ([name, field]) => [name, withoutDetail(field)] as const,
  )
  const isHit = 'snippet' in value
  return Object.fromEntries(
    entries.filter(([name]) => !isHit || !['memory', 'trail'].includes(name)),
  )
}

it('[OP7] every API returns the same results', async () => {
  const rest = comparable(await tell(await openRest()))
  expect(JSON.stringify(rest)).toContain('supersede')
  expect(comparable(await tell(await openMcp()))).toEqual(rest)
  expect(comparable(await tell(await openCommandLine(false)))).toEqual(rest)
  expect(comparable(await tell(await openCommandLine(true)))).toEqual(rest)
})
