import type { Catalogue } from '../catalogue.ts'

export const memories: Catalogue['memories'] = {}
