import type { Catalogue } from '../catalogue.ts'

export const timeline: Catalogue['timeline'] = {}
