import type { Defined } from '../api/cli/input/memory-options.ts'

export function omitUndefined<Fields extends object>(fields: Fields): Defined<Fields> {
  const defined = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(defined) as Defined<Fields> // the same names, less the undefined ones
}

/** Without the fields that were not given: to the engine, `undefined` is no value. */
export function omitUndefined<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields> // the same fields, some left out
}

/** Only what was given: an option that is left out has its default, one that is undefined has not. */
export function given<Options extends object>(options: Options) {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Options]?: Exclude<Options[Name], undefined>
  } // the rest was left out
}
