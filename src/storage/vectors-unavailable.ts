/** Why memories are found by their words alone: there is nothing to make vectors with, or nothing to keep them in. */
export function explainMissingVectors({
  embedder,
  vectorsUnavailableReason: withoutVectors,
}: {
  readonly embedder?: unknown
  readonly vectorsUnavailableReason?: string
}): string {
  if (embedder === undefined) return 'There is no embedding model.'
  return withoutVectors ?? 'The store keeps no vectors.'
}
