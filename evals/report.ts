/** The report of an eval, and its rendering as a table. */
export type Table = {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly (string | number)[])[]
}

/** A floor for a metric. `holds` is false when the measured value is below it. */
export type Floor = {
  readonly name: string
  readonly value: number
  readonly floor: number
  readonly holds: boolean
}

export type EvalReport = {
  readonly eval: string
  readonly metrics: Readonly<Record<string, number>>
  readonly tables: readonly Table[]
  readonly floors: readonly Floor[]
  /** The output of `--json`, if it is not the report itself. */
  readonly json?: unknown
}

export type EvalOptions = {
  /** Folder with the public data sets. */
  readonly data: string
  /** Lists the misses. */
  readonly explain: boolean
  /** The number of groups, always the same ones. */
  readonly sample?: number
  /** Called with progress messages. */
  readonly onProgress?: (words: string) => void
}

/** Renders progress with an estimate of the remaining time. */
export function timeLeft(total: number): (done: number) => string {
  const began = performance.now()
  return (done) => {
    const seconds = (performance.now() - began) / 1_000
    const left = Math.round((seconds / Math.max(1, done)) * (total - done))
    return `${done} of ${total}, about ${left} s left`
  }
}

export function atLeast(name: string, value: number, floor: number): Floor {
  return { name, value, floor, holds: value >= floor }
}

export function above(name: string, value: number, floor: number): Floor {
  return { name, value, floor, holds: value > floor }
}

/** A ceiling for a metric that should be low. */
export function below(name: string, value: number, floor: number): Floor {
  return { name, value, floor, holds: value < floor }
}

export function atMost(name: string, value: number, floor: number): Floor {
  return { name, value, floor, holds: value <= floor }
}

export function renderTable(table: Table): string {
  const cells = [
    table.columns,
    ...table.rows.map((row) =>
      row.map((cell) =>
        typeof cell === 'number' && !Number.isInteger(cell) ? cell.toFixed(3) : String(cell),
      ),
    ),
  ]
  const widths = table.columns.map((_, column) =>
    Math.max(...cells.map((row) => (row[column] ?? '').length)),
  )
  const lines = cells.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  )
  return [table.title, ...lines].join('\n')
}
