/**
 * What moves in from each described system, and what differs. Each item is the title of its test, and the table of `docs/guides/moving.md` is made from this list.
 */
export type MovingItem = {
  readonly system: 'OmniRoute' | 'Osaurus' | 'OpenClaw' | 'Polyant' | 'Others' | 'All'
  readonly item: string
  /** Why it differs; absent where it works as there. */
  readonly differs?: string
}

export const MOVING_ITEMS = [
  {
    system: 'OmniRoute',
    item: 'each API key of the database becomes an owner',
  },
  { system: 'OmniRoute', item: '`--into-owner` merges all API keys' },
  {
    system: 'OmniRoute',
    item: 'the table `memory` of early versions is imported',
  },
  {
    system: 'OmniRoute',
    item: 'keys of memories are unique within each owner',
  },
  {
    system: 'OmniRoute',
    item: 'memories are found, changed and deleted by their old ids',
  },
  {
    system: 'OmniRoute',
    item: '`GET /api/memory` lists by API key, type, session and text',
  },
  {
    system: 'OmniRoute',
    item: 'empty `apiKeyId` and `type` mean "not given"',
  },
  { system: 'OmniRoute', item: 'a memory without expiry is permanent' },
  {
    system: 'OmniRoute',
    item: '`POST /api/memory/retrieve-preview` finds imported memories',
  },
  {
    system: 'OmniRoute',
    item: 'the strategy `semantic` falls back to keywords without vectors, and says so',
  },
  { system: 'OmniRoute', item: 'an upsert by key moves the memory to the given session' },
  { system: 'OmniRoute', item: 'settings survive GET and PUT unchanged' },
  { system: 'OmniRoute', item: '`embedding-models` lists each model once' },
  { system: 'OmniRoute', item: 'the constant k of rank fusion can be 0' },
  { system: 'OmniRoute', item: 'extraction can be previewed without storing' },
  { system: 'OmniRoute', item: 'an agent key clears the memories of its own owner by MCP' },
  {
    system: 'OmniRoute',
    item: 'settings answer whose they are, and a management key may set them for everybody',
  },
  {
    system: 'OmniRoute',
    item: '`retentionDays` also limits what is recalled',
  },
  {
    system: 'OmniRoute',
    item: 'a setting lets the users of an owner share its own memories',
    differs: 'off by default, because it can mix people: `recall.ownerMemoryForUsers`',
  },
  {
    system: 'OmniRoute',
    item: 'any budget but 0 has room for one memory',
  },
  {
    system: 'OmniRoute',
    item: 'statements of more than 500 characters are cut, not dropped',
  },
  {
    system: 'OmniRoute',
    item: '`fallbackReason` names what failed, and only then',
  },
  {
    system: 'OmniRoute',
    item: 'a change of the embedding source is stored, and said to take effect at the next start',
    differs: 'vectors of different models do not mix, so a running server keeps its model',
  },
  {
    system: 'OmniRoute',
    item: 'metadata is kept and returned',
    differs: 'keyword search reads the content, not the metadata',
  },
  {
    system: 'OmniRoute',
    item: 'Qdrant points go when a memory goes to the trash, and return when it is restored',
  },
  {
    system: 'OmniRoute',
    item: 'a model name that is not on disk falls back to the built-in model',
  },
  {
    system: 'OmniRoute',
    item: 'the status of the server warns of a model name that is not on disk',
  },
  {
    system: 'Osaurus',
    item: 'episodes are listed by `/api/episodes` and found by `search_memory`',
  },
  {
    system: 'Osaurus',
    item: 'identity overrides and the narrative become the identity of every agent',
  },
  {
    system: 'Osaurus',
    item: 'each agent becomes an owner, with its pinned facts',
  },
  {
    system: 'Osaurus',
    item: 'pending signals wait to be learned from; the distilled transcript does not',
  },
  {
    system: 'Osaurus',
    item: '`config/memory.json` becomes settings',
    differs: '`embeddingModel` names a model of another runtime and is ignored',
  },
  {
    system: 'Osaurus',
    item: 'SQLCipher databases open with `--key-file` or a prompt',
  },
  {
    system: 'Osaurus',
    item: 'a key that acts for `*` writes for agents of any name',
  },
  {
    system: 'Osaurus',
    item: '`embeddingBackend` and `embeddingModel` are settings of the command line',
  },
  {
    system: 'Osaurus',
    item: 'the encryption key can be in the keychain of the system',
    differs:
      'with `recollect encrypt --keychain`; the tools of the platforms are tested with stand-ins that speak their protocol',
  },
  {
    system: 'Osaurus',
    item: 'the gate opens for "we discussed", pronouns and "verbatim"',
  },
  {
    system: 'Osaurus',
    item: 'near-duplicate statements merge, with the longer wording',
    differs: 'off by default, as above',
  },
  {
    system: 'OpenClaw',
    item: 'the LanceDB table of the memory plugin is imported',
  },
  {
    system: 'OpenClaw',
    item: 'the chunks of the memory index are imported',
    differs: 'adding the workspace as a root is better: the index follows the files',
  },
  {
    system: 'OpenClaw',
    item: '`openclaw.json` becomes settings',
    differs:
      'the weights of hybrid search are adaptive and `cache.maxEntries` has no counterpart; both are reported',
  },
  { system: 'OpenClaw', item: '`memory_forget` takes `memoryId`' },
  { system: 'OpenClaw', item: '`ltm` and `memory` are command groups' },
  {
    system: 'OpenClaw',
    item: '`memory_recall` gives percentages',
  },
  {
    system: 'OpenClaw',
    item: 'auto-capture keeps the three most valuable messages',
  },
  {
    system: 'OpenClaw',
    item: 'a conversation is distilled before its client compacts it',
    differs:
      'the gateway distills it into memories; the note in the workspace is written by `recollect hook`',
  },
  {
    system: 'OpenClaw',
    item: '`sync.onSearch` and `sync.onSessionStart` decide when a query indexes changes',
  },
  {
    system: 'OpenClaw',
    item: 'snippets and their sum are limited as QMD limits them',
  },
  {
    system: 'OpenClaw',
    item: '`candidateMultiplier` limits what is ranked',
    differs:
      'off by default, so that the first results do not depend on the limit: `files.candidateMultiplier`',
  },
  {
    system: 'OpenClaw',
    item: 'changed chunk settings chunk all files again, and the overlap is smaller than a chunk',
  },
  {
    system: 'OpenClaw',
    item: 'the delta thresholds of transcripts are settings',
  },
  {
    system: 'OpenClaw',
    item: '`sync.watch`, its debounce and `sync.intervalMinutes` are settings',
  },
  {
    system: 'OpenClaw',
    item: 'its index and workspace answer alike by REST, MCP and the command line',
  },
  {
    system: 'OpenClaw',
    item: 'search results have exact lines, and end with their citation',
  },
  {
    system: 'OpenClaw',
    item: '`memorySearch.fallback` names the embedding model that stands in',
  },
  {
    system: 'OpenClaw',
    item: '`cache.enabled` decides whether vectors outlive their chunks',
  },
  {
    system: 'OpenClaw',
    item: '`memory.qmd` decides how qmd searches, and for how long',
  },
  {
    system: 'Polyant',
    item: 'memories are read from its PostgreSQL database, read-only',
  },
  { system: 'Polyant', item: 'saved pages of `GET /memories` are imported' },
  {
    system: 'Polyant',
    item: '`GET /memories?instanceId=` lists imported memories with category and importance',
  },
  {
    system: 'Polyant',
    item: 'a paraphrase updates the memory that says the same',
    differs:
      'off by default, because close statements may differ in a detail: `memory.mergeParaphrases`',
  },
  {
    system: 'Polyant',
    item: 'extraction after every turn sees the last 15 messages',
  },
  {
    system: 'Polyant',
    item: 'its memories answer alike by REST, MCP and the command line, and are added and deleted',
  },
  {
    system: 'Others',
    item: 'Letta agent files: blocks, messages and passages',
  },
  {
    system: 'Others',
    item: 'Hindsight transfer archives: facts with documents, entities and times',
  },
  {
    system: 'Others',
    item: 'Zep and Graphiti graphs: facts with validity, and thread messages',
  },
  {
    system: 'Others',
    item: 'LangMem and LangGraph store dumps, by user of the namespace',
  },
  {
    system: 'Others',
    item: 'ChatGPT and Claude exports are imported from their ZIP archive',
  },
  {
    system: 'All',
    item: '`POST /api/import` takes raw bodies and multipart forms, with progress',
  },
  {
    system: 'All',
    item: 'a dry run shows what would be imported and what would be skipped and why',
  },
  {
    system: 'All',
    item: 'imported conversations are recallable at once and learned from in the background',
  },
  {
    system: 'All',
    item: 'the search of the Studio is hybrid by default, marks its words, counts, and finds parts of words',
  },
] as const satisfies readonly MovingItem[]
