import type { Catalogue } from '../catalogue.ts'

export const playground: Catalogue['playground'] = {}
