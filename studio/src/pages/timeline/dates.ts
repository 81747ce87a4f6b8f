/** Days and months in local time, as strings such as 2026-05-12 and 2026-05, which are used in the URL. */

export const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone

export function dayOf(at: string | number | Date): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export function monthOf(at: string | number | Date): string {
  return dayOf(at).slice(0, 7)
}

export function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && dayOf(startOf(text)) === text
}

export function isMonth(text: string): boolean {
  return isDay(`${text}-01`)
}

/** Local midnight at the start of a day or month. */
export function startOf(text: string): Date {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number)
  return new Date(year, month - 1, day)
}

export function monthAfter(month: string, steps: number): string {
  const start = startOf(month)
  return monthOf(new Date(start.getFullYear(), start.getMonth() + steps, 1))
}

export type Span = { readonly from: string; readonly to: string }

/** The half-open time range of a month. */
export function spanOf(month: string): Span {
  return {
    from: startOf(month).toISOString(),
    to: startOf(monthAfter(month, 1)).toISOString(),
  }
}

/** The half-open time range of the year of a month. */
export function yearSpanOf(month: string): Span {
  const [first = month] = monthsOfYear(month)
  return { from: startOf(first).toISOString(), to: startOf(monthAfter(first, 12)).toISOString() }
}

/** The months of the year of a month, in order. */
export function monthsOfYear(month: string): readonly string[] {
  const year = startOf(month).getFullYear()
  return Array.from({ length: 12 }, (_, index) => monthOf(new Date(year, index, 1)))
}

export function daysIn(month: string): readonly string[] {
  const start = startOf(month)
  const length = new Date(start.getFullYear(), start.getMonth() + 1, 0).getDate()
  return Array.from({ length }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`)
}

/** A month and the months before it, newest first. */
export function monthsBefore(month: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, steps) => monthAfter(month, -steps))
}
