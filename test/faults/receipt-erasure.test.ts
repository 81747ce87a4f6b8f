/** What receipts cite, in a real file: erasing leaves no byte of it, and a migration takes it along. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { migrateStore } from '../../src/portability/store-migration/store-migration.ts'
import { openSqliteStore } from '../../src/storage/sqlite/sqlite-store.ts'
import { ADA } from '../conversations/conversations-support.ts'
import { openCited } from '../conversations/receipt-texts.suite.ts'
import { temporaryFile } from '../support/temporary-folder.ts'

const QUESTION = 'Which instrument does Clara play?'
const SAID = 'Wondering whether the xyzzyplugh of Clara survives the flight to Porto in winter'
const ABOUT_FLIGHT = 'Which instrument of Clara survives the flight to Porto?'

/** With receipts that cite other memories before and after, so that rows share pages. */
async function openFile() {
  const path = temporaryFile('receipts.db')
  const cited = await openCited(() => openSqliteStore({ path, now: Date.now }))
  const { engine, asked } = cited
  const fill = async (word: string) => {
    await engine.remember(ADA, { content: `${word} prefers the lighthouse` })
    for (let n = 0; n < 60; n++) await asked(`What does ${word} prefer? ${n}`)
  }
  await fill('Berta')
  return { ...cited, path, fill }
}

it('[RC5] erasing a memory leaves no trace of its words in the file', async () => {
  const { engine, asked, fill, path, detail } = await openFile()
  const { memory } = await engine.remember(ADA, { content: 'Clara plays the xyzzyplugh' })
  const { id, block } = await asked(QUESTION)
  await engine.edit(ADA, memory.id, { content: 'Clara plays the xyzzyplugh badly' })
  expect((await asked(`${QUESTION} Again.`)).block).toContain('xyzzyplugh badly')
  await fill('Carl')
  expect((await detail(id)).block).toBe(block)
  expect(block).toContain('xyzzyplugh')
  await engine.memories.erase(ADA, memory.id)
  expect((await detail(id)).block).toContain('\n- [erased]\n')
  await engine.close()
  const bytes = readFileSync(path)
  expect(bytes.includes('Carl prefers the lighthouse (')).toBe(true)
  expect(bytes.includes('xyzzyplugh')).toBe(false)
})

it('[RC5] removing a turn leaves no trace of its excerpts in the file', async () => {
  const { engine, asked, said, fill, path, detail } = await openFile()
  const turn = await said(SAID)
  const { id, block } = await asked(ABOUT_FLIGHT)
  expect(block).toContain('xyzzyplugh')
  await fill('Carl')
  await engine.conversations.turns.delete(ADA, turn.id)
  expect((await detail(id)).block).toContain('\n- [erased]\n')
  await engine.close()
  expect(readFileSync(path).includes('xyzzyplugh')).toBe(false)
})

it('[RC5] erasing an owner leaves no trace of its receipts in the file', async () => {
  const { engine, asked, said, path } = await openFile()
  await said(SAID)
  await engine.remember(ADA, { content: 'Clara plays the xyzzyplugh' })
  await asked(`${QUESTION} ${ABOUT_FLIGHT}`)
  await engine.admin.eraseOwner('ada')
  await engine.close()
  const bytes = readFileSync(path)
  expect(bytes.includes('lighthouse')).toBe(false)
  expect(bytes.includes('xyzzyplugh')).toBe(false)
})

it('[RC2] a receipt shows the same block in the store that everything was moved to', async () => {
  const { engine, asked, path, on } = await openFile()
  const { memory } = await engine.remember(ADA, { content: 'Clara plays the xyzzyplugh' })
  const { id, block } = await asked(QUESTION)
  const now = () => 1_000
  const source = await openSqliteStore({ path, now })
  const target = await openSqliteStore({ path: ':memory:', now })
  await migrateStore({ source, target, now })
  await source.close()
  const moved = on(target)
  expect(block).toContain('xyzzyplugh')
  expect((await moved.conversations.receipts.get(ADA, id))?.block).toBe(block)
  await moved.memories.erase(ADA, memory.id)
  expect((await moved.conversations.receipts.get(ADA, id))?.block).toContain('\n- [erased]\n')
  await moved.close()
})
