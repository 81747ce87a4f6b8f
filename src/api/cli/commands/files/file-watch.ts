/** Watches files until interrupted, for machines without a server. */

import type { FileStatus } from '../../../../files/file-search.ts'
import { sleep } from '../../../../lib/abort.ts'
import { AppError } from '../../../../lib/errors.ts'
import { assertLocal, type CommandResult, type Invocation } from '../../command.ts'
import { formatCount, toTerminalLine } from '../../output/text-rendering.ts'
import { withEngine } from '../program/serve-commands.ts'

/** The interval of progress output; changes are detected by watchers. */
const LOOK_MS = 1_000

export async function watchFiles(call: Invocation): Promise<CommandResult | null> {
  assertLocal(call, '`files watch`')
  return withEngine(call, async ({ files }) => {
    if (files === null) throw new AppError('missing_part', 'There is no place for an index here.')
    const { owner } = call.getEnvironment().scope
    await files.start()
    if (!call.isJson) await call.host.stderr.write('Watching. Stop it with Ctrl-C.\n')
    await tellChanges(call, () => files.status(owner))
    return null
  })
}

type Root = FileStatus['roots'][number]

async function tellChanges(
  { host, isJson }: Invocation,
  look: () => Promise<FileStatus>,
): Promise<void> {
  const reported = new Map<string, string>()
  while (!host.stopSignal.aborted) {
    for (const root of (await look()).roots) {
      const { id, path, files, chunks, problems, lastSyncAt } = root
      const state = JSON.stringify([files, chunks, problems])
      if (lastSyncAt === null || reported.get(id) === state) continue
      reported.set(id, state)
      const line = { id, path, files, chunks, problems, at: new Date(lastSyncAt).toISOString() }
      await host.stdout.write(`${isJson ? JSON.stringify(line) : lineOf(root)}\n`)
    }
    await sleep(LOOK_MS, host.stopSignal)
  }
}

function lineOf({ path, files, chunks, problems }: Root): string {
  const amiss = problems.length === 0 ? '' : `, ${formatCount(problems.length, 'problem')}`
  return `${toTerminalLine(path)}: ${formatCount(files, 'file')}, ${formatCount(chunks, 'chunk')}${amiss}`
}
