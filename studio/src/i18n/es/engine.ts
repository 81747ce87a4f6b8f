import type { Catalogue } from '../catalogue.ts'

export const engine: Catalogue['engine'] = {}
