/** Looking into answers that may have any form. */

/** A field of a value that may be anything. */
export function field(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
  return (value as Readonly<Record<string, unknown>>)[name] // it has the field
}

/** The same field of every item of a list; undefined when it is no list. */
export function fieldOfEach(list: unknown, name: string): unknown {
  return Array.isArray(list) ? list.map((item) => field(item, name)) : undefined
}
