/**
 * The set of further tools: what can be done about conversations and upkeep, spelled after the operations. For programs that
 * look after memories; a model that has a conversation needs none of them.
 */
import { OPERATIONS } from '../operations/index.ts'
import type { McpSpelling, Operation } from '../operations/operation.ts'
import { tellAsJson } from './result-format.ts'
import { type Latitude, type Tool, toTool } from './tool.ts'

const KINDS = ['agent', 'episode', 'identity', 'session', 'turn', 'signal', 'job', 'consolidation']
const NAMES = ['memory.ingest', 'memory.summarize', 'memory.consolidate']
/** The owner comes from the key. */
const OWNER_FIELDS = ['owner', 'apiKeyId', 'agent_id']

export function furtherTools(latitude: Latitude): readonly Tool[] {
  return FURTHER.map((operation) => toTool(operation, spellingOf(operation), latitude, tellAsJson))
}

export const FURTHER: readonly Operation[] = OPERATIONS.filter(
  ({ name, mcp }) =>
    mcp === undefined && (NAMES.includes(name) || KINDS.includes(name.split('.')[0] ?? '')),
)

export function spellingOf({ name, summary, input }: Operation): McpSpelling {
  return {
    tool: name.replace('.', '_'),
    description: summary,
    fields: Object.keys(input.shape).filter((field) => !OWNER_FIELDS.includes(field)),
  }
}
