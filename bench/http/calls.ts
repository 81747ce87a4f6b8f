/** The three calls that are measured, each as a request, as an operation of the table, and as calls of the engine. */

import { findOperation } from '../../src/api/operations/index.ts'
import { type OperationContext, performOperation } from '../../src/api/operations/operation.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { Texts } from '../texts.ts'

export const OWNER = 'bench'
/** Without a limit on requests; all else is as it comes. */
export const SETTINGS = { 'server.requestsPerMinute': 0 }
const LIST_LIMIT = 20
const HITS = 10
const QUERY_WORDS = 4

export async function fill(engine: Engine, memories: number): Promise<void> {
  const texts = new Texts(7)
  for (let number = 0; number < memories; number++) {
    await engine.remember({ owner: OWNER }, { content: texts.next() })
  }
}

export type BenchCall = {
  readonly name: string
  readonly request: () => { readonly method: string; readonly path: string; readonly body?: string }
  readonly operation: (context: OperationContext) => Promise<unknown>
  readonly engine: (engine: Engine) => Promise<unknown>
}

export function benchCalls(): readonly BenchCall[] {
  const scope = { owner: OWNER }
  // Numbered, so that no text repeats within a run.
  const texts = new Texts(19)
  let used = 0
  const content = () => `${texts.next()} ${used++}`
  const wanted = new Texts(7)
  const words = new Texts(23)
  const query = () => words.queryFor(wanted.next(), QUERY_WORDS)
  return [
    {
      name: 'GET list',
      request: () => ({ method: 'GET', path: `/api/memory?limit=${LIST_LIMIT}` }),
      operation: (context) =>
        performOperation(findOperation('memory.list'), context, { limit: LIST_LIMIT }),
      engine: (engine) =>
        Promise.all([
          engine.list(scope, { limit: LIST_LIMIT, offset: 0 }),
          engine.memories.count(scope, {}),
          engine.memories.count(scope, {}),
        ]),
    },
    {
      name: 'POST add',
      request: () => post('/api/memory', { content: content() }),
      operation: (context) =>
        performOperation(findOperation('memory.add'), context, { content: content() }),
      engine: (engine) => engine.remember(scope, { content: content() }),
    },
    {
      name: 'POST search',
      request: () => post('/api/memory/search', { query: query(), limit: HITS }),
      operation: (context) =>
        performOperation(findOperation('memory.search'), context, { query: query(), limit: HITS }),
      engine: (engine) => engine.recall(scope, { text: query(), limit: HITS }),
    },
  ]
}

function post(path: string, body: unknown) {
  return { method: 'POST', path, body: JSON.stringify(body) }
}
