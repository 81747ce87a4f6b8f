/** The `vector-store` command. */
import type { z } from 'zod'
import { QUANTIZATIONS } from '../../../../domain/settings/setting-choices.ts'
import { ERRORS } from '../../../../lib/errors.ts'
import { REPLICA_STATES } from '../../../../storage/vector-replication.ts'
import {
  changeQdrant,
  checkQdrantHealth,
  cleanUpQdrant,
  getQdrant,
} from '../../../operations/admin/vector-store-operations.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import { parseAction, parseChoice } from '../../input/option-values.ts'
import { readStdinText } from '../../input/text-input.ts'
import {
  formatCount,
  formatNumber,
  renderFields,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const ACTIONS = ['status', 'qdrant', 'test', 'cleanup', 'off'] as const
const OPTIONS = {
  url: { kind: 'value', value: 'address', help: 'With qdrant: its URL.' },
  quantization: {
    kind: 'value',
    value: 'form',
    help: `Of qdrant: ${QUANTIZATIONS.join(', ')}.`,
  },
  'ask-key': {
    kind: 'flag',
    help: 'With qdrant: read its API key from the terminal or standard input.',
  },
  'dry-run': { kind: 'flag', help: 'With cleanup: only count.' },
} as const

type VectorsCall = Invocation<typeof OPTIONS>
type Qdrant = z.output<(typeof getQdrant)['output']>
export type WireReplicaStatus = Qdrant['replica']

export const vectorsCommand = defineCommand({
  name: 'vectors',
  group: 'Administration',
  summary: 'Show and configure the vector replica.',
  details:
    '`vectors` shows the vector search backends; `qdrant` configures and tests Qdrant, ' +
    '`test` checks that it is ready, `cleanup` removes expired and orphaned points, ' +
    '`off` disables the replica. A running server keeps it in sync. `doctor` compares it ' +
    'with the memories.',
  arguments: [{ name: 'action', help: `One of ${ACTIONS.join(', ')}. Default: status.` }],
  options: OPTIONS,
  examples: [
    'recollect vectors',
    'recollect vectors qdrant --url http://127.0.0.1:6333 --ask-key',
    'recollect vectors test',
    'recollect vectors cleanup --dry-run',
  ],
  async run(call) {
    const [action, surplus] = call.positionals
    if (surplus !== undefined) throw new UsageError('`vectors` takes one word.')
    switch (parseAction('vectors', action, ACTIONS)) {
      case 'status':
        return renderResult(call, await call.perform(getQdrant, {}))
      case 'qdrant':
        return renderResult(call, await call.perform(changeQdrant, await changesIn(call)))
      case 'off':
        return renderResult(call, await call.perform(changeQdrant, { enabled: false }))
      case 'test':
        return tested(call)
      case 'cleanup':
        return cleaned(call)
    }
  },
})

async function changesIn(call: VectorsCall) {
  const { url, quantization, 'ask-key': asksKey } = call.options
  return {
    enabled: true,
    ...(url === undefined ? {} : { url }),
    ...(quantization === undefined
      ? {}
      : { quantization: parseChoice('quantization', quantization, QUANTIZATIONS) }),
    ...(asksKey ? { apiKey: await askedKey(call) } : {}),
  }
}

async function askedKey(call: VectorsCall): Promise<string> {
  const { host } = call
  const isPerson = host.stdin.isTerminal && host.stderr.isTerminal
  return (isPerson ? await host.askSecret('Key for Qdrant: ') : await readStdinText(call)).trim()
}

function renderResult(call: VectorsCall, known: Qdrant): CommandResult {
  const { url, collection, quantization, apiKeyMasked, replica } = known
  const qdrant =
    url === null
      ? []
      : [
          ['qdrant', toTerminalLine(url)] as const,
          ['collections', toTerminalLine(`${collection}…, quantization ${quantization}`)] as const,
          ['key', apiKeyMasked ?? '(none stored)'] as const,
        ]
  return { json: known, text: renderFields(call.style, [...replicaFields(replica), ...qdrant]) }
}

/** The vector search backends, also for `status`. Empty when only one exists. */
export function replicaFields({
  backend,
  servedBy,
  state,
  reason,
  progress,
  pendingMemories,
  nextRetryAt,
}: WireReplicaStatus): readonly (readonly [string, string])[] {
  const primary = 'the index of the memories'
  if (state === 'off') return [['vector store', reason === null ? primary : toTerminalLine(reason)]]
  const lines = [
    `${backend ?? 'none'}, ${state}: ${REPLICA_STATES[state]}`,
    ...(reason === null ? [] : [toTerminalLine(reason)]),
    ...(progress === null
      ? []
      : [`${formatNumber(progress.done)} of ${formatNumber(progress.total)} are compared`]),
    ...(pendingMemories === null || pendingMemories === 0
      ? []
      : [`${formatCount(pendingMemories, 'memory', 'memories')} pending`]),
    ...(nextRetryAt === null ? [] : [`next retry at ${nextRetryAt}`]),
  ]
  return [
    ['vector store', lines.join('\n')],
    ['served by', servedBy === 'primary' ? primary : servedBy],
  ]
}

async function tested(call: VectorsCall): Promise<CommandResult> {
  const health = await call.perform(checkQdrantHealth, {})
  const { ok, latencyMs, detail, error } = health
  const text = ok
    ? `Ready (${toTerminalLine(detail ?? '')}), ${latencyMs} ms.`
    : `Not ready: ${toTerminalLine(error ?? '')}`
  return { json: health, text, ...(ok ? {} : { exitCode: ERRORS.unavailable.exit }) }
}

async function cleaned(call: VectorsCall): Promise<CommandResult> {
  const dryRun = call.options['dry-run']
  const done = await call.perform(cleanUpQdrant, { dryRun })
  if (!done.ok) {
    return { json: done, text: toTerminalLine(done.error ?? ''), exitCode: ERRORS.unavailable.exit }
  }
  const removed = formatCount(done.deletedCount, 'vector')
  return { json: done, text: dryRun ? `${removed} would be removed.` : `${removed} removed.` }
}
