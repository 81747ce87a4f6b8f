/** Replaces old memories by one summary. */
import { summarizeMemories } from '../../../operations/memories/memory-list-operations.ts'
import { defineCommand } from '../../command.ts'
import { parseInteger } from '../../input/option-values.ts'
import { formatMemoryCount, formatNumber, renderFields } from '../../output/text-rendering.ts'

const DAYS_MAX = 365
const TOKENS_MAX = 1_000_000

const WORDED = {
  model: 'in the words of the model',
  rules: 'condensed by rules',
  both: 'partly in the words of the model, partly condensed by rules',
} as const

export const summarizeCommand = defineCommand({
  name: 'summarize',
  group: 'Administration',
  summary: 'Summarize old memories of a user into one.',
  details:
    'The model of `learning.extractionModel` writes the summary; without one, or when it ' +
    'fails, the content is condensed by rules. The originals are superseded; `undo` with ' +
    'the reported change restores them.',
  arguments: [],
  options: {
    days: {
      kind: 'value',
      value: 'n',
      help: `Only what is older, 1 to ${DAYS_MAX} days. Default: 30, unless --max-tokens is given.`,
    },
    'max-tokens': {
      kind: 'value',
      value: 'n',
      help: 'Keep the newest memories within this token budget and summarize the rest.',
    },
    'dry-run': { kind: 'flag', help: 'Only report the memories and the tokens saved.' },
  },
  examples: ['recollect summarize --days 90 --dry-run', 'recollect summarize --max-tokens 4000'],
  async run(call) {
    const { days, 'max-tokens': tokens, 'dry-run': dryRun } = call.options
    const output = await call.perform(summarizeMemories, {
      dryRun,
      ...(days === undefined ? {} : { olderThanDays: parseInteger('days', days, 1, DAYS_MAX) }),
      ...(tokens === undefined
        ? {}
        : { maxTokens: parseInteger('max-tokens', tokens, 1, TOKENS_MAX) }),
    })
    const { candidates, totalTokens, tokensSaved, deletedCount, wording, change } = output
    const text = renderFields(call.style, [
      [
        'candidates',
        `${formatMemoryCount(candidates.length)}, ${formatNumber(totalTokens)} tokens`,
      ],
      ['saves', `${formatNumber(tokensSaved)} tokens`],
      ['summarized', dryRun ? 'nothing was changed' : formatMemoryCount(deletedCount)],
      ...(wording === null ? [] : [['worded', WORDED[wording]] as const]),
      ...(change === null ? [] : [['undo', call.suggestCommand(`undo ${change}`)] as const]),
    ])
    return { json: output, text }
  },
})
