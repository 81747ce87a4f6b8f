/**
 * Encodes text for databases: UTF-8 has no lone surrogates, and PostgreSQL rejects NUL. Both, and the escape character
 * itself, are stored as an escape followed by four hex digits, so every string is read back unchanged. Nearly all text
 * passes through untouched.
 */
const ESCAPE = '\ue000'
const UNSTORABLE =
  /[\0\ue000]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const ESCAPED = /\ue000([0-9a-f]{4})/g

export function toStorable(text: string): string {
  return text.replace(
    UNSTORABLE,
    (unit) => ESCAPE + unit.charCodeAt(0).toString(16).padStart(4, '0'),
  )
}

export function fromStorable(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replace(ESCAPED, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
