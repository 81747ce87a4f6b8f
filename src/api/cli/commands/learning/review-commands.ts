import { defineCommand } from '../../command.ts'
import { parseAction, requireId } from '../../input/option-values.ts'
import {
  conflicts,
  DECISIONS,
  REVIEW_ACTIONS,
  REVIEW_OPTIONS,
  settled,
  suspects,
} from './distillation-commands.ts'

export const reviewCommand = defineCommand({
  name: 'review',
  group: 'Edit',
  summary: 'Review suspicious memories and resolve conflicts.',
  details:
    'Memories that look like instructions to a model are quarantined until they are ' +
    'approved; rejected ones are forgotten. `conflicts` lists contradictory memories: ' +
    '`resolve` supersedes one by the other, `reconcile` marks both as compatible.',
  arguments: [
    { name: 'action', help: `One of ${REVIEW_ACTIONS.join(', ')}. Default: list.` },
    { name: 'id', help: 'The memory to decide about; with resolve, the one to keep.' },
    { name: 'other', help: 'With resolve: the one that is superseded.' },
  ],
  options: REVIEW_OPTIONS,
  examples: [
    'recollect review',
    'recollect review approve mem_01kabc…',
    'recollect review conflicts',
    'recollect review resolve mem_01kabc… mem_01kxyz…',
  ],
  async run(call) {
    const [word, given, other] = call.positionals
    const action = parseAction('review', word, REVIEW_ACTIONS)
    if (action === 'list') return suspects(call)
    if (action === 'conflicts') return conflicts(call)
    const id = requireId(call, 'review', action, given)
    if (action === 'resolve') return settled(call, id, other)
    const { operation, became } = DECISIONS[action]
    const output = await call.perform(operation, { id })
    return { json: output, text: `${output.memory.id} ${became}.` }
  },
})
