import type { Catalogue } from '../catalogue.ts'

export const jobs: Catalogue['jobs'] = {}
