/** Settings that are kept with the data and decide how the engine is built at its next start. */
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine, type EngineOptions } from '../../src/main/compose.ts'
import { temporaryFolder } from '../support/temporary.ts'

async function partsAfter(changes: object, options: EngineOptions = {}) {
  const path = join(temporaryFolder(), 'memory.db')
  const first = await createEngine({ path, embedding: false })
  await first.settings.change(null, { ...changes })
  await first.close()
  const second = await createEngine({ path, ...options })
  onTestFinished(() => second.close())
  return second.parts().embedder
}

it('[SY15] takes the source of vectors from the stored settings', async () => {
  expect(await partsAfter({ embeddingSource: 'static' })).toMatchObject({ source: 'static' })
  expect(await partsAfter({ embeddingSource: 'none' })).toBeNull()
  expect(await partsAfter({ transformersEnabled: false })).toMatchObject({ source: 'static' })
  expect(await partsAfter({ transformersEnabled: false, staticEnabled: false })).toBeNull()
  const remote = { embeddingSource: 'remote', embeddingProviderModel: 'ollama/nomic-embed-text' }
  expect(await partsAfter(remote)).toMatchObject({ model: 'nomic-embed-text' })
})

it('[SY15] what the process was started with goes before them', async () => {
  const options = { embedding: { source: 'static' } } as const
  expect(await partsAfter({ embeddingSource: 'none' }, options)).toMatchObject({ source: 'static' })
  expect(await partsAfter({ embeddingSource: 'static' }, { embedding: false })).toBeNull()
})
