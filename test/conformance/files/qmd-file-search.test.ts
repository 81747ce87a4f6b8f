import { describe } from 'vitest'
import type { OwnerId } from '../../../src/domain/ids.ts'
import type { QmdOptions } from '../../../src/files/qmd/qmd-file-search.ts'
import { openQmd } from '../../files/qmd-support.ts'
import { realQmd } from '../../qmd/program.mjs'
import { describeFileSearch } from './file-search.suite.ts'

const open = (options: Partial<QmdOptions>) => async () => {
  const { search, files } = await openQmd(options)
  return {
    search,
    addWorkspace: async (owner: OwnerId, folder: string) => {
      await files.roots.add(owner, { kind: 'workspace', path: folder })
    },
  }
}

describeFileSearch('qmd, a stand-in', open({}))

const real = realQmd()
if (real.command === undefined) describe.skip(`qmd itself: ${real.reason}`, () => {})
else describeFileSearch('qmd itself', open({ command: real.command }))
