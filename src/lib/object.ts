export type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** Removes fields whose value is `undefined`, which `exactOptionalPropertyTypes` does not take for missing ones. */
export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as Defined<Fields> // the same names, less the undefined ones
}
