/**
 * Allowances that all processes take from: one row each, which fills by the clock of the server, so that the clocks of
 * the processes don't matter.
 */
import { toStorable } from '../../../text/storable-text.ts'
import type { TakeTokens, TokenGrant } from '../../store.ts'
import type { PostgresDatabase } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

/** One that nobody has taken from for this long is full, and as good as none. */
const FULL_AFTER_MINUTES = 2
/** How often the full ones are removed, in calls. */
const SWEEP_EVERY = 1_000

export function createTokenBuckets({ query }: PostgresDatabase, names: SqlIdentifiers): TakeTokens {
  let calls = 0
  return async (name, { perMinute, wanted, least }): Promise<TokenGrant> => {
    if (++calls % SWEEP_EVERY === 0) {
      await query(
        `DELETE FROM ${names.allowance} WHERE at < now() - interval '${FULL_AFTER_MINUTES} minutes'`,
      )
    }
    const [row] = await query<TokenGrant>(takeStatement(names), [
      toStorable(name),
      perMinute,
      wanted,
      least,
    ])
    return row ?? { granted: 0, left: 0 }
  }
}

/** One that isn't there yet is full. What was taken is kept in the row, since only that can be answered with. */
function takeStatement({ allowance }: SqlIdentifiers): string {
  const taken = (there: string) =>
    `CASE WHEN ${there} >= $4::float8 THEN LEAST($3::float8, floor(${there})) ELSE 0 END`
  const full = '$2::float8'
  const refilled = `LEAST(${full},
    a.amount + GREATEST(0, extract(epoch FROM now() - a.at)::float8) * ${full} / 60)`
  return `
    INSERT INTO ${allowance} AS a (name, amount, taken, at)
    VALUES ($1, ${full} - (${taken(full)}), ${taken(full)}, now())
    ON CONFLICT (name) DO UPDATE SET amount = ${refilled} - (${taken(refilled)}),
      taken = ${taken(refilled)}, at = GREATEST(a.at, now())
    RETURNING taken::integer AS granted, amount AS left`
}
