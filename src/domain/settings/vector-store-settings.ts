/** The part of the table of settings that says where vectors are kept. */
import type { SettingDeclaration } from './setting-declaration.ts'

export const QUANTIZATIONS = ['none', 'int8', 'binary'] as const

export const VECTOR_SETTINGS = {
  'vectorStore.backend': {
    kind: 'choice',
    default: 'auto',
    choices: ['auto', 'embedded', 'pgvector', 'qdrant', 'lancedb', 'sqlite-vec'],
    scope: 'system',
    help: 'What finds memories by meaning. Their vectors are always kept with them (`embedded`, also called `sqlite-vec`; `pgvector` where they are in PostgreSQL). `qdrant` and `lancedb` keep a copy that answers while it is well and up to date. `auto` uses the one that an address or a folder is set for.',
  },
  'vectorStore.qdrantUrl': {
    kind: 'text',
    default: '',
    format: 'address',
    scope: 'system',
    help: 'Where Qdrant is, as `http://127.0.0.1:6333`. Its key is set with `PUT /api/settings/qdrant` or `RECOLLECT_QDRANT_API_KEY`.',
  },
  'vectorStore.qdrantQuantization': {
    kind: 'choice',
    default: 'none',
    choices: QUANTIZATIONS,
    scope: 'system',
    help: 'Whether Qdrant looks through smaller copies of vectors: a quarter (`int8`) or a thirty-second (`binary`) of the memory. The best are compared exactly in any case.',
  },
  'vectorStore.qdrantCollectionPrefix': {
    kind: 'text',
    default: 'recollect',
    scope: 'system',
    help: 'What the names of the collections in Qdrant begin with.',
  },
  'vectorStore.lancedbFolder': {
    kind: 'text',
    default: '',
    scope: 'system',
    help: 'The folder where LanceDB keeps its copy. Default: `lancedb` in the data folder, where `vectorStore` is `lancedb`. Needs the package `@lancedb/lancedb`.',
  },
} as const satisfies Record<string, SettingDeclaration>
