import type { Catalogue } from '../catalogue.ts'

export const common: Catalogue['common'] = {}
