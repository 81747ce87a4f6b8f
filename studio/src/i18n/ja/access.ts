import type { Catalogue } from '../catalogue.ts'

export const access: Catalogue['access'] = {}
