import type { Catalogue } from '../catalogue.ts'

export const receipts: Catalogue['receipts'] = {}
