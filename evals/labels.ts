/** Reads labeled messages, one JSON object per line. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Messages by an author who had not seen the rules. Only totals of them are reported, never a message: whoever reads one
 * has to move its file to the messages that rules are tuned on.
 */
export const UNSEEN = join('evals', 'unseen')

export async function readLabels<Line>(...path: readonly string[]): Promise<readonly Line[]> {
  const lines = (await readFile(join(...path), 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as Line) // our own files, described in their README
}

/** 1 for an empty set. */
export function ratio(part: number, whole: number): number {
  return whole === 0 ? 1 : part / whole
}
