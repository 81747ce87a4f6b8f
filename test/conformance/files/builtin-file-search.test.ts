import { createHashingEmbedder } from '../../../src/models/embedders/hashing-embedder.ts'
import { type OpenOptions, openFiles } from '../../files/index-support.ts'
import { describeFileSearch } from './file-search.suite.ts'

const open = (options: OpenOptions) => async () => {
  const { files } = await openFiles(options)
  return {
    search: files,
    addWorkspace: async (owner: Parameters<typeof files.sync>[0], folder: string) => {
      await files.roots.add(owner, { kind: 'workspace', path: folder })
    },
  }
}

describeFileSearch('built-in', open({}))
describeFileSearch('built-in, with vectors', open({ embedder: createHashingEmbedder() }))
