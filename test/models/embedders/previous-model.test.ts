/** The model of an earlier configuration, where it can still be had. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openPreviousEmbedder } from '../../../src/app/models/model-selection.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const former = (signature: string, options: Parameters<typeof openPreviousEmbedder>[1] = {}) =>
  openPreviousEmbedder(signature, options)?.report() ?? null

it('[RA16] models that come along answer until the new one has every memory', () => {
  for (const model of ['gte-small-int8', 'gte-small-multilingual']) {
    expect(former(`transformers:${model}:384`)).toMatchObject({ model })
  }
  expect(former('static:static-gte-256@0123:256:int8')).toMatchObject({ source: 'static' })
})

it('[RA16] so does another model of the same service, and none of a service that was left', () => {
  const remoteModel = 'openai/text-embedding-3-large'
  const signature = 'openai:text-embedding-3-small:1536'
  const present = { remoteModel, apiKey: 'sk' }
  expect(former(signature, present)).toMatchObject({
    source: 'openai',
    model: 'text-embedding-3-small',
  })
  expect(
    former('ollama:nomic-embed-text:v1.5:768', { remoteModel: 'ollama/bge-m3' }),
  ).toMatchObject({ model: 'nomic-embed-text:v1.5' })
  expect(former('voyage:voyage-3.5:1024', present)).toBeNull()
  expect(former(signature, { ...present, source: 'transformers' })).toBeNull()
  expect(former(signature, { remoteModel })).toBeNull()
  expect(former(signature)).toBeNull()
})

it('[RA16] so does one whose folder stays, or is next to the present one', () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'owner', 'name'), { recursive: true })
  mkdirSync(join(folder, 'mine'))
  const settings = { modelFolder: folder }
  expect(former('transformers:owner/name@0123:384', settings)).toMatchObject({
    model: 'owner/name',
  })
  expect(former('transformers:mine@0123:384', settings)).toMatchObject({ model: 'mine' })
  expect(former('static:mine@0123:256', settings)).toMatchObject({ model: 'mine' })
  expect(former('transformers:mine@0123:384', { localModel: join(folder, 'new') })).toMatchObject({
    model: 'mine',
  })
  expect(former('transformers:gone@0123:384', settings)).toBeNull()
})
