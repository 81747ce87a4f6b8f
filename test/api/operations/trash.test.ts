/** What a client that deletes a memory can rely on. */
import { expect, it } from 'vitest'
import { openContext } from './operation-support.ts'

const CONTENT = 'The harbour master is called Ilse'

async function openTrash() {
  const opened = openContext({ role: 'user' })
  const { call } = opened
  const { id } = (await call('memory.add', { content: CONTENT })) as { id: string }
  await call('memory.forget', { id })
  return { ...opened, id }
}

it('[OP11.1] a memory in the trash is read on request only', async () => {
  const { call, id } = await openTrash()
  const refused = await call('memory.get', { id }).catch((error: Error) => error)
  expect(refused).toMatchObject({ code: 'not_found', message: expect.stringContaining('trash') })
  expect(String(refused)).not.toContain('Ilse')
  expect(await call('memory.get', { id, includeTrash: true })).toMatchObject({
    memory: { content: CONTENT, status: 'forgotten' },
  })
})

it('[OP11.2] deleting it again finds nothing, and restoring it brings it back', async () => {
  const { call, id } = await openTrash()
  await expect(call('memory.forget', { id })).rejects.toMatchObject({ code: 'not_found' })
  await call('memory.restore', { id })
  expect(await call('memory.get', { id })).toMatchObject({ memory: { content: CONTENT } })
})

it('[OP11.3] a permanent deletion erases the text everywhere, also from the trash', async () => {
  for (const isInTrash of [true, false]) {
    const { call, engine, id } = await openTrash()
    if (!isInTrash) await call('memory.restore', { id })
    const agent = { role: 'agent' } as const
    await expect(call('memory.forget', { id, permanent: true }, agent)).rejects.toMatchObject({
      code: 'forbidden',
    })
    const erased = await call('memory.forget', { id, permanent: true })
    expect(erased).toMatchObject({ erased: true, memory: { id, content: '' } })
    const read = call('memory.get', { id, includeTrash: true })
    await expect(read).rejects.toMatchObject({ code: 'not_found' })
    expect(await engine.memories.history({ owner: 'ada' }, id).catch(() => [])).toEqual([])
    await expect(call('memory.restore', { id })).rejects.toMatchObject({ code: 'not_found' })
  }
})
