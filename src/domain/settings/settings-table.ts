/** The table of settings, one section per prefix. Validation, REST, command line help and documentation are built from it. */

import { EMBEDDING_PROVIDERS, RERANK_PROVIDERS } from '../model-name.ts'
import { CITATION_MODES, FUSIONS, QUANTIZATIONS, STRATEGIES } from './setting-choices.ts'
import {
  choice,
  decimal,
  integer,
  type SettingDeclaration,
  text,
  toggle,
} from './setting-declaration.ts'

const GATEWAY_SETTINGS = {
  'gateway.enabled': {
    ...toggle(false),
    scope: 'owner',
    help: 'Turns memory on for model requests through the gateway: adds memories to prompts and learns from conversations. Off by default because memories cost tokens. Clients that call the memory API directly are not affected.',
  },
  'gateway.contextEnabled': {
    ...toggle(true),
    scope: 'owner',
    help: 'Adds memories to prompts while `gateway.enabled` is on.',
  },
  'gateway.dryRun': {
    ...toggle(false),
    scope: 'owner',
    help: 'Recalls memories and writes receipts without changing requests, to preview what memories would cost.',
  },
  'gateway.contextPosition': {
    ...choice('auto', ['auto', 'system', 'user']),
    scope: 'owner',
    help: 'Where the context is inserted: after the last user message, which keeps prompt caches valid (`auto`), in a leading system message (`system`), or before the last user message (`user`).',
  },
  'gateway.contextTimeoutMs': {
    ...integer(1_000, [1, 30_000]),
    scope: 'owner',
    help: 'How long a request waits for memories, in milliseconds. Memories that arrive later are left out.',
  },
  'gateway.contextTokensMax': {
    ...integer(800, [0, 16_000]),
    scope: 'owner',
    help: 'The token budget of memories in a prompt; also accepted as `memoryBudgetTokens`. 0 adds no memories; any other budget admits at least the best one. Identity memories take at most half of it.',
  },
  'gateway.contextSources': {
    ...choice('both', ['both', 'facts', 'conversations']),
    scope: 'owner',
    help: 'What the gateway adds to prompts: facts (memories), excerpts of earlier conversations, or both.',
  },
  'gateway.excerptCharactersMax': {
    ...integer(240, [80, 4_000]),
    scope: 'owner',
    help: 'The maximum length of an excerpt from an earlier conversation, in characters; the two best may be three times as long. Excerpts end at sentence boundaries.',
  },
  'gateway.gateMode': {
    ...choice('off', ['off', 'heuristic', 'llm']),
    scope: 'owner',
    help: 'Whether a gate decides which kinds of memories a message needs: `off` searches all of them for every message and relies on the similarity thresholds, `heuristic` uses rules for seven languages, `llm` asks `gateway.gateModel` for up to half of `gateway.contextTimeoutMs` and falls back to the rules. Identity memories are added in any case.',
  },
  'gateway.gateModel': {
    ...text(),
    scope: 'owner',
    help: 'The model that reads every message when `gateway.gateMode` is `llm`, and every turn when `learning.extractionMode` is `everyTurn`. Default: `learning.extractionModel`.',
  },
  'gateway.memoryToolsEnabled': {
    ...toggle(false),
    scope: 'owner',
    help: 'Offers models tools to search, save, update and forget memories; the gateway executes the calls.',
  },
  'gateway.embeddingFallbackEnabled': {
    ...toggle(false),
    scope: 'owner',
    help: 'Answers embedding requests for models that no provider has with the built-in model, whose vectors have other dimensions.',
  },
} as const satisfies Record<string, SettingDeclaration>

const RECALL_SETTINGS = {
  'recall.scope': {
    ...choice('owner', ['session', 'owner', 'global']),
    scope: 'owner',
    help: 'Where recall searches by default: in the session of the request, in all memories of the owner, or in shared memory as well.',
  },
  'recall.sharedMemoryEnabled': {
    ...toggle(false),
    scope: 'system',
    help: 'Lets all owners read the shared memory (the owner `@shared`), which superadmins write.',
  },
  'recall.ownerMemoryForUsers': {
    ...toggle(false),
    scope: 'owner',
    help: 'Lets recall for a user of an owner also find the memories of the owner that belong to no user. Off by default, because users could read what others let the owner remember.',
  },
  'recall.maxAgeDays': {
    ...integer(0, [0, 3_650]),
    scope: 'owner',
    help: 'Recall finds nothing that was stored more than this many days ago. 0 sets no limit. Pinned identity is always given.',
  },
  'recall.limit': {
    ...integer(10, [1, 100]),
    scope: 'owner',
    help: 'The number of memories that a search returns by default.',
  },
  'recall.strategy': {
    ...choice('hybrid', STRATEGIES),
    scope: 'owner',
    help: 'How recall searches: keyword and vector search (`hybrid`), vector search (`semantic`), keyword search (`keyword`), or the newest memories (`recent`, also accepted as `exact`).',
  },
  'recall.fusion': {
    ...choice('adaptive', FUSIONS),
    scope: 'owner',
    help: 'How keyword and vector results are combined: by all evidence including the conversation around a hit (`adaptive`), by reciprocal rank fusion (`rrf`), or by a weighted sum of scores (`weighted`).',
  },
  'recall.rrfK': {
    ...integer(60, [0, 1_000]),
    scope: 'owner',
    help: 'The constant k of reciprocal rank fusion, for `recall.fusion` = `rrf`. A higher value gives the first ranks less weight.',
  },
  'recall.vectorWeight': {
    ...decimal(0.7, [0, 1]),
    scope: 'owner',
    help: 'The weight of vector scores for `recall.fusion` = `weighted`; keyword scores have the rest.',
  },
  'recall.vectorCandidates': {
    ...integer(100, [1, 1_000]),
    scope: 'owner',
    help: 'The number of nearest vectors that take part in ranking.',
  },
  'recall.minTopSimilarity': {
    ...decimal(1, [0, 5]),
    scope: 'owner',
    help: 'The calibrated similarity that the best memory must reach; otherwise recall returns nothing. 1 is what the best of as many unrelated memories reaches by chance; 0 always returns results.',
  },
  'recall.minSimilarity': {
    ...decimal(0.7, [0, 5]),
    scope: 'owner',
    help: 'The calibrated similarity that every further memory must reach, on the scale of `recall.minTopSimilarity`.',
  },
  'recall.halfLifeDays': {
    ...decimal(90, [0, 3_650]),
    scope: 'owner',
    help: 'The half-life of recency: after this many days without use a memory is half as fresh. 0 ignores age in ranking. Pinned memories stay fresh.',
  },
  'recall.recencyWeight': {
    ...decimal(0.05, [0, 1]),
    scope: 'owner',
    help: 'The share of its score that a memory can lose with age.',
  },
  'recall.importanceWeight': {
    ...decimal(0.2, [0, 1]),
    scope: 'owner',
    help: 'How much importance and salience can raise or lower a score.',
  },
  'recall.mmrLambda': {
    ...decimal(1, [0, 1]),
    scope: 'owner',
    help: 'The lambda of maximal marginal relevance. Below 1, memories that repeat better ones move down; 1 ranks by relevance alone.',
  },
  'recall.retrieverTimeoutMs': {
    ...integer(5_000, [10, 60_000]),
    scope: 'owner',
    help: 'How long recall waits for keyword search, vector search and reranking, each, in milliseconds. Late results are left out.',
  },
  'recall.rerankEnabled': {
    ...toggle(true),
    scope: 'owner',
    help: 'Uses the reranker, if one is configured.',
  },
  'recall.rerankCandidates': {
    ...integer(30, [0, 100]),
    scope: 'owner',
    help: 'The number of best candidates that the reranker reads.',
  },
  'recall.rerankModel': {
    ...text(),
    providers: RERANK_PROVIDERS,
    scope: 'system',
    appliesAt: 'start',
    help: 'The reranking model, such as `cohere/rerank-v3.5`. The API key is read from the usual variable of the provider, such as `COHERE_API_KEY`. `RECOLLECT_RERANK_URL` and `RECOLLECT_RERANK_MODEL_FOLDER` override it.',
  },
} as const satisfies Record<string, SettingDeclaration>

const MEMORY_SETTINGS = {
  'memory.similarMemoriesMax': {
    ...integer(10, [0, 100]),
    scope: 'owner',
    help: 'The number of stored memories with similar words that a new memory is compared with. 0 detects exact restatements only.',
  },
  'memory.mergeParaphrases': {
    ...toggle(false),
    scope: 'owner',
    help: 'Updates a memory when a new statement is closer to it than 0.90 in vector space, or has four fifths of its words in the same order, with the same numbers and no contradiction. Earlier wordings stay in the history. Off by default, because close statements may differ in a detail.',
  },
  'memory.reinforcementRate': {
    ...decimal(0.1, [0, 1]),
    scope: 'owner',
    help: 'How far a restatement raises the salience of a memory, as a share of the distance to 1.',
  },
} as const satisfies Record<string, SettingDeclaration>

const LEARNING_SETTINGS = {
  'learning.enabled': {
    ...toggle(true),
    scope: 'owner',
    help: 'Records conversations and learns from them while `gateway.enabled` is on.',
  },
  'learning.toolResultsEnabled': {
    ...toggle(false),
    scope: 'owner',
    help: 'Also learns from tool results, with lower trust.',
  },
  'learning.extractionMode': {
    ...choice('sessionEnd', ['sessionEnd', 'everyTurn', 'manual']),
    scope: 'owner',
    help: 'When a model distills conversations into memories: once a conversation is idle (`sessionEnd`), after every turn (`everyTurn`), or only on request (`manual`).',
  },
  'learning.extractionModel': {
    ...text(),
    scope: 'owner',
    help: 'The model that distills conversations, such as `openai/gpt-6-luna`, of any provider of the gateway. Without one, conversations wait and only pattern extraction runs.',
  },
  'learning.modelTokensPerDay': {
    ...integer(500_000, [0, 1_000_000_000]),
    scope: 'owner',
    help: 'The daily budget of model tokens for learning, per owner. Work over the budget waits for the next day. 0 sets no limit.',
  },
  'learning.debounceSeconds': {
    ...integer(60, [10, 3_600]),
    scope: 'owner',
    help: 'How long a conversation must be idle before it is distilled, in seconds. Starting another conversation ends the wait.',
  },
  'learning.compactionReserveTokens': {
    ...integer(24_000, [0, 1_000_000]),
    scope: 'owner',
    help: "Distills a conversation at once when fewer tokens than this are left of its model's context window, before the client compacts it; of small windows at most half counts. 0 waits for the end of the conversation.",
  },
  'learning.consolidationIntervalHours': {
    ...integer(24, [1, 168]),
    scope: 'owner',
    help: 'How often a server consolidates the memories of an owner, in hours.',
  },
} as const satisfies Record<string, SettingDeclaration>

const RETENTION_SETTINGS = {
  'retention.trashDays': {
    ...integer(30, [0, 3_650]),
    scope: 'owner',
    help: 'How many days a forgotten memory can be restored. After that, consolidation or `recollect erase --trash` erases it.',
  },
  'retention.unusedDays': {
    ...integer(0, [0, 3_650]),
    scope: 'owner',
    help: 'After how many days without use consolidation moves an extracted memory to the trash. 0 keeps unused memories.',
  },
  'retention.minSalience': {
    ...decimal(0.2, [0, 1]),
    scope: 'owner',
    help: 'Consolidation moves extracted memories to the trash when their decayed salience falls below this value. It never evicts memories that a person wrote, imported, pinned or keyed, or of importance 7 and more.',
  },
  'retention.episodeDays': {
    ...integer(0, [0, 3_650]),
    scope: 'owner',
    help: 'How many days episodes (summaries of conversations) are kept. 0 keeps them forever.',
  },
  'retention.turnDays': {
    ...integer(0, [0, 3_650]),
    scope: 'owner',
    help: 'How many days conversation turns are kept, counted from when they were said. Consolidation deletes older ones permanently. 0 keeps them forever.',
  },
  'retention.receiptsMax': {
    ...integer(1_000, [0, 100_000]),
    scope: 'owner',
    help: 'The maximum number of request receipts per owner; the oldest are deleted first. 0 keeps none.',
  },
  'retention.receiptDays': {
    ...integer(30, [1, 3_650]),
    scope: 'owner',
    help: 'How many days receipts are kept.',
  },
  'retention.auditDays': {
    ...integer(90, [0, 3_650]),
    scope: 'system',
    help: 'How many days audit log entries are kept. 0 keeps none.',
  },
} as const satisfies Record<string, SettingDeclaration>

const HOOK_SETTINGS = {
  'hooks.recallEnabled': {
    ...toggle(true),
    scope: 'owner',
    help: 'Gives memories to programs that call their model themselves and ask for context before a prompt.',
  },
  'hooks.captureEnabled': {
    ...toggle(false),
    scope: 'owner',
    help: 'Stores messages that such programs hand over after a run, where the user asked to remember something.',
  },
  'hooks.captureCharactersMax': {
    ...integer(500, [100, 10_000]),
    scope: 'owner',
    help: 'The maximum length of a captured message, in characters.',
  },
} as const satisfies Record<string, SettingDeclaration>

const EMBEDDING_SETTINGS = {
  'embedding.source': {
    ...choice('auto', ['auto', 'transformers', 'static', 'remote', 'none']),
    scope: 'system',
    appliesAt: 'start',
    help: 'Which embedder makes vectors. `RECOLLECT_EMBEDDING_SOURCE` overrides it.',
  },
  'embedding.model': {
    ...text(),
    providers: EMBEDDING_PROVIDERS,
    scope: 'system',
    appliesAt: 'start',
    help: 'The remote embedding model. `RECOLLECT_EMBEDDING_MODEL` overrides it. The API key is read from the usual variable of the provider, such as `OPENAI_API_KEY`, or from `RECOLLECT_EMBEDDING_API_KEY`.',
  },
  'embedding.fallbackModel': {
    ...text(),
    providers: EMBEDDING_PROVIDERS,
    scope: 'system',
    appliesAt: 'start',
    help: 'The remote embedding model that is used when `embedding.model` cannot be used at all, for example because its key is refused.',
  },
  'embedding.localEnabled': {
    ...toggle(true),
    scope: 'system',
    appliesAt: 'start',
    help: 'Lets `embedding.source` = `auto` use the local model when no remote model is available.',
  },
  'embedding.staticEnabled': {
    ...toggle(true),
    scope: 'system',
    appliesAt: 'start',
    help: 'Lets `embedding.source` = `auto` use the static model when the local model is disabled or cannot be used.',
  },
} as const satisfies Record<string, SettingDeclaration>

const VECTOR_STORE_SETTINGS = {
  'vectorStore.backend': {
    ...choice('auto', ['auto', 'embedded', 'pgvector', 'qdrant', 'lancedb', 'sqlite-vec']),
    scope: 'system',
    help: 'Which index serves vector search. Vectors are always stored beside the memories (`embedded`, also accepted as `sqlite-vec`; `pgvector` on PostgreSQL). `qdrant` and `lancedb` hold a replica that serves searches while it is healthy and in sync. `auto` uses the replica whose URL or folder is set.',
  },
  'vectorStore.qdrantUrl': {
    ...text(),
    format: 'address',
    scope: 'system',
    help: 'The URL of Qdrant, such as `http://127.0.0.1:6333`. Set its API key with `PUT /api/settings/qdrant` or `RECOLLECT_QDRANT_API_KEY`.',
  },
  'vectorStore.qdrantQuantization': {
    ...choice('none', QUANTIZATIONS),
    scope: 'system',
    help: 'Whether Qdrant searches quantized vectors, which take a quarter (`int8`) or a thirty-second (`binary`) of the memory. The best hits are always rescored with the full vectors.',
  },
  'vectorStore.qdrantCollectionPrefix': {
    ...text('recollect'),
    scope: 'system',
    help: 'The prefix of the collection names in Qdrant.',
  },
  'vectorStore.lancedbFolder': {
    ...text(),
    scope: 'system',
    help: 'The folder of the LanceDB replica. Default when `vectorStore.backend` is `lancedb`: the folder `lancedb` in the data folder. Requires the package `@lancedb/lancedb`.',
  },
} as const satisfies Record<string, SettingDeclaration>

export const FILE_SETTINGS = {
  'files.chunkTokens': {
    ...integer(400, [16, 4_000]),
    scope: 'owner',
    help: 'The size of file chunks, in tokens. A new value chunks all files again.',
  },
  'files.chunkOverlapTokens': {
    ...integer(80, [0, 2_000]),
    scope: 'owner',
    help: 'The overlap of consecutive chunks, in tokens. Must be smaller than `files.chunkTokens`.',
  },
  'files.minScore': {
    ...decimal(0.35, [0, 1]),
    scope: 'owner',
    help: 'The minimum score of file results. Lines that contain all words of the query are returned in any case.',
  },
  'files.resultsMax': {
    ...integer(6, [1, 100]),
    scope: 'owner',
    help: 'The number of file results that a query returns by default.',
  },
  'files.snippetCharactersMax': {
    ...integer(700, [50, 700]),
    scope: 'owner',
    help: 'The maximum length of the snippet of a file result, in characters.',
  },
  'files.resultCharactersMax': {
    ...integer(0, [0, 1_000_000]),
    scope: 'owner',
    help: 'The maximum length of all snippets of a file query together, in characters; the first one is always returned. 0 sets no limit.',
  },
  'files.candidateMultiplier': {
    ...decimal(0, [0, 20]),
    scope: 'owner',
    help: 'How many chunks are ranked, as a multiple of the results that a query asks for, at most 200. 0 ranks the same number for every query, so that the first results do not depend on how many are asked for.',
  },
  'files.syncOnSearch': {
    ...toggle(true),
    scope: 'owner',
    help: 'Indexes changed files before each file query. Off: queries answer from the index as it is.',
  },
  'files.syncOnSessionStart': {
    ...toggle(true),
    scope: 'owner',
    help: 'Indexes changed files before the first file query of a session, also while `files.syncOnSearch` is off.',
  },
  'files.sessionDeltaBytes': {
    ...integer(100_000, [0, 100_000_000]),
    scope: 'owner',
    help: 'A watched transcript is indexed again once it has grown by this many bytes. 0: after any growth.',
  },
  'files.sessionDeltaMessages': {
    ...integer(50, [0, 100_000]),
    scope: 'owner',
    help: 'A watched transcript is indexed again once it has grown by this many messages. 0: after any growth.',
  },
  'files.fusion': {
    ...choice('adaptive', FUSIONS),
    scope: 'owner',
    help: 'How keyword and vector results in files are combined, see `recall.fusion`.',
  },
  'files.halfLifeDays': {
    ...decimal(0, [0, 3_650]),
    scope: 'owner',
    help: 'After how many days dated notes, transcripts and other files count half. 0 ignores age. `MEMORY.md` and undated notes never age.',
  },
  'files.mmrLambda': {
    ...decimal(1, [0, 1]),
    scope: 'owner',
    help: 'The lambda of maximal marginal relevance for file results. Below 1, results that repeat better ones move down; 0.7 is a good value.',
  },
  'files.citations': {
    ...choice('auto', CITATION_MODES),
    scope: 'owner',
    help: 'Whether file results carry citations such as `memory/2026-11-15.md#L5-L9`. `auto`: not in groups and channels.',
  },
  'files.redactEmails': {
    ...toggle(false),
    scope: 'owner',
    help: 'Redacts email addresses in the index of transcripts. Keys and tokens are always redacted.',
  },
  'files.timeZone': {
    ...text('UTC'),
    format: 'timeZone',
    scope: 'owner',
    help: "The time zone in which days begin, such as `Europe/Berlin`. It decides which note is today's.",
  },
  'files.memoryFileSync': {
    ...toggle(false),
    scope: 'owner',
    help: 'Writes pinned facts and identity memories to `MEMORY.md`, between two markers, and reads edits made there.',
  },
  'files.watch': {
    ...toggle(true),
    scope: 'system',
    appliesAt: 'start',
    help: 'Lets a server watch files and index them as they change.',
  },
  'files.watchDebounceMs': {
    ...integer(1_500, [10, 60_000]),
    scope: 'system',
    appliesAt: 'start',
    help: 'How long a watched file must be unchanged before it is indexed, in milliseconds.',
  },
  'files.syncIntervalMinutes': {
    ...integer(60, [0, 1_440]),
    scope: 'system',
    appliesAt: 'start',
    help: 'How often a server scans all files, because watchers can miss changes, in minutes. 0 never scans for that reason.',
  },
  'files.vectorCacheEnabled': {
    ...toggle(true),
    scope: 'system',
    appliesAt: 'start',
    help: 'Keeps vectors of file chunks that the local model computed, so that moved and recreated files are not embedded again. Never beside an encrypted database.',
  },
  'files.sizeBytesMax': {
    ...integer(10_000_000, [1_000, 100_000_000]),
    scope: 'system',
    appliesAt: 'start',
    help: 'Larger files are not indexed and are listed in the status; transcripts may be larger. Of a file with more than 50,000 chunks (about 50 MB) only the first ones are indexed.',
  },
  'files.batchEmbeddingEnabled': {
    ...toggle(false),
    scope: 'system',
    appliesAt: 'start',
    help: 'Embeds large numbers of file chunks with the batch APIs of OpenAI, Gemini or Voyage, which cost less and may take an hour. Until then keyword search finds the chunks.',
  },
  'files.searchBackend': {
    ...choice('builtin', ['builtin', 'qmd']),
    scope: 'system',
    appliesAt: 'start',
    help: 'What searches files. `qmd` is a program of its own, installed separately, with a plain-text index; when it fails, the built-in index serves the query.',
  },
  'files.qmdMode': {
    ...choice('search', ['search', 'vsearch', 'query']),
    scope: 'system',
    appliesAt: 'start',
    help: 'How `qmd` searches: by keywords (`search`), by vectors (`vsearch`), or by both with a reranking model (`query`). The last two download models and embed all files.',
  },
  'files.qmdTimeoutMs': {
    ...integer(4_000, [100, 600_000]),
    scope: 'system',
    appliesAt: 'start',
    help: 'How long a search of `qmd` may take, in milliseconds.',
  },
  'files.qmdUpdateMinutes': {
    ...integer(5, [1, 1_440]),
    scope: 'system',
    appliesAt: 'start',
    help: 'How often the index of `qmd` is updated, in minutes.',
  },
  'files.failClosed': {
    ...toggle(false),
    scope: 'system',
    appliesAt: 'start',
    help: 'Fails a file query when `qmd` fails, instead of using the built-in index.',
  },
} as const satisfies Record<string, SettingDeclaration>

const SERVER_SETTINGS = {
  'server.requestsPerMinute': {
    ...integer(3_000, [0, 1_000_000]),
    scope: 'system',
    help: 'The rate limit per API key, in requests per minute. 0 sets no limit.',
  },
} as const satisfies Record<string, SettingDeclaration>

export const SETTINGS = {
  ...GATEWAY_SETTINGS,
  ...RECALL_SETTINGS,
  ...MEMORY_SETTINGS,
  ...LEARNING_SETTINGS,
  ...RETENTION_SETTINGS,
  ...HOOK_SETTINGS,
  ...EMBEDDING_SETTINGS,
  ...VECTOR_STORE_SETTINGS,
  ...FILE_SETTINGS,
  ...SERVER_SETTINGS,
}
