/** Long work is done in pieces, and others have their turn between them: stores may hold the thread for each piece. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
