import type { Catalogue } from '../catalogue.ts'

export const files: Catalogue['files'] = {}
