/** Commands for receipts of model requests. */
import { CONTEXT_SKIP_REASONS } from '../../../../conversations/conversations.ts'
import {
  getReceipt,
  listReceipts,
  type WireReceipt,
} from '../../../operations/conversations/receipt-operations.ts'
import { type CommandResult, defineCommand, type Invocation, UsageError } from '../../command.ts'
import { parseAction, parseInteger } from '../../input/option-values.ts'
import { formatTime } from '../../input/time-format.ts'
import {
  formatCount,
  formatMemoryCount,
  formatNumber,
  renderFields,
  renderTable,
  toTerminalLine,
} from '../../output/text-rendering.ts'

const ACTIONS = ['list', 'show'] as const
const LIMIT = 20
const LIMIT_MAX = 200

const OPTIONS = {
  limit: { kind: 'value', value: 'n', help: `Maximum number of results. Default: ${LIMIT}.` },
  after: { kind: 'value', value: 'id', help: 'Continue after this receipt.' },
} as const

type ReceiptsCall = Invocation<typeof OPTIONS>

export const receiptsCommand = defineCommand({
  name: 'receipts',
  group: 'Server',
  summary: 'List receipts of model requests, newest first.',
  details:
    'Each gateway request with memory has a receipt: what was recalled and injected, its ' +
    'cost, and what was recorded and learned. A single receipt shows the injected text, ' +
    'without erased memories.',
  arguments: [
    {
      name: 'action',
      help: `One of ${ACTIONS.join(', ')}. Default: list, or show when a receipt is named.`,
    },
    { name: 'id', help: 'The receipt to show, from the list or the response header.' },
  ],
  options: OPTIONS,
  examples: [
    'recollect receipts',
    'recollect receipts --session ses_4f1d… --json',
    'recollect receipts rcp_01kabc…',
  ],
  run(call) {
    const [action, id] = call.positionals
    if (action !== undefined && isReceipt(action)) {
      if (id === undefined) return shown(call, action)
      throw new UsageError('One receipt at a time.', 'Run `recollect receipts rcp_…`.')
    }
    return parseAction('receipts', action, ACTIONS) === 'list' ? listed(call) : shown(call, id)
  },
})

/** Accepts the value of the response header as it is. */
function isReceipt(word: string): boolean {
  return word.startsWith('rcp_')
}

async function listed(call: ReceiptsCall): Promise<CommandResult> {
  const { limit, after } = call.options
  const output = await call.perform(listReceipts, {
    limit: limit === undefined ? LIMIT : parseInteger('limit', limit, 1, LIMIT_MAX),
    ...(after === undefined ? {} : { after }),
  })
  if (output.receipts.length === 0) {
    const text =
      after === undefined
        ? 'There are no receipts. Requests that pass the gateway while memory is on leave some.'
        : 'There are no more.'
    return { json: output, text }
  }
  const rows = output.receipts.map((receipt) => [
    { text: receipt.id },
    { text: formatTime(Date.parse(receipt.at)) },
    { text: receipt.status === null ? '-' : String(receipt.status) },
    { text: outcomeOf(receipt) },
    { text: String(receipt.extracted.length) },
    { text: toTerminalLine(receipt.model) },
  ])
  const lines = [
    renderTable(call.style, ['ID', 'WHEN', 'STATUS', 'MEMORY', 'LEARNED', 'MODEL'], rows),
  ]
  if (output.next !== null) {
    lines.push('', `There are more: ${call.suggestCommand(`receipts --after ${output.next}`)}`)
  }
  return { json: output, text: lines.join('\n') }
}

function outcomeOf({ injected, skipped, excerptIds }: WireReceipt): string {
  if (injected === null) return `skipped: ${skipped ?? 'unknown'}`
  const excerpts = excerptIds.length === 0 ? '' : `, ${formatCount(excerptIds.length, 'excerpt')}`
  return `${formatMemoryCount(injected.memories.length)}${excerpts}, ${formatCount(injected.tokens, 'token')}`
}

async function shown(call: ReceiptsCall, id: string | undefined): Promise<CommandResult> {
  if (id === undefined) {
    throw new UsageError(
      '`receipts show` needs the <id> of a receipt.',
      'Run `recollect receipts`.',
    )
  }
  const output = await call.perform(getReceipt, { id })
  const { receipt } = output
  const lines = [
    call.style.bold(receipt.id),
    renderFields(call.style, [
      ['when', formatTime(Date.parse(receipt.at))],
      ['owner', toTerminalLine([receipt.owner, receipt.user].filter(Boolean).join(', '))],
      ['session', receipt.sessionId === '' ? '(none)' : toTerminalLine(receipt.sessionId)],
      ['request', toTerminalLine(receipt.requestId)],
      ['model', toTerminalLine(`${receipt.model} at ${receipt.provider} (${receipt.format})`)],
      ['status', receipt.status === null ? 'no answer' : String(receipt.status)],
      ['memory', memoryText(receipt)],
      ...(receipt.error === null ? [] : [['error', receipt.error] as const]),
      ...(receipt.degraded.length === 0
        ? []
        : [['degraded', receipt.degraded.map(toTerminalLine).join(', ')] as const]),
      ...(receipt.gate === null ? [] : [['section', gateText(receipt.gate)] as const]),
      ...(receipt.identityIds.length === 0
        ? []
        : [['identity', listText(receipt.identityIds)] as const]),
      ...(receipt.excerptIds.length === 0
        ? []
        : [['excerpts', listText(receipt.excerptIds)] as const]),
      ['results', resultsText(receipt)],
      ['recorded', listText(receipt.turns)],
      ['learned', listText(receipt.extracted)],
      ...(receipt.toolCalls.length === 0
        ? []
        : [['tools', receipt.toolCalls.map(toTerminalLine).join(', ')] as const]),
      ['tokens', usageText(receipt)],
      ['time', timesText(receipt)],
    ]),
  ]
  if (receipt.block !== null) {
    lines.push(
      '',
      call.style.bold(receipt.injected === null ? 'would have been injected' : 'injected'),
    )
    lines.push(...receipt.block.split('\n').map(toTerminalLine))
  }
  return { json: output, text: lines.join('\n') }
}

function memoryText({ injected, skipped, dryRun }: WireReceipt): string {
  if (injected !== null) {
    const { placement, tokens } = injected
    return `${formatCount(tokens, 'token')} at ${placement}\n${injected.memories.join('\n')}`
  }
  const known = Object.entries(CONTEXT_SKIP_REASONS).find(([code]) => code === skipped)
  const reason =
    known === undefined ? toTerminalLine(skipped ?? 'unknown') : `${known[0]}. ${known[1]}`
  const would =
    dryRun === null ? '' : `\n${formatCount(dryRun.tokens, 'token')}: ${dryRun.memories.join(', ')}`
  return `skipped: ${reason}${would}`
}

function gateText({ mode, by, section, reason }: NonNullable<WireReceipt['gate']>): string {
  const decided = by === mode ? mode : `${by} instead of ${mode}`
  return toTerminalLine(`${section} (${decided}). ${reason}`)
}

function resultsText({ results }: WireReceipt): string {
  if (results.length === 0) return '(nothing)'
  return results
    .map(({ memory, score, trail }) => {
      const steps = trail.map((step) => `${step.stage} ${step.score.toFixed(3)}`).join(' → ')
      return `${memory}  ${score.toFixed(3)}  ${steps}`
    })
    .join('\n')
}

function listText(ids: readonly string[]): string {
  return ids.length === 0 ? '(nothing)' : ids.join('\n')
}

function usageText({ usage }: WireReceipt): string {
  if (usage === null) return 'unknown'
  const cached = usage.cached === null ? '' : ` (${formatNumber(usage.cached)} cached)`
  return `${formatNumber(usage.input)} in${cached}, ${formatNumber(usage.output)} out`
}

function timesText({ timings }: WireReceipt): string {
  const { prepareMs, firstByteMs, totalMs, recordMs } = timings
  const ms = (value: number | null) => (value === null ? '-' : `${value.toFixed(1)} ms`)
  return `memory ${ms(prepareMs)}, first byte ${ms(firstByteMs)}, whole ${ms(totalMs)}, recording ${ms(recordMs)}`
}
