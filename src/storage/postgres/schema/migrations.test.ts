import { expect, it } from 'vitest'
import { MIGRATIONS } from './migrations.ts'

const TAKES_AWAY = /\b(DROP|RENAME|TRUNCATE|DELETE|SET NOT NULL|ALTER COLUMN|ALTER TYPE)\b/i
const UNFILLED_COLUMN = /ADD COLUMN(?![^,;]*(DEFAULT|GENERATED))[^,;]*NOT NULL/i

it.each(MIGRATIONS.filter(({ isAdditive: onlyAdds }) => onlyAdds === true))(
  '[PG10] takes nothing away that servers of the version before still use: $name',
  ({ sql }) => {
    expect(sql).not.toMatch(TAKES_AWAY)
    expect(sql).not.toMatch(UNFILLED_COLUMN)
  },
)

it('[PG10] says of every step since servers are updated one by one whether it only adds', () => {
  for (const { name, isAdditive: onlyAdds } of MIGRATIONS.slice(3))
    expect(onlyAdds, name).toBeTypeOf('boolean')
})
