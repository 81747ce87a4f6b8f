/** Recall on the command line, with the models that come with the package. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEngine } from '../../../src/app/composition.ts'
import { added, type Cli, createCli } from './cli-host.ts'

const LOCAL = { RECOLLECT_EMBEDDING_SOURCE: 'transformers' }
const STATIC = { RECOLLECT_EMBEDDING_SOURCE: 'static' }

async function withMemories(): Promise<Cli> {
  const cli = createCli()
  await added(cli, 'I prefer tea over coffee.')
  await added(cli, 'My sister Ann lives in Oslo with her two cats.')
  await added(cli, 'We decided to use PostgreSQL for the billing service.')
  return cli
}

async function withConversation({ folder }: Cli): Promise<void> {
  const engine = await createEngine({ path: join(folder, 'recollect.db'), embedding: false })
  await engine.learning.ingest({
    ...{ owner: 'default', conversation: 'shop', skipExtraction: true },
    turns: [{ user: 'What did we order?', assistant: 'We ordered ten tins of sencha tea.' }],
  })
  await engine.close()
}

describe('recall on the command line', () => {
  it('[RA1] finds by meaning, explains how, and says nothing when nothing fits', async () => {
    const cli = await withMemories()
    const search = (...argv: readonly string[]) => cli(['search', ...argv], { environment: LOCAL })
    const found = await search('which database did we pick', '--json')
    expect(found.json.results[0].memory.content).toContain('PostgreSQL')
    expect(found.json.retrievers.vector).toMatchObject({ state: 'searched', hits: 3 })
    const { out } = await search('pets of my sibling', '--explain')
    expect(out).toContain('1. My sister Ann lives in Oslo')
    expect(out).toMatch(/vector +0\.\d+/)
    expect((await search('how do I bake sourdough bread')).out).toBe('No matching memories.\n')
  })

  it('[RA17] reindex embeds every memory, and status counts those without a vector', async () => {
    const cli = await withMemories()
    const at = { environment: STATIC }
    expect((await cli(['status'], at)).out).toMatch(/vectors +0\n +3 not embedded yet/)
    const done = await cli(['reindex'], at)
    expect(done).toMatchObject({ exit: 0 })
    expect(done.out).toMatch(/^3 memories and turns are embedded \(static:/)
    expect((await cli(['status'], at)).out).toMatch(/vectors +3 \(static:/)
    expect((await cli(['reindex', '--force', '--json'], at)).json).toMatchObject({
      running: false,
      ...{ done: 3, total: 3, pending: 0, error: null },
    })
  })

  it('[TU7] search shows speaker, time and session of a turn, and get shows all of it', async () => {
    const cli = await withMemories()
    await withConversation(cli)
    const { out } = await cli(['search', 'which tea did we order'])
    expect(out).toMatch(/^SCORE +COVERS +ID +CONTENT\n/)
    expect(out).toMatch(
      /turn_\w+ +\[assistant, just now\] We ordered ten tins of sencha tea\. \(session shop\)/,
    )
    expect(out).toContain('I prefer tea over coffee.')
    const { json } = await cli(['search', 'sencha', '--source', 'transcript', '--json'])
    const [hit] = json.results
    expect(hit).toMatchObject({ source: 'transcript', role: 'assistant', sessionId: 'shop' })
    const whole = await cli(['get', hit.id])
    expect(whole.out).toMatch(/^We ordered ten tins of sencha tea\.\n\n +id +turn_/)
    const explained = await cli(['search', 'sencha tea', '--explain'])
    expect(explained.out).toMatch(/1\. \[assistant, just now\] We ordered/)
    const facts = await cli(['search', 'tea', '--source', 'memories'])
    expect(facts.out).toMatch(/^SCORE +COVERS +ID +MEMORY\n/)
    expect(facts.out).not.toContain('turn_')
  })

  it('[TU8] status counts memories, turns, and those not embedded yet', async () => {
    const cli = await withMemories()
    await withConversation(cli)
    const at = { environment: STATIC }
    const { out } = await cli(['status'], at)
    expect(out).toMatch(/holds +3 memories, 2 turns\n/)
    expect(out).toMatch(/vectors +0\n +5 not embedded yet; `recollect reindex` embeds them\n/)
    const { out: done } = await cli(['reindex'], at)
    expect(done).toMatch(
      /^5 memories and turns are embedded \(static:static-gte-256@\w+:256\)\.\n$/,
    )
    expect((await cli(['doctor'], at)).out).toBe('No problems found.\n')
  })

  it('[RA14] a model that is not there is named, and words still find', async () => {
    const cli = await withMemories()
    const environment = { ...LOCAL, MEMORY_TRANSFORMERS_MODEL: './no-such-model' }
    const { out, exit } = await cli(['search', 'tea'], { environment })
    expect(exit).toBe(0)
    expect(out).toContain('I prefer tea')
    // The built-in model takes its place.
    expect((await cli(['reindex'], { environment })).out).toContain('transformers:gte-small')
    expect((await cli(['status'], { environment })).out).toContain('no-such-model')
  })

  it('[RA1] without a model, status reports it and reindex refuses', async () => {
    const cli = await withMemories()
    expect((await cli(['status'])).out).toMatch(/recall +keyword search only\n/)
    expect((await cli(['reindex'])).err).toContain('No embedding model is configured.')
    expect((await cli(['search', 'tea', '--strategy', 'magic'])).err).toContain(
      'Valid values: hybrid, semantic, keyword, recent, exact.',
    )
  })
})
