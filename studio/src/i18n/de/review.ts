import type { Catalogue } from '../catalogue.ts'

export const review: Catalogue['review'] = {}
