import type { ReactNode } from 'react'
import styles from './table.module.css'

export type Column<Row> = {
  readonly name: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  readonly width?: string
}

/** A table for up to a few hundred rows. For longer lists see the virtualized list in `pages/memories/list.tsx`. */
export function Table<Row>({
  name,
  columns,
  rows,
  idOf,
}: {
  /** The accessible name. */
  name: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  idOf: (row: Row) => string
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable regions must be focusable
    <section className={styles.frame} aria-label={name} tabIndex={0}>
      <table className={styles.table}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.name}
                scope="col"
                className={column.isNumber === true ? styles.number : ''}
                {...(column.width === undefined ? {} : { style: { width: column.width } })}
              >
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={idOf(row)}>
              {columns.map((column) => (
                <td
                  key={column.name}
                  data-name={column.name}
                  className={column.isNumber === true ? styles.number : ''}
                >
                  <span className={styles.cell}>{column.cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
