import { describe, expect, it } from 'vitest'
import { openPostgresStore, redactConnectionString } from './postgres-store.ts'

describe('withoutPassword', () => {
  it.each([
    [
      'postgresql://ada:secret@db.example:5432/memories',
      'postgresql://ada:***@db.example:5432/memories',
    ],
    ['postgresql://ada@db.example/memories', 'postgresql://ada@db.example/memories'],
    ['postgresql://db.example/m?user=ada&password=secret', 'postgresql://db.example/m?user=ada'],
    ['host=db.example password=secret', 'postgres'],
  ])('shows %s as %s', (given, shown) => {
    expect(redactConnectionString(given)).toBe(shown)
  })
})

it.each(['', 'x'.repeat(64), 'nul\0'])('refuses the schema name %j', async (schema) => {
  const connectionString = 'postgresql://127.0.0.1:1/none'
  await expect(openPostgresStore({ connectionString, schema })).rejects.toMatchObject({
    code: 'invalid_input',
  })
})
