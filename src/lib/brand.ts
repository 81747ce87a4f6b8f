declare const brand: unique symbol

/** A type that only its parser makes, so that values of the same base type cannot be mixed up. */
export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }
