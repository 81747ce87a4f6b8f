/** Downloads memories as an export file. */
import type { Memory } from '../../api/client.ts'
import { linesOf } from '../../api/lines.ts'
import type { SearchParams } from '../../app/search-params.ts'
import { FILE_ENDINGS, renderMemories, type TextFormat } from './export-formats.ts'
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

/** Exports the memories that match the current search and filters in a format for people and spreadsheets. */
export async function exportAsText(
  owner: string,
  search: SearchParams,
  format: TextFormat,
): Promise<void> {
  const memories: Memory[] = []
  for await (const memory of filteredMemories(owner, search)) memories.push(memory)
  saveText(renderMemories(memories, format), FILE_ENDINGS[format])
}

/** Exports memories with their version history. */
export async function exportMemories(owner: string, ids: ReadonlySet<string>): Promise<void> {
  const response = await fetch(exportUrl(owner), { credentials: 'same-origin' })
  if (!response.ok || response.body === null) {
    throw new Error(`The server answered ${response.status}.`)
  }
  const lines: string[] = []
  for await (const line of linesOf(response.body)) if (isSelectedLine(line, ids)) lines.push(line)
  saveText(`${lines.join('\n')}\n`, 'jsonl')
}

function saveText(text: string, ending: string): void {
  const href = URL.createObjectURL(new Blob([text]))
  download(href, ending)
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

function download(href: string, ending = 'jsonl'): void {
  const link = document.createElement('a')
  link.href = href
  link.download = `recollect-memories.${ending}`
  link.click()
}
