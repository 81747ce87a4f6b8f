/** An index that finds no more room on the disk. */
import { expect, it } from 'vitest'
import {
  type OpenConnection,
  openConnection,
} from '../../src/storage/sqlite/connection/sqlite-driver.ts'
import { folderWith, put } from './file-support.ts'
import { ADA, found, openFiles, sections } from './index-support.ts'

it('[FX36] a scan on a full disk is reported, the index still answers, and the next scan continues', async () => {
  const limits: ((pages: number) => void)[] = []
  const open: OpenConnection = async (path, key) => {
    const connection = await openConnection(path, key)
    limits.push((pages) => connection.exec(`PRAGMA max_page_count = ${pages}`))
    return connection
  }
  const limit = (pages: number) => {
    for (const set of limits) set(pages)
  }
  const parts = await openFiles({ openConnection: open })
  const { files, innerStore } = parts
  const folder = folderWith({ 'a.md': sections(3, 'kites') })
  await files.roots.add(ADA, { kind: 'path', path: folder })
  await files.sync(ADA)
  limit(1) // no fewer than there are
  put(folder, { 'b.md': sections(300, 'boats') })
  await expect(files.sync(ADA)).rejects.toMatchObject({ code: 'disk_full' })
  expect((await files.status(ADA)).roots).toMatchObject([
    {
      files: 1,
      problems: [{ reason: 'failed', message: expect.stringMatching(/disk|room|space/) }],
    },
  ])
  const answer = await files.search(ADA, { text: 'kites2' })
  expect(answer.hits).not.toEqual([])
  expect(answer.fallbackReason).toContain('not indexed yet')
  await expect(files.sync(ADA, { force: true })).rejects.toMatchObject({ code: 'disk_full' })
  limit(1_000_000)
  await files.sync(ADA)
  expect((await files.status(ADA)).roots).toMatchObject([{ files: 2, problems: [] }])
  expect(await found(parts, 'boats7')).toHaveLength(1)
  expect(await innerStore.checkIntegrity({ repair: false })).toEqual([])
})
