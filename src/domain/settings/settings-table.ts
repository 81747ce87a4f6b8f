/** The table of settings: what an operator or an owner may tune, each with default, range and help. */

import { FUSIONS } from '../../recall/ranking/fusion.ts'
import { EMBEDDING_PROVIDERS, RERANK_PROVIDERS } from '../model-name.ts'
import { FILE_SETTINGS } from './file-settings.ts'
import { VECTOR_SETTINGS } from './vector-store-settings.ts'

/** How memories are looked for. `exact` and `recent` are the same: the newest, whatever the question. */
export const STRATEGIES = ['hybrid', 'semantic', 'keyword', 'recent', 'exact'] as const

type NumberSetting = {
  readonly kind: 'number'
  readonly default: number
  readonly min: number
  readonly max: number
  readonly step: 'integer' | 'any'
}

type ChoiceSetting = {
  readonly kind: 'choice'
  readonly default: string
  readonly choices: readonly string[]
}

type SwitchSetting = { readonly kind: 'switch'; readonly default: boolean }

/** A name, or empty for none. */
type TextSetting = {
  readonly kind: 'text'
  readonly default: string
  /** What the text must be. Default: anything. */
  readonly format?: 'timeZone' | 'address'
  /** It names a model of one of these, as `provider/model`, or none. */
  readonly providers?: readonly string[]
}

export type SettingScope = 'system' | 'owner'
export type SettingDeclaration = (NumberSetting | ChoiceSetting | SwitchSetting | TextSetting) & {
  /** The narrowest level that may set it: an owner's value overrides the system's. */
  readonly scope: SettingScope
  /** A stored value is read when the engine starts, and not again. */
  readonly appliesAt?: 'start'
  readonly help: string
}

export const SETTINGS = {
  enabled: {
    kind: 'switch',
    default: false,
    scope: 'owner',
    help: 'Whether the gateway gives models memories and learns from what is said to them. Off by default, because memories cost tokens. Programs that ask for memories themselves get them in any case.',
  },
  inject: {
    kind: 'switch',
    default: true,
    scope: 'owner',
    help: 'Where `enabled` is on: whether models are given memories.',
  },
  extract: {
    kind: 'switch',
    default: true,
    scope: 'owner',
    help: 'Where `enabled` is on: whether what is said is recorded and learned from.',
  },
  extractToolResults: {
    kind: 'switch',
    default: false,
    scope: 'owner',
    help: 'Whether the gateway also learns from what tools return, with less trust.',
  },
  shadow: {
    kind: 'switch',
    default: false,
    scope: 'owner',
    help: 'Whether memories are recalled and noted in the receipt, but not given to the model: to see what they would cost.',
  },
  injectPosition: {
    kind: 'choice',
    default: 'auto',
    choices: ['auto', 'system', 'user'],
    scope: 'owner',
    help: 'Where memories stand in a request: after the last words of the person, where prompt caches stay whole (`auto`), in a leading system message (`system`), or before the last words of the person (`user`).',
  },
  injectDeadlineMs: {
    kind: 'number',
    default: 1_000,
    min: 1,
    max: 30_000,
    step: 'integer',
    scope: 'owner',
    help: 'How long a request waits for memories. What takes longer is left out.',
  },
  receiptsMax: {
    kind: 'number',
    default: 1_000,
    min: 0,
    max: 100_000,
    step: 'integer',
    scope: 'owner',
    help: 'How many receipts of requests are kept for an owner; the oldest go first. 0 keeps none.',
  },
  receiptDays: {
    kind: 'number',
    default: 30,
    min: 1,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'For how many days receipts are kept.',
  },
  recallScope: {
    kind: 'choice',
    default: 'owner',
    choices: ['session', 'owner', 'global'],
    scope: 'owner',
    help: 'Where recall looks when the caller does not say: in the session that is named, in everything of the owner, or in shared memory as well.',
  },
  recallSources: {
    kind: 'choice',
    default: 'both',
    choices: ['both', 'facts', 'conversations'],
    scope: 'owner',
    help: 'What the gateway adds to a prompt: facts (memories), excerpts of earlier conversations, or both.',
  },
  excerptCharacters: {
    kind: 'number',
    default: 240,
    min: 80,
    max: 4_000,
    step: 'integer',
    scope: 'owner',
    help: 'The maximum length of an excerpt from an earlier conversation, in characters; the two best may be three times as long. Excerpts end at sentence boundaries.',
  },
  sharedMemory: {
    kind: 'switch',
    default: false,
    scope: 'system',
    help: 'Whether all owners may read the shared memory (the owner `@shared`), which superadmins write.',
  },
  recallLimit: {
    kind: 'number',
    default: 10,
    min: 1,
    max: 100,
    step: 'integer',
    scope: 'owner',
    help: 'How many memories a search returns when the caller does not say.',
  },
  strategy: {
    kind: 'choice',
    default: 'hybrid',
    choices: STRATEGIES,
    scope: 'owner',
    help: 'How recall looks: by words and meaning, by meaning, by words, or simply the newest (`recent`, also called `exact`).',
  },
  fusion: {
    kind: 'choice',
    default: 'adaptive',
    choices: FUSIONS,
    scope: 'owner',
    help: 'How words and meaning are joined: by all evidence (`adaptive`), by ranks (`rrf`), or by a weighted sum of scores.',
  },
  rrfK: {
    kind: 'number',
    default: 60,
    min: 1,
    max: 1_000,
    step: 'integer',
    scope: 'owner',
    help: 'With `rrf`: the higher, the less the first ranks of each list stand out.',
  },
  meaningWeight: {
    kind: 'number',
    default: 0.7,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'With `weighted`: how much meaning counts; words count the rest.',
  },
  vectorCandidates: {
    kind: 'number',
    default: 100,
    min: 1,
    max: 1_000,
    step: 'integer',
    scope: 'owner',
    help: 'How many of the memories nearest in meaning take part in ranking.',
  },
  answerFloor: {
    kind: 'number',
    default: 1,
    min: 0,
    max: 5,
    step: 'any',
    scope: 'owner',
    help: 'How near the best memory must be for there to be an answer. 1 is as near as the best of so many unrelated ones would be by chance; 0 always answers.',
  },
  memberFloor: {
    kind: 'number',
    default: 0.7,
    min: 0,
    max: 5,
    step: 'any',
    scope: 'owner',
    help: 'The same for each further memory of an answer.',
  },
  halfLifeDays: {
    kind: 'number',
    default: 90,
    min: 0,
    max: 3_650,
    step: 'any',
    scope: 'owner',
    help: 'After how many days without use a memory has lost half of its freshness. 0 leaves age out of ranking. Pinned memories stay fresh.',
  },
  ageWeight: {
    kind: 'number',
    default: 0.05,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'How much of its score a memory can lose with its freshness.',
  },
  importanceWeight: {
    kind: 'number',
    default: 0.2,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'How much importance and salience can raise or lower a score.',
  },
  mmrLambda: {
    kind: 'number',
    default: 1,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'Below 1, memories that repeat others move down, the more the lower. 1 orders by fit alone.',
  },
  contextTokensMax: {
    kind: 'number',
    default: 800,
    min: 0,
    max: 16_000,
    step: 'integer',
    scope: 'owner',
    help: 'How many tokens of a prompt memories may take, also called `memoryBudgetTokens`. 0 gives none; otherwise the best one is always given. Who the person is takes half of it at most.',
  },
  legDeadlineMs: {
    kind: 'number',
    default: 5_000,
    min: 10,
    max: 60_000,
    step: 'integer',
    scope: 'owner',
    help: 'How long recall waits for words, for meaning, and for reranking, each. What is late is left out.',
  },
  rerankCandidates: {
    kind: 'number',
    default: 30,
    min: 0,
    max: 100,
    step: 'integer',
    scope: 'owner',
    help: 'How many of the best a reranker reads, where one is configured.',
  },
  neighboursMax: {
    kind: 'number',
    default: 10,
    min: 0,
    max: 100,
    step: 'integer',
    scope: 'owner',
    help: 'How many stored memories with similar words a new one is compared with. 0 finds exact restatements only.',
  },
  reinforcement: {
    kind: 'number',
    default: 0.1,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'How far a restatement lifts the salience of what it repeats, as a share of what is missing to 1.',
  },
  binDays: {
    kind: 'number',
    default: 30,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'How many days a forgotten memory can be restored before consolidation, or `recollect erase --bin`, removes it for good.',
  },
  retentionDays: {
    kind: 'number',
    default: 0,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'After how many days without use consolidation forgets an unpinned memory. 0 keeps all.',
  },
  extractionMode: {
    kind: 'choice',
    default: 'sessionEnd',
    choices: ['sessionEnd', 'everyTurn', 'manual'],
    scope: 'owner',
    help: 'When a model distils what was said to models into memories: after the conversation has gone quiet, after every turn, or only when asked to.',
  },
  relevanceGateMode: {
    kind: 'choice',
    default: 'off',
    choices: ['off', 'heuristic', 'llm'],
    scope: 'owner',
    help: 'Who decides what kind of memories a message needs, if any: nobody (`off`: every message is looked up in all of them, and recall itself finds nothing where nothing fits), rules for seven languages (`heuristic`), or `fastModel` (`llm`), which may take half of `injectDeadlineMs`; where it does not answer, the rules do. Who the person is, is told in any case.',
  },
  autoRecall: {
    kind: 'switch',
    default: true,
    scope: 'owner',
    help: 'Whether programs that ask their model themselves get memories to put before a prompt.',
  },
  autoCapture: {
    kind: 'switch',
    default: false,
    scope: 'owner',
    help: 'Whether what such programs hand over after a run is kept where a person asks for it.',
  },
  captureMaxChars: {
    kind: 'number',
    default: 500,
    min: 100,
    max: 10_000,
    step: 'integer',
    scope: 'owner',
    help: 'How long a message may be that is kept this way.',
  },
  summaryDebounceSeconds: {
    kind: 'number',
    default: 60,
    min: 10,
    max: 3_600,
    step: 'integer',
    scope: 'owner',
    help: 'How long a conversation must be quiet before it is distilled. Going on in another one ends the wait.',
  },
  consolidationIntervalHours: {
    kind: 'number',
    default: 24,
    min: 1,
    max: 168,
    step: 'integer',
    scope: 'owner',
    help: 'How often a server consolidates the memories of an owner.',
  },
  salienceFloor: {
    kind: 'number',
    default: 0.2,
    min: 0,
    max: 1,
    step: 'any',
    scope: 'owner',
    help: 'Consolidation puts unpinned memories into the bin whose salience has decayed below this.',
  },
  episodeRetentionDays: {
    kind: 'number',
    default: 365,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'For how many days episodes, the digests of conversations, are kept. 0 keeps them forever.',
  },
  turnRetentionDays: {
    kind: 'number',
    default: 0,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'owner',
    help: 'For how many days turns of conversations are kept, counted from when they were said. Consolidation removes older ones for good. 0 keeps them forever.',
  },
  skillsEnabled: {
    kind: 'switch',
    default: false,
    scope: 'owner',
    help: 'Whether the gateway gives models tools to search, save, update and forget memories, and answers their calls itself.',
  },
  embeddingSource: {
    kind: 'choice',
    default: 'auto',
    choices: ['auto', 'transformers', 'static', 'remote', 'none'],
    scope: 'system',
    appliesAt: 'start',
    help: 'Where vectors come from, as `RECOLLECT_EMBEDDING`, which goes before it.',
  },
  embeddingProviderModel: {
    kind: 'text',
    default: '',
    providers: EMBEDDING_PROVIDERS,
    scope: 'system',
    appliesAt: 'start',
    help: 'The remote embedding model, as `RECOLLECT_EMBEDDING_MODEL`, which goes before it. Its key is in the usual variable of the provider, as `OPENAI_API_KEY`, or in `RECOLLECT_EMBEDDING_KEY`.',
  },
  transformersEnabled: {
    kind: 'switch',
    default: true,
    scope: 'system',
    appliesAt: 'start',
    help: 'Whether `auto` may use the local model where no remote one can be asked.',
  },
  staticEnabled: {
    kind: 'switch',
    default: true,
    scope: 'system',
    appliesAt: 'start',
    help: 'Whether `auto` may use the static model where the local one is off.',
  },
  rerankEnabled: {
    kind: 'switch',
    default: true,
    scope: 'owner',
    help: 'Whether a reranker is used where one is configured.',
  },
  rerankProviderModel: {
    kind: 'text',
    default: '',
    providers: RERANK_PROVIDERS,
    scope: 'system',
    appliesAt: 'start',
    help: 'The model that reranks, as `cohere/rerank-v3.5`, with its key in the usual variable of the provider, as `COHERE_API_KEY`. `RECOLLECT_RERANK_URL` and `RECOLLECT_RERANK_FOLDER` go before it.',
  },
  ...VECTOR_SETTINGS,
  coreModel: {
    kind: 'text',
    default: '',
    scope: 'owner',
    help: 'The model that distils conversations, as `openai/gpt-5-mini`: any provider of the gateway. Without one, conversations wait.',
  },
  fastModel: {
    kind: 'text',
    default: '',
    scope: 'owner',
    help: 'The model that reads every turn where `extractionMode` is `everyTurn`, and every message where `relevanceGateMode` is `llm`. Default: the core model.',
  },
  modelTokensPerDay: {
    kind: 'number',
    default: 500_000,
    min: 0,
    max: 1_000_000_000,
    step: 'integer',
    scope: 'owner',
    help: 'How many tokens of models memory may use for an owner in a day. What is over waits for the next day. 0 sets no limit.',
  },
  auditDays: {
    kind: 'number',
    default: 90,
    min: 0,
    max: 3_650,
    step: 'integer',
    scope: 'system',
    help: 'How many days the audit log is kept. 0 keeps none.',
  },
  requestsPerMinute: {
    kind: 'number',
    default: 3_000,
    min: 0,
    max: 1_000_000,
    step: 'integer',
    scope: 'system',
    help: 'How many requests a key may make in a minute. 0 sets no limit.',
  },
  ...FILE_SETTINGS,
} as const satisfies Record<string, SettingDeclaration>
