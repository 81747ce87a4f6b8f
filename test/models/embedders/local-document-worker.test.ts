/** When documents get a worker process of their own. */
import { describe, expect, it } from 'vitest'
import { withDocumentWorker } from '../../../src/models/embedders/local/document-worker.ts'
import { openLocalEmbedderWith } from '../../../src/models/embedders/local/local-embedder.ts'
import { type FakeWorker, fakeWorkers } from '../../fakes/embedder-worker.ts'

function opened() {
  const { start, started } = fakeWorkers()
  const time = { now: 0 }
  const open = () => openLocalEmbedderWith(start)
  const embedder = withDocumentWorker(open(), open, { now: () => time.now })
  const worker = (index: number): FakeWorker => {
    const found = started[index]
    if (found === undefined) throw new Error(`There is no worker ${index}.`)
    return found
  }
  const embed = (text: string, purpose: 'query' | 'document') => embedder.embed([text], { purpose })
  /** A question that comes while a document is embedded. */
  const collide = async () => {
    const document = embed('document', 'document')
    const query = embed('query', 'query')
    worker(0).embed()
    worker(0).embed()
    await Promise.all([document, query])
  }
  return { embedder, embed, worker, started, time, collide }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('a worker for documents', () => {
  it('[EM36] starts when questions keep meeting documents, and takes all further ones', async () => {
    const { embedder, embed, worker, started, collide } = opened()
    const first = embed('one', 'document')
    worker(0).open()
    worker(0).embed()
    await first
    for (let times = 0; times < 3; times++) {
      expect(started).toHaveLength(1)
      await collide()
    }
    const document = embed('apart', 'document')
    await settled()
    expect(started).toHaveLength(2)
    worker(1).open()
    await settled()
    const query = embed('at once', 'query')
    worker(0).embed()
    expect(await query).toHaveLength(1)
    expect(worker(1).asked).toEqual(['apart'])
    worker(1).embed()
    expect(await document).toHaveLength(1)
    await embedder.close()
  })

  it('[EM36] does not start for questions that meet documents now and then', async () => {
    const { embedder, embed, worker, started, time, collide } = opened()
    const first = embed('one', 'document')
    worker(0).open()
    worker(0).embed()
    await first
    for (let times = 0; times < 6; times++) {
      await collide()
      time.now += 6_000
    }
    const document = embed('as before', 'document')
    worker(0).embed()
    expect(await document).toHaveLength(1)
    expect(started).toHaveLength(1)
    await embedder.close()
  })

  it('[EM36] gives documents back to the first process when it fails', async () => {
    const { embedder, embed, worker, started, collide } = opened()
    const first = embed('one', 'document')
    worker(0).open()
    worker(0).embed()
    await first
    for (let times = 0; times < 3; times++) await collide()
    const document = embed('apart', 'document')
    await settled()
    expect(started).toHaveLength(2)
    worker(1).end('killed')
    await settled()
    await settled()
    worker(0).embed()
    expect(await document).toHaveLength(1)
    await embedder.close()
  })
})
