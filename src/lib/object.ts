export type Defined<Fields> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> }

/** Leaves fields out whose value is `undefined`: `exactOptionalPropertyTypes` tells the two apart, and so do readers. */
export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as Defined<Fields> // the same names, less the undefined ones
}
