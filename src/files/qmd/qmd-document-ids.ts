/**
 * The files that documents are, by the beginning of their hash, from the index of `qmd` itself: some versions print nothing
 * else. Whatever goes wrong, nothing is known.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const DOCID = /^[0-9a-f]{6,64}$/i

export async function findFilesByDocumentId(
  home: string,
  docids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const path = join(home, 'cache', 'qmd', 'index.sqlite')
  const asked = docids.filter((docid) => DOCID.test(docid))
  if (asked.length === 0 || !existsSync(path)) return new Map()
  const { DatabaseSync } = await import('@photostructure/sqlite')
  try {
    const database = new DatabaseSync(path, { readOnly: true, timeout: 200 })
    try {
      const select = database.prepare(
        'SELECT collection, path FROM documents WHERE active = 1 AND substr(hash, 1, ?) = ? LIMIT 1',
      )
      const found = asked.flatMap((docid): readonly (readonly [string, string])[] => {
        const row = select.get(docid.length, docid.toLowerCase()) as Row | undefined // as selected
        return row === undefined ? [] : [[docid, `${row.collection}/${row.path}`]]
      })
      return new Map(found)
    } finally {
      database.close()
    }
  } catch {
    return new Map()
  }
}

type Row = { readonly collection: string; readonly path: string }
