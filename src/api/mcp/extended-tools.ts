/**
 * Extended tools for conversations and maintenance, named after their operations. Meant for
 * programs that manage memory, not for models in a conversation.
 */
import { OPERATIONS } from '../operations/index.ts'
import type { McpBinding, Operation } from '../operations/operation.ts'
import { formatAsJson } from './result-format.ts'
import { type ScopeChoice, type Tool, toTool } from './tool.ts'

const KINDS = [
  ...['agent', 'episode', 'identity', 'session', 'turn', 'signal', 'learning', 'job'],
  'consolidation',
]
const NAMES = ['memory.ingest', 'memory.summarize', 'memory.consolidate']
/** The owner comes from the key. */
const OWNER_FIELDS = ['owner', 'apiKeyId', 'agent_id']

export function createExtendedTools(choice: ScopeChoice): readonly Tool[] {
  return EXTENDED_OPERATIONS.map((operation) =>
    toTool(operation, toMcpBinding(operation), choice, formatAsJson),
  )
}

export const EXTENDED_OPERATIONS: readonly Operation[] = OPERATIONS.filter(
  ({ name, mcp }) =>
    mcp === undefined && (NAMES.includes(name) || KINDS.includes(name.split('.')[0] ?? '')),
)

export function toMcpBinding({ name, summary, input }: Operation): McpBinding {
  return {
    tool: name.replace('.', '_'),
    description: summary,
    fields: Object.keys(input.shape).filter((field) => !OWNER_FIELDS.includes(field)),
  }
}
