import type { Catalogue } from '../catalogue.ts'

export const map: Catalogue['map'] = {}
