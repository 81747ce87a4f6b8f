import { z } from 'zod'

export const pageFields = {
  limit: z.int().min(1).max(200).default(50),
  after: z.string().max(200).optional().describe('The `next` cursor of the previous page.'),
}

export const nextCursorField = z.string().nullable()
