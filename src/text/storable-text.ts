/**
 * Text that databases can hold.
 *
 * A JavaScript string may hold NUL and lone halves of surrogate pairs; UTF-8 has no lone halves, and PostgreSQL
 * refuses NUL. Both are written as an escape followed by four hex digits, and so is the escape itself, so that
 * every string comes back exactly as it was given. Nearly every text passes through untouched.
 */
const ESCAPE = '\ue000'
const TROUBLE = /[\0\ue000]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPED = /\ue000([0-9a-f]{4})/g

export function toStorable(text: string): string {
  return text.replace(TROUBLE, (unit) => ESCAPE + unit.charCodeAt(0).toString(16).padStart(4, '0'))
}

export function fromStorable(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
