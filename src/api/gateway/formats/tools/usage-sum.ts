import { isObject, type Json, type JsonObject } from '../../../../lib/json.ts'

/** What two rounds used together. Every number is a count; of anything else the later one holds. */
export function sumUsage(one: Json | undefined, other: Json | undefined): Json {
  if (typeof one === 'number' && typeof other === 'number') return one + other
  if (!isObject(one) || !isObject(other)) return other ?? one ?? null
  const sum: Record<string, Json> = { ...one }
  for (const [name, value] of Object.entries(other)) sum[name] = sumUsage(one[name], value)
  return sum
}

/** Of one round: what is told later in it replaces what was told before, unless it says nothing. */
export function mergeUsage(one: JsonObject, other: JsonObject): JsonObject {
  const told = Object.entries(other).filter(([, value]) => value !== null)
  return { ...one, ...Object.fromEntries(told) }
}
