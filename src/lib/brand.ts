import type { brand } from '../domain/ids.ts'

export type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }
