/** One memory in the place of many old ones. */
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
  summary: 'Put one memory in the place of many old ones of a user.',
  details:
    'The setting `learning.extractionModel` names the model that words it; without one, or where it fails, rules condense what was ' +
    'there. The old ones are superseded, and the change that is named brings them back.',
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
      help: 'Only what does not fit: the newest that take so many tokens stay.',
    },
    'dry-run': { kind: 'flag', help: 'Only tell which memories, and how much it would save.' },
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
