/** Downloads memories as an export file. */
import type { Memory } from '../../api/client.ts'
import { linesOf } from '../../api/lines.ts'
import type { SearchParams } from '../../app/search-params.ts'
import { isRankedSearch, listPage, ROWS_PER_PAGE, searchMemories } from './queries.ts'

const exportUrl = (owner: string) => `/api/memory/export?${new URLSearchParams({ owner })}`

export function exportAll(owner: string): void {
  download(exportUrl(owner))
}

/** Exports the memories that match the current search and filters. */
export async function exportFiltered(owner: string, search: SearchParams): Promise<void> {
  const ids = new Set<string>()
  for await (const { id } of filteredMemories(owner, search)) ids.add(id)
  await exportMemories(owner, ids)
}

/** Exports memories with their version history. */
export async function exportMemories(owner: string, ids: ReadonlySet<string>): Promise<void> {
  const response = await fetch(exportUrl(owner), { credentials: 'same-origin' })
  if (!response.ok || response.body === null) {
    throw new Error(`The server answered ${response.status}.`)
  }
  const lines: string[] = []
  for await (const line of linesOf(response.body)) if (isSelectedLine(line, ids)) lines.push(line)
  const href = URL.createObjectURL(new Blob([`${lines.join('\n')}\n`]))
  download(href)
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}

async function* filteredMemories(owner: string, search: SearchParams): AsyncIterable<Memory> {
  if (isRankedSearch(search)) {
    yield* (await searchMemories(owner, search)).memories
    return
  }
  for (let page = 0; ; page++) {
    const { data: rows } = await listPage(owner, search, page).queryFn()
    yield* rows
    if (rows.length < ROWS_PER_PAGE) return
  }
}

type Line = {
  readonly table?: string
  readonly row?: { readonly id: string; readonly memory?: { readonly id: string } }
}

/** The header line, which has no table, is always included. */
function isSelectedLine(line: string, ids: ReadonlySet<string>): boolean {
  const { table, row } = JSON.parse(line) as Line // written by the server
  if (table === undefined) return true
  const id = table === 'memory' ? row?.id : table === 'revision' ? row?.memory?.id : undefined
  return id !== undefined && ids.has(id)
}

function download(href: string): void {
  const link = document.createElement('a')
  link.href = href
  link.download = 'recollect-memories.jsonl'
  link.click()
}
