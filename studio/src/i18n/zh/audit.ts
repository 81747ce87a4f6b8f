import type { Catalogue } from '../catalogue.ts'

export const audit: Catalogue['audit'] = {}
