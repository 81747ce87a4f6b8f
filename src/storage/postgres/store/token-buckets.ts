/**
 * Token buckets shared by all processes: one row each, refilled by the server's clock, so that
 * clock differences between processes do not matter.
 */
import { sha256 } from '../../../lib/hash.ts'
import type { TakeTokens, TokenGrant } from '../../store.ts'
import type { PostgresDatabase } from '../connection/postgres-driver.ts'
import type { SqlIdentifiers } from '../schema/identifiers.ts'

/** A bucket that is unused for this long is full, so its row can be deleted. */
const FULL_AFTER_MINUTES = 2
/** Calls between cleanups of full buckets. */
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
      // A name contains that of an owner, which must not outlive the owner's erasure.
      sha256(name),
      perMinute,
      wanted,
      least,
    ])
    return row ?? { granted: 0, left: 0 }
  }
}

/**
 * A missing bucket is full. The row stores the number of tokens taken, since RETURNING can only
 * return stored values.
 */
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
