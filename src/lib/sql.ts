/** Quotes an identifier for a statement. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
