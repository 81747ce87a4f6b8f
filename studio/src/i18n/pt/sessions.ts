import type { Catalogue } from '../catalogue.ts'

export const sessions: Catalogue['sessions'] = {}
