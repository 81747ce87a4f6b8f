/** Recall on the command line, with the models that come with the package. */
import { describe, expect, it } from 'vitest'
import { added, type Cli, createCli } from './cli-host.ts'

const LOCAL = { RECOLLECT_EMBEDDING: 'transformers' }
const STATIC = { RECOLLECT_EMBEDDING: 'static' }

async function withMemories(): Promise<Cli> {
  const cli = createCli()
  await added(cli, 'I prefer tea over coffee.')
  await added(cli, 'My sister Ann lives in Oslo with her two cats.')
  await added(cli, 'We decided to use PostgreSQL for the billing service.')
  return cli
}

describe('recall on the command line', () => {
  it('[RA1] finds by meaning, explains how, and says nothing when nothing fits', async () => {
    const cli = await withMemories()
    const search = (...argv: readonly string[]) => cli(['search', ...argv], { environment: LOCAL })
    const found = await search('which database did we pick', '--json')
    expect(found.json.results[0].memory.content).toContain('PostgreSQL')
    expect(found.json.legs.meaning).toMatchObject({ state: 'searched', hits: 3 })
    const { out } = await search('pets of my sibling', '--explain')
    expect(out).toContain('1. My sister Ann lives in Oslo')
    expect(out).toMatch(/meaning +0\.\d+/)
    expect((await search('how do I bake sourdough bread')).out).toBe(
      'Nothing that fits was found.\n',
    )
  })

  it('[RA17] reindex gives every memory its vector, and status tells how many lack one', async () => {
    const cli = await withMemories()
    const at = { environment: STATIC }
    expect((await cli(['status'], at)).out).toMatch(/vectors +0\n +3 memories without one yet/)
    const done = await cli(['reindex'], at)
    expect(done).toMatchObject({ exit: 0 })
    expect(done.out).toMatch(/^3 memories can be found by meaning \(static:/)
    expect((await cli(['status'], at)).out).toMatch(/vectors +3 \(static:/)
    expect((await cli(['reindex', '--force', '--json'], at)).json).toMatchObject({
      running: false,
      ...{ done: 3, total: 3, pending: 0, error: null },
    })
  })

  it('[RA14] a model that is not there is named, and words still find', async () => {
    const cli = await withMemories()
    const environment = { ...LOCAL, MEMORY_TRANSFORMERS_MODEL: './no-such-model' }
    const { out, exit } = await cli(['search', 'tea'], { environment })
    expect(exit).toBe(0)
    expect(out).toContain('I prefer tea')
    expect(out).toMatch(/Not searched by meaning: .*no-such-model/)
    expect((await cli(['reindex'], { environment })).err).toContain('no-such-model')
  })

  it('[RA1] without a model, status says so and reindex has nothing to work with', async () => {
    const cli = await withMemories()
    expect((await cli(['status'])).out).toMatch(/recall +by words alone/)
    expect((await cli(['reindex'])).err).toContain('no embedding model')
    expect((await cli(['search', 'tea', '--strategy', 'magic'])).err).toContain('There are: hybrid')
  })
})
