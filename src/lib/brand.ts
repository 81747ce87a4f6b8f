declare const brand: unique symbol

/** A nominal type: values come from its parser alone, and different brands of one base type cannot be mixed up. */
export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }
