/** What an export of Recollect contains, read in the browser: the server previews other formats only. */

export type ExportPreview = {
  readonly memories: number
  readonly turns: number
  /** The first memories. */
  readonly sample: readonly { readonly line: number; readonly text: string }[]
}

const FORMAT = 'recollect-export'
const SAMPLE_MAX = 10

type Line = {
  readonly format?: string
  readonly table?: string
  readonly row?: { readonly content?: string }
}

/** Null for files of other formats. */
export async function previewExport(file: File): Promise<ExportPreview | null> {
  const start = await file.slice(0, 4_096).text()
  if (parse(start.split('\n')[0] ?? '')?.format !== FORMAT) return null
  const lines = (await file.text()).split('\n')
  let [memories, turns] = [0, 0]
  const sample: { line: number; text: string }[] = []
  for (const [index, text] of lines.entries()) {
    const { table, row } = parse(text) ?? {}
    if (table === 'turn') turns++
    if (table !== 'memory') continue
    memories++
    if (sample.length < SAMPLE_MAX) sample.push({ line: index + 1, text: row?.content ?? '' })
  }
  return { memories, turns, sample }
}

function parse(text: string): Line | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Line | null) : null // fields are read one by one
  } catch {
    return null
  }
}
