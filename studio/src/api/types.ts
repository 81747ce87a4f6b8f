/** Made from the server's own description by scripts/api-types.mjs. Do not edit. */
export type Memory = {
  id: string
  owner: string
  /** The same as owner. */
  apiKeyId: string
  user: string | null
  /** Empty when it belongs to none. */
  sessionId: string
  key: string | null
  content: string
  type: 'factual' | 'episodic' | 'procedural' | 'semantic'
  category:
    | 'general'
    | 'preference'
    | 'fact'
    | 'event'
    | 'relationship'
    | 'decision'
    | 'entity'
    | 'pattern'
    | 'episode'
    | 'identity'
  importance: number
  salience: number
  pinned: boolean
  trust: 'user' | 'assistant' | 'import' | 'tool' | 'suspect'
  status: 'active' | 'disabled' | 'superseded' | 'forgotten'
  validFrom: string | null
  validUntil: string | null
  supersededBy: string | null
  conflictsWith: string | null
  expiresAt: string | null
  provenance: {
    source: string
    speaker: string | null
    turns: string[]
    extractor: string | null
    extractorVersion: string | null
  }
  entities: string[]
  language: string | null
  metadata: { [name: string]: Json }
  sourceCount: number
  accessCount: number
  lastAccessedAt: string | null
  version: number
  change: string
  /** ISO 8601 */
  createdAt: string
  /** ISO 8601 */
  updatedAt: string
}

export type Json = string | number | boolean | null | Json[] | { [name: string]: Json }

export type Turn = {
  id: string
  owner: string
  user: string | null
  /** Empty when it belongs to none. */
  sessionId: string
  role: 'user' | 'assistant' | 'system' | 'tool'
  speaker: string | null
  content: string
  position: number
  saidAt: string
  /** Out of use: neither found, quoted nor learned from. */
  disabled: boolean
  version: number
}

export type Setting = {
  name: string
  kind: 'number' | 'choice' | 'switch' | 'text'
  /** Null for a text that is empty. */
  default: string | number | boolean | null
  min: number | null
  max: number | null
  /** Whether a number has no fraction. */
  isWhole: boolean
  choices: string[]
  /** `system`: for everybody alike. `owner`: an owner may have a value of its own. */
  scope: 'system' | 'owner'
  /** `start`: a change is in force after the next start. */
  appliesAt: 'once' | 'start'
  /** Whether a number out of range is moved into it instead of refused. */
  isClamped: boolean
  help: string
}

export type VectorTier = {
  /** The one that is configured. */
  mirror: 'qdrant' | 'lancedb' | null
  /** What answers now; `embedded` is the index that is kept with the memories. */
  answering: 'embedded' | 'qdrant' | 'lancedb'
  state: 'off' | 'checking' | 'filling' | 'active' | 'lagging' | 'down' | 'recovering' | 'refused'
  since: string
  /** Why, where there is something to say. */
  because: string | null
  nextTryAt: string | null
  /** How many vectors have been compared, while it is being filled. */
  progress: {
    done: number
    total: number
  } | null
  /** How many memories it may lack; null: not known. */
  behind: number | null
}

export type InstanceMemory = {
  id: string
  instanceId: string
  content: string
  category: string
  importance: number
  sourceConversationId: string | null
  createdAt: string
  updatedAt: string
}

export type Receipt = {
  id: string
  owner: string
  user: string | null
  /** Empty when it belongs to none. */
  sessionId: string
  /** ISO 8601 */
  at: string
  requestId: string
  format: 'chat' | 'responses' | 'messages'
  model: string
  provider: string
  /** What the provider answered with; null for nothing. */
  status: number | null
  /** Why no memories were added; null when some were. */
  skipped: string | null
  /** The code of the error that memory met. */
  error: string | null
  /** Parts of recall that failed, so that it found less than it could have. */
  degraded: string[]
  /** What kind of memories the message was found to need; null when that was not asked. */
  gate: {
    /** The setting relevanceGateMode. */
    mode: 'off' | 'heuristic' | 'llm'
    /** What decided: rules do where a model can’t be asked. */
    by: 'off' | 'heuristic' | 'llm'
    section: 'all' | 'identity' | 'pinned' | 'episode' | 'transcript' | 'none'
    because: string
  } | null
  recalled: {
    memory: string
    score: number
    coverage: number
    trail: {
      stage: string
      score: number
    }[]
  }[]
  /** Of those that were added: those that are always given. */
  identity: string[]
  /** Turns of earlier conversations that were added word for word. */
  quoted: string[]
  injected: {
    placement: 'turn-end' | 'turn-start' | 'system' | 'system-merged' | 'message'
    memories: string[]
    tokens: number
  } | null
  /** What would have been added, in shadow mode. */
  shadow: {
    memories: string[]
    tokens: number
  } | null
  /** The lines of the block in their order; empty for receipts of earlier versions. */
  pieces: {
    kind: 'memory' | 'turn'
    id: string
    /** The version that the block shows. */
    version: number
  }[]
  /** What of the conversation was recorded. */
  turns: string[]
  /** The memories that were learned from it. */
  extracted: string[]
  /** Calls of memory tools that were answered. */
  toolCalls: string[]
  /** The memories that these calls came by. */
  toolMemories: {
    found: string[]
    saved: string[]
    updated: string[]
    forgotten: string[]
  }
  /** How the answer ended: `cut` when it became too long, `unread` when it was packed in a way that can’t be read here. */
  answer: 'whole' | 'cut' | 'broken' | 'unread' | null
  /** Tokens, as the provider counted them. */
  usage: {
    input: number
    output: number
    cached: number | null
  } | null
  timings: {
    prepareMs: number
    firstByteMs: number | null
    totalMs: number
    recordMs: number | null
  }
}

export type ReceiptDetail = {
  id: string
  owner: string
  user: string | null
  /** Empty when it belongs to none. */
  sessionId: string
  /** ISO 8601 */
  at: string
  requestId: string
  format: 'chat' | 'responses' | 'messages'
  model: string
  provider: string
  /** What the provider answered with; null for nothing. */
  status: number | null
  /** Why no memories were added; null when some were. */
  skipped: string | null
  /** The code of the error that memory met. */
  error: string | null
  /** Parts of recall that failed, so that it found less than it could have. */
  degraded: string[]
  /** What kind of memories the message was found to need; null when that was not asked. */
  gate: {
    /** The setting relevanceGateMode. */
    mode: 'off' | 'heuristic' | 'llm'
    /** What decided: rules do where a model can’t be asked. */
    by: 'off' | 'heuristic' | 'llm'
    section: 'all' | 'identity' | 'pinned' | 'episode' | 'transcript' | 'none'
    because: string
  } | null
  recalled: {
    memory: string
    score: number
    coverage: number
    trail: {
      stage: string
      score: number
    }[]
  }[]
  /** Of those that were added: those that are always given. */
  identity: string[]
  /** Turns of earlier conversations that were added word for word. */
  quoted: string[]
  injected: {
    placement: 'turn-end' | 'turn-start' | 'system' | 'system-merged' | 'message'
    memories: string[]
    tokens: number
  } | null
  /** What would have been added, in shadow mode. */
  shadow: {
    memories: string[]
    tokens: number
  } | null
  /** The lines of the block in their order; empty for receipts of earlier versions. */
  pieces: {
    kind: 'memory' | 'turn'
    id: string
    /** The version that the block shows. */
    version: number
    /** As the model read it; null when it is redacted. */
    line: string | null
    /** Why the line is not shown: its memory or turn was erased (`erased`), its memory is in the trash (`forgotten`), or it was not stored (`not-kept`). */
    redaction: 'erased' | 'forgotten' | 'not-kept' | null
  }[]
  /** What of the conversation was recorded. */
  turns: string[]
  /** The memories that were learned from it. */
  extracted: string[]
  /** Calls of memory tools that were answered. */
  toolCalls: string[]
  /** The memories that these calls came by. */
  toolMemories: {
    found: string[]
    saved: string[]
    updated: string[]
    forgotten: string[]
  }
  /** How the answer ended: `cut` when it became too long, `unread` when it was packed in a way that can’t be read here. */
  answer: 'whole' | 'cut' | 'broken' | 'unread' | null
  /** Tokens, as the provider counted them. */
  usage: {
    input: number
    output: number
    cached: number | null
  } | null
  timings: {
    prepareMs: number
    firstByteMs: number | null
    totalMs: number
    recordMs: number | null
  }
  /** The injected text, byte for byte, with a placeholder such as `- [erased]` for each redacted line; in shadow mode the text that would have been injected. Null when there was none. */
  block: string | null
}

export type Episode = {
  id: string
  owner: string
  user: string | null
  /** Empty when it belongs to none. */
  sessionId: string
  summary: string
  topics: string[]
  decisions: string[]
  actionItems: string[]
  entities: string[]
  salience: number
  /** When the conversation began. */
  happenedAt: string
  /** The ids of what was said in it. */
  turns: string[]
  status: 'active' | 'disabled' | 'superseded' | 'forgotten'
  trust: string
  version: number
  change: string
  createdAt: string
  updatedAt: string
}

export type Session = {
  id: string
  owner: string
  user: string | null
  firstSaidAt: string
  lastSaidAt: string
  turns: number
  /** Exchanges that wait to be learned from. */
  pending: number
  /** Exchanges that could not be learned from. */
  dead: number
  /** Its digest. */
  episode: string | null
  /** The first words of the person. */
  opening: string | null
}

export type ConsolidationReport = {
  /** Null in a dry run, which is not kept. */
  id: string | null
  startedAt: string
  finishedAt: string
  isDryRun: boolean
  /** Nothing was removed for good, because the clock may have leapt. */
  isHeldBack: boolean
  memories: number
  decayed: number
  merged: number
  /** Pairs that a model settled; in a dry run, those it would be asked about. */
  judged: number
  promoted: number
  evicted: number
  retired: number
  prunedEpisodes: number
  prunedTurns: number
  trimmed: number
  emptied: number
  /** Who people are, told anew. */
  narrated: number
  actions: {
    kind: string
    /** In a merge, the one that stays comes first. */
    memories: string[]
    because: string
    /** What undo takes. */
    change: string | null
    /** `done`: nothing of it is left to take back. `impossible`: it can’t be, or the memories are gone. */
    undo: 'possible' | 'done' | 'impossible'
  }[]
  /** How many there were: a run tells 1,000, one that is kept 200, a dry run all. */
  actionsTotal: number
  durationsMs: { [name: string]: number }
}

export type Job = {
  id: string
  kind: string
  owner: string | null
  input: { [name: string]: Json }
  status: 'waiting' | 'running' | 'done' | 'dead' | 'cancelled'
  dueAt: string | null
  since: string
  attempts: number
  everyMs: number | null
  lastError: string | null
  outcome: { [name: string]: Json } | null
}

export type Signal = {
  id: string
  user: string | null
  sessionId: string
  turns: string[]
  status: 'pending' | 'processed' | 'dead' | 'forgotten'
  attempts: number
  error: string | null
  change: string | null
  createdAt: string
}

export type Conflict = {
  /** Says otherwise than the other one. */
  memory: Memory
  /** Was there before. */
  other: Memory
}

export type FileRoot = {
  id: string
  /** `workspace`: MEMORY.md and memory/, which are also written to. `path`: a file, or a folder of notes. `sessions`: transcripts. */
  kind: 'workspace' | 'path' | 'sessions'
  /** What paths of its files begin with. Empty for the workspace. */
  name: string
  /** Where it is; null for those who may not manage. */
  path: string | null
  include: string[]
  exclude: string[]
}

export type Key = {
  id: string
  name: string
  role: 'superadmin' | 'user' | 'agent' | 'reader'
  home: string
  actsFor: string[]
  isManagement: boolean
  createdAt: string
  expiresAt: string | null
  lastUsedAt: string | null
}

export type Error = {
  error: {
    code:
      | 'invalid_input'
      | 'unauthenticated'
      | 'forbidden'
      | 'not_found'
      | 'conflict'
      | 'method_not_allowed'
      | 'precondition_failed'
      | 'timeout'
      | 'too_large'
      | 'unsupported_media_type'
      | 'too_many_requests'
      | 'forgotten'
      | 'locked'
      | 'damaged'
      | 'schema_mismatch'
      | 'busy'
      | 'disk_full'
      | 'read_only'
      | 'unavailable'
      | 'bad_gateway'
      | 'gateway_timeout'
      | 'missing_part'
      | 'cancelled'
      | 'internal'
    message: string
    /** The faulty fields, where the input is to blame. */
    details: {
      field: string
      message: string
    }[]
    retryable: boolean
    requestId: string
  }
}

export interface components {
  schemas: {
    Memory: Memory
    Json: Json
    Turn: Turn
    Setting: Setting
    VectorTier: VectorTier
    InstanceMemory: InstanceMemory
    Receipt: Receipt
    ReceiptDetail: ReceiptDetail
    Episode: Episode
    Session: Session
    ConsolidationReport: ConsolidationReport
    Job: Job
    Signal: Signal
    Conflict: Conflict
    FileRoot: FileRoot
    Key: Key
    Error: Error
  }
}

export interface paths {
  '/api/memory': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          type?:
            | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
            | 'factual'
            | 'episodic'
            | 'procedural'
            | 'semantic'
          category?:
            | (
                | 'general'
                | 'preference'
                | 'fact'
                | 'event'
                | 'relationship'
                | 'decision'
                | 'entity'
                | 'pattern'
                | 'episode'
                | 'identity'
              )[]
            | 'general'
            | 'preference'
            | 'fact'
            | 'event'
            | 'relationship'
            | 'decision'
            | 'entity'
            | 'pattern'
            | 'episode'
            | 'identity'
          status?:
            | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
            | 'active'
            | 'disabled'
            | 'superseded'
            | 'forgotten'
          trust?:
            | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
            | 'user'
            | 'assistant'
            | 'import'
            | 'tool'
            | 'suspect'
          source?: string[] | string
          importanceMin?: number
          pinned?: boolean
          key?: string
          createdFrom?: string | number
          createdBefore?: string | number
          includeEnded?: boolean
          q?: string
          asOf?: string | number
          order?:
            | 'newest'
            | 'oldest'
            | 'updated'
            | 'importance'
            | 'salience'
            | 'lastUsed'
            | 'mostUsed'
            | 'leastUsed'
          limit?: number
          page?: number
          offset?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              data: Memory[]
              total: number
              page: number
              limit: number
              totalPages: number
              /** Goes on from here as `after`, however much is added. */
              next: string | null
              stats: {
                total: number
                byType: { [name: string]: number }
                byCategory: { [name: string]: number }
                /** Of all memories of the owner, about. */
                tokensUsed: number
                /** Of the cache of embeddings, 0 to 1; for superadmins only. */
                hitRate: number
                cacheStats: {
                  hits: number
                  misses: number
                }
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** One statement that stands on its own. */
            content: string
            /** Its name: a second memory with the same one updates the first. */
            key?: string | null
            type?: 'factual' | 'episodic' | 'procedural' | 'semantic'
            category?:
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            importance?: number
            salience?: number
            /** Pinned memories do not age. */
            pinned?: boolean
            /** Who said it; `suspect` is kept for review only. */
            trust?: 'user' | 'assistant' | 'import' | 'tool' | 'suspect'
            validFrom?: string | number | null
            validUntil?: string | number | null
            expiresAt?: string | number | null
            entities?: string[]
            language?: string | null
            metadata?: { [name: string]: Json }
            /** What wrote it. */
            source?: string
            /** Who said it. */
            speaker?: string
            /** When it was said, if not just now. */
            observedAt?: string | number
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              success: true
              id: string
              /** New; put in the place of what held the key; said before; in the place of what it contradicts; or kept beside it. */
              outcome: 'create' | 'update' | 'duplicate' | 'supersede' | 'conflict'
              memory: Memory
              /** What was replaced, repeated or contradicted. */
              other: Memory | null
              because: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          type?:
            | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
            | 'factual'
            | 'episodic'
            | 'procedural'
            | 'semantic'
          category?:
            | (
                | 'general'
                | 'preference'
                | 'fact'
                | 'event'
                | 'relationship'
                | 'decision'
                | 'entity'
                | 'pattern'
                | 'episode'
                | 'identity'
              )[]
            | 'general'
            | 'preference'
            | 'fact'
            | 'event'
            | 'relationship'
            | 'decision'
            | 'entity'
            | 'pattern'
            | 'episode'
            | 'identity'
          status?:
            | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
            | 'active'
            | 'disabled'
            | 'superseded'
            | 'forgotten'
          trust?:
            | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
            | 'user'
            | 'assistant'
            | 'import'
            | 'tool'
            | 'suspect'
          source?: string[] | string
          importanceMin?: number
          pinned?: boolean
          key?: string
          createdFrom?: string | number
          createdBefore?: string | number
          includeEnded?: boolean
          ids?: string[] | string
          q?: string
          olderThan?: string | number
          all?: boolean
          erase?: boolean
          dryRun?: boolean
        }
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            type?:
              | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
              | 'factual'
              | 'episodic'
              | 'procedural'
              | 'semantic'
            category?:
              | (
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                )[]
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            /** Default: active. */
            status?:
              | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
              | 'active'
              | 'disabled'
              | 'superseded'
              | 'forgotten'
            trust?:
              | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
              | 'user'
              | 'assistant'
              | 'import'
              | 'tool'
              | 'suspect'
            /** What wrote it. */
            source?: string[] | string
            /** At least this important. */
            importanceMin?: number
            pinned?: boolean
            key?: string
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdFrom?: string | number
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdBefore?: string | number
            /** Also what has expired or ceased to hold. */
            includeEnded?: boolean
            ids?: string[] | string
            q?: string
            /** Created before this time. */
            olderThan?: string | number
            /** Needed when nothing narrows it. */
            all?: boolean
            /** For good, with their history. */
            erase?: boolean
            /** Only counts. */
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              matched: number
              /** Really done; 0 in a dry run. */
              deletedCount: number
              /** Turns of conversations that stated it and are not recalled any more. */
              turnsDisabled: number
              /** What undo takes. */
              change: string | null
              /** The first of them. */
              ids: string[]
              dryRun: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/memory/search': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            type?:
              | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
              | 'factual'
              | 'episodic'
              | 'procedural'
              | 'semantic'
            category?:
              | (
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                )[]
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            /** Default: active. */
            status?:
              | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
              | 'active'
              | 'disabled'
              | 'superseded'
              | 'forgotten'
            trust?:
              | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
              | 'user'
              | 'assistant'
              | 'import'
              | 'tool'
              | 'suspect'
            /** What wrote it. */
            source?: string[] | string
            /** At least this important. */
            importanceMin?: number
            pinned?: boolean
            key?: string
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdFrom?: string | number
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdBefore?: string | number
            /** Also what has expired or ceased to hold. */
            includeEnded?: boolean
            query: string
            /** Default: memories, episodes, transcript (turns of conversations). Filters such as category leave out turns. */
            sources?:
              | ('memories' | 'episodes' | 'transcript' | 'files')[]
              | 'memories'
              | 'episodes'
              | 'transcript'
              | 'files'
            /** Memories only (`facts`), turns of conversations only, or both. A short form of `sources`; give one of the two. */
            include?: 'both' | 'facts' | 'conversations'
            /** With files: `memory` for notes, `sessions` for transcripts. Default: both. */
            fileSources?: ('memory' | 'sessions')[] | 'memory' | 'sessions'
            /** With sources: what files and what was said must score. */
            minScore?: number
            /** With files: who asks, as `agent:main:discord:group:42`. */
            sessionKey?: string
            /** Where to look; default: the setting `recallScope`. */
            scope?: 'session' | 'owner' | 'global'
            limit?: number
            strategy?: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
            maxTokens?: number
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            asOf?: string | number
            includeSuspect?: boolean
            /** Snippets only, the whole text, or the whole text with the ranking trail. */
            detail?: 'snippet' | 'full' | 'explain'
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              results: {
                /** Of a memory or a turn; of files, the place as path#L5-L9. */
                id: string
                source: 'memories' | 'episodes' | 'transcript' | 'files'
                /** `@shared` for what all share. */
                owner: string
                /** Of a memory its beginning; of a turn or file the passage that matches. */
                snippet: string
                /** With `sources`, 0 to 1; else only for comparing. */
                score: number
                /** Of memories and turns: how much of the question its words cover, 0 to 1. */
                coverage?: number
                tokens: number
                /** Of memories. */
                type?: 'factual' | 'episodic' | 'procedural' | 'semantic'
                /** Of memories. */
                category?:
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                /** When it was learned or said; not of files. */
                createdAt?: string
                memory?: Memory
                trail?: {
                  stage: string
                  score: number
                  note?: string
                }[]
                /** Of turns: the whole turn. */
                content?: string
                /** Of turns. */
                role?: 'user' | 'assistant' | 'system' | 'tool'
                /** Of turns: the name of the speaker, or the role where there is no name. */
                speaker?: string
                /** Of turns: the conversation. */
                sessionId?: string
                /** Of files. */
                path?: string
                /** Of files: `memory` for notes, `sessions` for transcripts. */
                fileSource?: 'memory' | 'sessions'
                startLine?: number
                endLine?: number
                /** Of files, as the setting `fileCitations` says. */
                citation?: string
              }[]
              strategy: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
              legs: {
                keyword: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
                meaning: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
                rerank: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
              }
              /** Something was found, but nothing that was near enough. */
              abstained: boolean
              closeness: number | null
              /** The time that the question names, in its words. */
              time: string | null
              totalTokens: number
              /** With sources: those that could not answer. */
              unanswered?: {
                source: 'memories' | 'episodes' | 'transcript' | 'files'
                because: string
              }[]
              /** With files: what searched in them. */
              files?: {
                /** What has answered: `builtin` or `qmd`. */
                backend: string
                /** Of the embedding model; null without one. */
                provider: string | null
                model: string | null
                /** What it did without, and why. */
                fallback: string | null
                citations: 'auto' | 'on' | 'off'
                mode: 'hybrid' | 'keyword'
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/retrieve-preview': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            type?:
              | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
              | 'factual'
              | 'episodic'
              | 'procedural'
              | 'semantic'
            category?:
              | (
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                )[]
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            /** Default: active. */
            status?:
              | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
              | 'active'
              | 'disabled'
              | 'superseded'
              | 'forgotten'
            trust?:
              | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
              | 'user'
              | 'assistant'
              | 'import'
              | 'tool'
              | 'suspect'
            /** What wrote it. */
            source?: string[] | string
            /** At least this important. */
            importanceMin?: number
            pinned?: boolean
            key?: string
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdFrom?: string | number
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            createdBefore?: string | number
            /** Also what has expired or ceased to hold. */
            includeEnded?: boolean
            query: string
            scope?: 'session' | 'owner' | 'global'
            strategy?: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
            /** Facts, conversations or both; default: both. */
            include?: 'both' | 'facts' | 'conversations'
            /** How words and meaning are joined. */
            fusion?: 'adaptive' | 'rrf' | 'weighted'
            /** As things stood at an earlier time. */
            asOf?: string | number
            includeSuspect?: boolean
            maxTokens?: number
            limit?: number
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memories: {
                id: string
                /** `@shared` for what all share. */
                owner: string
                user: string | null
                /** `turn` for what was said in a conversation. */
                type: 'factual' | 'episodic' | 'procedural' | 'semantic' | 'turn'
                category:
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                key: string | null
                content: string
                /** Of a turn the passage that matches; of a memory its beginning. */
                snippet: string
                /** When it was learned or said. */
                createdAt: string
                /** Empty when it belongs to none. */
                sessionId: string
                /** Of turns; null for memories. */
                role: 'user' | 'assistant' | 'system' | 'tool' | null
                /** Of turns: the name of the speaker, or the role where there is no name. */
                speaker: string | null
                score: number
                /** How much of the question its words cover, 0 to 1. */
                coverage: number
                tokens: number
                tier: 'fts5' | 'vector' | 'hybrid-rrf' | 'hybrid' | 'recent'
                vecScore: number | null
                ftsScore: number | null
                trail: {
                  stage: string
                  score: number
                  note?: string
                }[]
              }[]
              legs: {
                keyword: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
                meaning: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
                rerank: {
                  state: 'searched' | 'skipped' | 'failed'
                  hits: number
                  because: string | null
                  /** Memories without a vector yet. */
                  missing?: number
                }
              }
              /** Something was found, but nothing that was near enough. */
              abstained: boolean
              closeness: number | null
              /** The time that the question names, in its words. */
              time: string | null
              resolution: {
                embeddingSource: string | null
                embeddingModel: string | null
                vectorStore: string
                strategyUsed: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
                fusionUsed: 'adaptive' | 'rrf' | 'weighted'
                rerankApplied: boolean
                fallbackReason: string | null
              }
              totalTokensUsed: number
              budgetMaxTokens: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/injection-preview': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** What the person says. */
            query: string
            strategy?: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
            fusion?: 'adaptive' | 'rrf' | 'weighted'
            /** In place of the setting `relevanceGateMode`; `llm` asks a model. */
            gateMode?: 'off' | 'heuristic' | 'llm'
            /** In place of the setting `recallSources`. */
            include?: 'both' | 'facts' | 'conversations'
            maxTokens?: number
            position?: 'auto' | 'system' | 'user'
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Fence and all; empty when there is nothing to give. */
              block: string
              /** What it adds to the request. */
              tokens: number
              budgetMaxTokens: number
              /** Why it would not be given; null when it would. */
              skipped:
                | 'off'
                | 'no-memory'
                | 'no-inject'
                | 'no-question'
                | 'no-budget'
                | 'not-needed'
                | 'nothing-relevant'
                | 'no-place'
                | 'shadow'
                | 'late'
                | 'failed'
                | null
              /** The same in words. */
              because: string | null
              /** What kind of memories the message was found to need; null when that was not asked. */
              gate: {
                /** The setting relevanceGateMode. */
                mode: 'off' | 'heuristic' | 'llm'
                /** What decided: rules do where a model can’t be asked. */
                by: 'off' | 'heuristic' | 'llm'
                section: 'all' | 'identity' | 'pinned' | 'episode' | 'transcript' | 'none'
                because: string
              } | null
              /** In the block, in its order. */
              memories: string[]
              /** Of those: what is always given. */
              identity: string[]
              /** Turns that are quoted. */
              quoted: string[]
              /** The same turns, with the lines that quote them. */
              excerpts: {
                id: string
                role: 'user' | 'assistant' | 'system' | 'tool'
                speaker: string
                /** Empty when it belongs to none. */
                sessionId: string
                /** When it was said. */
                createdAt: string
                /** As it stands in the block. */
                line: string
              }[]
              /** Recalled, but without room in the block. */
              left: string[]
              /** What failed, so that less was found. */
              degraded: string[]
              milliseconds: number
              /** The gateway waits no longer: the setting `injectDeadlineMs`. */
              deadlineMs: number
              requests: {
                format: 'chat' | 'responses' | 'messages'
                path: string
                placement: 'turn-end' | 'turn-start' | 'system' | 'system-merged' | 'message'
                /** An example of a request that says the message. */
                before: string
                /** The same with the block in it. */
                after: string
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/learn': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            text: string
            /** A time: ISO 8601 text, or milliseconds since 1970. */
            observedAt?: string | number
            source?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              remembered: {
                success: true
                id: string
                /** New; put in the place of what held the key; said before; in the place of what it contradicts; or kept beside it. */
                outcome: 'create' | 'update' | 'duplicate' | 'supersede' | 'conflict'
                memory: Memory
                /** What was replaced, repeated or contradicted. */
                other: Memory | null
                because: string | null
              }[]
              refused: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/forget': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** The id of a memory, as mem_01k3x…. */
            id?: string
            query?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              forgotten: Memory | null
              /** When it is not clear which one is meant. */
              candidates: {
                id: string
                snippet: string
                score: number
              }[]
              /** Turns of conversations that stated it and are not recalled any more. */
              turnsDisabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/undo': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            change: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memories: Memory[]
              /** Fields that later changes touched, and that stay. */
              kept: string[]
              /** Turns that are recalled again, because it is no longer forgotten. */
              turnsEnabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/empty-bin': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            days?: number
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memories: number
              revisions: number
              /** Turns of conversations that stated it and are not recalled any more. */
              turnsDisabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/summarize': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Only what is older; 30 unless `maxTokens` or a session is given. */
            olderThanDays?: number
            /** Only what does not fit: of each user, the newest that take so many tokens stay. 4000 where a session is given and nothing else. */
            maxTokens?: number
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              candidates: Memory[]
              totalTokens: number
              tokensSaved: number
              /** How many gave way to a summary. */
              deletedCount: number
              summaryId: string | null
              /** One for each user, more where they would be too long. */
              summaryIds: string[]
              /** Who worded them: a model, where one is configured and did not fail, or rules. */
              wording: 'model' | 'rules' | 'both' | null
              /** What undo takes. */
              change: string | null
              dryRun: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/health': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              working: boolean
              latencyMs: number
              error?: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/embedding-providers': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              providers: {
                provider: string
                hasKey: boolean
                models: {
                  id: string
                  name: string
                  dimensions: number | null
                }[]
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/engine-status': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              keyword: {
                available: boolean
                backend: string
              }
              embedding: {
                source: string | null
                model: string | null
                dimensions: number | null
                available: boolean
                reason: string | null
                cacheStats: {
                  hits: number
                  misses: number
                  size: number
                }
              }
              vectorStore: {
                backend: string
                available: boolean
                /** Of all owners; for superadmins only. */
                memories: number | null
                /** Turns of conversations of all owners; for superadmins only. */
                turns: number | null
                /** Vectors of all owners; for superadmins only. */
                rowCount: number | null
                /** Memories and turns that are not embedded yet; for superadmins only. */
                needsReindex: number | null
                reason: string | null
              }
              qdrant: {
                enabled: boolean
                healthy: boolean | null
                latencyMs: number | null
                error: string | null
              }
              rerank: {
                enabled: boolean
                provider: string | null
                model: string | null
                available: boolean
                reason: string | null
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/reindex': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              running: boolean
              done: number
              total: number
              pending: number
              error: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Makes all of them anew. */
            force?: boolean
          }
        }
      }
      responses: {
        202: {
          content: {
            'application/json': {
              started: boolean
              pending: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/embedding-test': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            text?: string
            /** How near is it in meaning? */
            other?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              works: boolean
              latencyMs: number
              error: {
                code: string
                message: string
                /** When it can work again, where that is known. */
                until: string | null
              } | null
              source: string | null
              model: string | null
              /** As probed. */
              dimensions: number | null
              /** Of the two texts: 1 for the same meaning. */
              similarity: number | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/rerank-test': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              works: boolean
              latencyMs: number
              error: {
                code: string
                message: string
                /** When it can work again, where that is known. */
                until: string | null
              } | null
              model: string | null
              /** Whether the text that answers came first. */
              isRight: boolean | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/models': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              providers: {
                name: string
                kind: string
                /** Or it needs none. */
                hasKey: boolean
                /** As `provider/model`; others can be asked for, too. */
                models: string[]
              }[]
              aliases: string[]
              /** Why what is written down about them can’t be used. */
              error: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/models/test': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** As `openai/gpt-5-mini`; default: the core model of the owner. */
            model?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              works: boolean
              latencyMs: number
              error: {
                code: string
                message: string
                /** When it can work again, where that is known. */
                until: string | null
              } | null
              model: string
              answer: string | null
              tokens: {
                input: number
                output: number
              } | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/export': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          allOwners?: boolean
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'application/x-ndjson': string } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/import': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          allOwners?: boolean
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              imported: number
              updated: number
              skipped: number
              failed: number
              /** Why the first of those that failed did. */
              failures: {
                line: number
                message: string
              }[]
              /** Why the first of those that were skipped were. */
              skips: {
                line: number
                message: string
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/vectors': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          limit?: number
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              memories: {
                id: string
                /** Its beginning. */
                content: string
                category:
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                salience: number
                /** Signed bytes in base64, each vector on a scale of its own: their directions can be compared. */
                vector: string | null
              }[]
              dimensions: number | null
              /** Whether these are all memories. */
              isComplete: boolean
              /** Why there are no vectors; null when there are. */
              because: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/{id}/vector': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              hasVector: boolean
              dimensions: number | null
              /** Why it has none; null when it has one. */
              because: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/entities': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          limit?: number
          memories?: number
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** Those that most memories name come first. */
              entities: {
                name: string
                memories: number
              }[]
              memories: {
                id: string
                /** Its beginning. */
                content: string
                category:
                  | 'general'
                  | 'preference'
                  | 'fact'
                  | 'event'
                  | 'relationship'
                  | 'decision'
                  | 'entity'
                  | 'pattern'
                  | 'episode'
                  | 'identity'
                /** The places of what it names in the list of entities. */
                entities: number[]
              }[]
              /** How many entities there are, with those that are left out. */
              total: number
              /** Whether all memories were looked at. */
              isComplete: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/days': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          from?: string | number
          to?: string | number
          timeZone?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** Oldest first. Days with neither are left out. */
              days: {
                /** As 2026-03-31. */
                day: string
                /** By when the conversations took place. */
                episodes: number
                /** Other memories, by when they were made. */
                memories: number
              }[]
              /** False when there were too many to count. */
              isComplete: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-None-Match'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              memory: Memory
            }
          }
        }
        304: { content?: never }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Only if it still is at this version. Over HTTP also as If-Match. */
            version?: number
            content?: string
            key?: string | null
            type?: 'factual' | 'episodic' | 'procedural' | 'semantic'
            category?:
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            importance?: number
            salience?: number
            /** Pinned memories do not age. */
            pinned?: boolean
            /** Who said it; `suspect` is kept for review only. */
            trust?: 'user' | 'assistant' | 'import' | 'tool' | 'suspect'
            validFrom?: string | number | null
            validUntil?: string | number | null
            expiresAt?: string | number | null
            entities?: string[]
            language?: string | null
            metadata?: { [name: string]: Json }
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
              /** Turns of conversations that stated it and are not recalled any more. */
              turnsDisabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Only if it still is at this version. Over HTTP also as If-Match. */
            version?: number
            content?: string
            key?: string | null
            type?: 'factual' | 'episodic' | 'procedural' | 'semantic'
            category?:
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            importance?: number
            salience?: number
            /** Pinned memories do not age. */
            pinned?: boolean
            /** Who said it; `suspect` is kept for review only. */
            trust?: 'user' | 'assistant' | 'import' | 'tool' | 'suspect'
            validFrom?: string | number | null
            validUntil?: string | number | null
            expiresAt?: string | number | null
            entities?: string[]
            language?: string | null
            metadata?: { [name: string]: Json }
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/memory/{id}/history': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              versions: {
                memory: Memory
                /** Null for the version in force. */
                replacedAt: string | null
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/memory/{id}/restore': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** The version to bring back. */
            version?: number
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
              /** Turns that are recalled again, because it is no longer forgotten. */
              turnsEnabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/{id}/disable': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/{id}/erase': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memories: number
              revisions: number
              /** Turns of conversations that stated it and are not recalled any more. */
              turnsDisabled: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/memory/{id}/sources': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              turns: Turn[]
              /** Those that are not kept any more. */
              goneTurns: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/settings': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              settings: Setting[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/settings/memory': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          level?: 'system' | 'owner'
          sources?: boolean
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the gateway gives models memories and learns from what is said to them. Off by default, because memories cost tokens. Programs that ask for memories themselves get them in any case. */
              enabled: boolean
              /** Where `enabled` is on: whether models are given memories. */
              inject: boolean
              /** Where `enabled` is on: whether what is said is recorded and learned from. */
              extract: boolean
              /** Whether the gateway also learns from what tools return, with less trust. */
              extractToolResults: boolean
              /** Whether memories are recalled and noted in the receipt, but not given to the model: to see what they would cost. */
              shadow: boolean
              /** Where memories stand in a request: after the last words of the person, where prompt caches stay whole (`auto`), in a leading system message (`system`), or before the last words of the person (`user`). */
              injectPosition: 'auto' | 'system' | 'user'
              /** How long a request waits for memories. What takes longer is left out. */
              injectDeadlineMs: number
              /** How many receipts of requests are kept for an owner; the oldest go first. 0 keeps none. */
              receiptsMax: number
              /** For how many days receipts are kept. */
              receiptDays: number
              /** Where recall looks when the caller does not say: in the session that is named, in everything of the owner, or in shared memory as well. */
              recallScope: 'session' | 'owner' | 'global'
              /** What the gateway adds to a prompt: facts (memories), excerpts of earlier conversations, or both. */
              recallSources: 'both' | 'facts' | 'conversations'
              /** The maximum length of an excerpt from an earlier conversation, in characters; the two best may be three times as long. Excerpts end at sentence boundaries. */
              excerptCharacters: number
              /** Whether all owners may read the shared memory (the owner `@shared`), which superadmins write. */
              sharedMemory: boolean
              /** How many memories a search returns when the caller does not say. */
              recallLimit: number
              /** How recall looks: by words and meaning, by meaning, by words, or simply the newest (`recent`, also called `exact`). */
              strategy: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
              /** How words and meaning are joined: by all evidence (`adaptive`), by ranks (`rrf`), or by a weighted sum of scores. */
              fusion: 'adaptive' | 'rrf' | 'weighted'
              /** With `rrf`: the higher, the less the first ranks of each list stand out. */
              rrfK: number
              /** With `weighted`: how much meaning counts; words count the rest. */
              meaningWeight: number
              /** How many of the memories nearest in meaning take part in ranking. */
              vectorCandidates: number
              /** How near the best memory must be for there to be an answer. 1 is as near as the best of so many unrelated ones would be by chance; 0 always answers. */
              answerFloor: number
              /** The same for each further memory of an answer. */
              memberFloor: number
              /** After how many days without use a memory has lost half of its freshness. 0 leaves age out of ranking. Pinned memories stay fresh. */
              halfLifeDays: number
              /** How much of its score a memory can lose with its freshness. */
              ageWeight: number
              /** How much importance and salience can raise or lower a score. */
              importanceWeight: number
              /** Below 1, memories that repeat others move down, the more the lower. 1 orders by fit alone. */
              mmrLambda: number
              /** How many tokens of a prompt memories may take, also called `memoryBudgetTokens`. 0 gives none; otherwise the best one is always given. Who the person is takes half of it at most. */
              contextTokensMax: number
              /** How long recall waits for words, for meaning, and for reranking, each. What is late is left out. */
              legDeadlineMs: number
              /** How many of the best a reranker reads, where one is configured. */
              rerankCandidates: number
              /** How many stored memories with similar words a new one is compared with. 0 finds exact restatements only. */
              neighboursMax: number
              /** How far a restatement lifts the salience of what it repeats, as a share of what is missing to 1. */
              reinforcement: number
              /** How many days a forgotten memory can be restored before consolidation, or `recollect erase --bin`, removes it for good. */
              binDays: number
              /** After how many days without use consolidation forgets an unpinned memory. 0 keeps all. */
              retentionDays: number
              /** When a model distils what was said to models into memories: after the conversation has gone quiet, after every turn, or only when asked to. */
              extractionMode: 'sessionEnd' | 'everyTurn' | 'manual'
              /** Who decides what kind of memories a message needs, if any: nobody (`off`: every message is looked up in all of them, and recall itself finds nothing where nothing fits), rules for seven languages (`heuristic`), or `fastModel` (`llm`), which may take half of `injectDeadlineMs`; where it does not answer, the rules do. Who the person is, is told in any case. */
              relevanceGateMode: 'off' | 'heuristic' | 'llm'
              /** Whether programs that ask their model themselves get memories to put before a prompt. */
              autoRecall: boolean
              /** Whether what such programs hand over after a run is kept where a person asks for it. */
              autoCapture: boolean
              /** How long a message may be that is kept this way. */
              captureMaxChars: number
              /** How long a conversation must be quiet before it is distilled. Going on in another one ends the wait. */
              summaryDebounceSeconds: number
              /** How often a server consolidates the memories of an owner. */
              consolidationIntervalHours: number
              /** Consolidation puts unpinned memories into the bin whose salience has decayed below this. */
              salienceFloor: number
              /** For how many days episodes, the digests of conversations, are kept. 0 keeps them forever. */
              episodeRetentionDays: number
              /** For how many days turns of conversations are kept, counted from when they were said. Consolidation removes older ones for good. 0 keeps them forever. */
              turnRetentionDays: number
              /** Whether the gateway gives models tools to search, save, update and forget memories, and answers their calls itself. */
              skillsEnabled: boolean
              /** Where vectors come from, as `RECOLLECT_EMBEDDING`, which goes before it. */
              embeddingSource: 'auto' | 'transformers' | 'static' | 'remote' | 'none'
              /** The remote embedding model, as `RECOLLECT_EMBEDDING_MODEL`, which goes before it. Its key is in the usual variable of the provider, as `OPENAI_API_KEY`, or in `RECOLLECT_EMBEDDING_KEY`. */
              embeddingProviderModel: string | null
              /** Whether `auto` may use the local model where no remote one can be asked. */
              transformersEnabled: boolean
              /** Whether `auto` may use the static model where the local one is off. */
              staticEnabled: boolean
              /** Whether a reranker is used where one is configured. */
              rerankEnabled: boolean
              /** The model that reranks, as `cohere/rerank-v3.5`, with its key in the usual variable of the provider, as `COHERE_API_KEY`. `RECOLLECT_RERANK_URL` and `RECOLLECT_RERANK_FOLDER` go before it. */
              rerankProviderModel: string | null
              /** What finds memories by meaning. Their vectors are always kept with them (`embedded`, also called `sqlite-vec`; `pgvector` where they are in PostgreSQL). `qdrant` and `lancedb` keep a copy that answers while it is well and up to date. `auto` uses the one that an address or a folder is set for. */
              vectorStore: 'auto' | 'embedded' | 'pgvector' | 'qdrant' | 'lancedb' | 'sqlite-vec'
              /** Where Qdrant is, as `http://127.0.0.1:6333`. Its key is set with `PUT /api/settings/qdrant` or `RECOLLECT_QDRANT_KEY`. */
              qdrantUrl: string | null
              /** Whether Qdrant looks through smaller copies of vectors: a quarter (`int8`) or a thirty-second (`binary`) of the memory. The best are compared exactly in any case. */
              qdrantQuantization: 'none' | 'int8' | 'binary'
              /** What the names of the collections in Qdrant begin with. */
              qdrantPrefix: string | null
              /** The folder where LanceDB keeps its copy. Default: `lancedb` in the data folder, where `vectorStore` is `lancedb`. Needs the package `@lancedb/lancedb`. */
              lancedbFolder: string | null
              /** The model that distils conversations, as `openai/gpt-5-mini`: any provider of the gateway. Without one, conversations wait. */
              coreModel: string | null
              /** The model that reads every turn where `extractionMode` is `everyTurn`, and every message where `relevanceGateMode` is `llm`. Default: the core model. */
              fastModel: string | null
              /** How many tokens of models memory may use for an owner in a day. What is over waits for the next day. 0 sets no limit. */
              modelTokensPerDay: number
              /** How many days the audit log is kept. 0 keeps none. */
              auditDays: number
              /** How many requests a key may make in a minute. 0 sets no limit. */
              requestsPerMinute: number
              /** How large the pieces are that files are cut into, in tokens. Another value cuts all of them anew. */
              fileChunkTokens: number
              /** How much of a piece the next one repeats, in tokens; less than a piece. */
              fileChunkOverlap: number
              /** What lines of a file must score to be told. Those that hold all words of the question always are. */
              fileMinScore: number
              /** How many places in files a question gets where it does not say. */
              fileMaxResults: number
              /** How what was found in files by words and by meaning is joined, as `fusion`. */
              fileFusion: 'adaptive' | 'rrf' | 'weighted'
              /** After how many days dated notes, transcripts and other files count half. 0: age does not matter. `MEMORY.md` and undated notes never age. */
              fileDecayHalfLifeDays: number
              /** Below 1, places in files that say the same as a better one move down; 0.7 is a good value. */
              fileMmrLambda: number
              /** Whether places in files are told as `memory/2026-11-15.md#L5-L9`; `auto`: not in groups and channels. */
              fileCitations: 'auto' | 'on' | 'off'
              /** Whether mail addresses are left out of the index of transcripts. Keys and tokens always are. */
              redactMails: boolean
              /** The time zone that days begin and end in, as `Europe/Berlin`: which note is that of today. */
              timeZone: string | null
              /** Whether pinned facts and identity are kept in `MEMORY.md` as well, between two marks, where they can be edited. */
              fileMirror: boolean
              /** Larger files are not indexed, and the status says so. Transcripts may be larger. Of a file with more than 50,000 pieces, which is some 50 MB, the first are indexed. */
              fileSizeMaxBytes: number
              /** Whether many pieces of files are embedded by the batches of OpenAI, Gemini or Voyage, which cost less and may take an hour. Until then they are found by their words. */
              fileEmbeddingBatches: boolean
              /** What searches in files. `qmd` is a program to be installed, which keeps an index in plain text; where it fails, the built-in index answers. */
              fileBackend: 'builtin' | 'qmd'
              /** How `qmd` searches: by words, by meaning, or by both with a model that ranks. The last two have it download models, and embed all files. */
              fileQmdMode: 'search' | 'vsearch' | 'query'
              /** Whether a question fails where `qmd` does, instead of being answered by the built-in index. */
              fileBackendFailClosed: boolean
              /** The same as contextTokensMax. */
              maxTokens: number
              /** The same as contextTokensMax. */
              memoryBudgetTokens: number
              /** The same as embeddingProviderModel. */
              embeddingModel: string | null
              /** The same as embeddingSource. */
              embeddingBackend: 'mlx' | 'none'
              sources?: { [name: string]: 'default' | 'start' | 'system' | 'owner' }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** What is set for everybody, or for one owner. Default: owner. */
            level?: 'system' | 'owner'
            enabled?: boolean | null
            inject?: boolean | null
            extract?: boolean | null
            extractToolResults?: boolean | null
            shadow?: boolean | null
            injectPosition?: 'auto' | 'system' | 'user' | null
            injectDeadlineMs?: number | null
            receiptsMax?: number | null
            receiptDays?: number | null
            recallScope?: 'session' | 'owner' | 'global' | null
            recallSources?: 'both' | 'facts' | 'conversations' | null
            excerptCharacters?: number | null
            sharedMemory?: boolean | null
            recallLimit?: number | null
            strategy?: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact' | null
            fusion?: 'adaptive' | 'rrf' | 'weighted' | null
            rrfK?: number | null
            meaningWeight?: number | null
            vectorCandidates?: number | null
            answerFloor?: number | null
            memberFloor?: number | null
            halfLifeDays?: number | null
            ageWeight?: number | null
            importanceWeight?: number | null
            mmrLambda?: number | null
            contextTokensMax?: number | null
            legDeadlineMs?: number | null
            rerankCandidates?: number | null
            neighboursMax?: number | null
            reinforcement?: number | null
            binDays?: number | null
            retentionDays?: number | null
            extractionMode?: 'sessionEnd' | 'everyTurn' | 'manual' | null
            relevanceGateMode?: 'off' | 'heuristic' | 'llm' | null
            autoRecall?: boolean | null
            autoCapture?: boolean | null
            captureMaxChars?: number | null
            summaryDebounceSeconds?: number | null
            consolidationIntervalHours?: number | null
            salienceFloor?: number | null
            episodeRetentionDays?: number | null
            turnRetentionDays?: number | null
            skillsEnabled?: boolean | null
            embeddingSource?: 'auto' | 'transformers' | 'static' | 'remote' | 'none' | null
            embeddingProviderModel?: string | null | null
            transformersEnabled?: boolean | null
            staticEnabled?: boolean | null
            rerankEnabled?: boolean | null
            rerankProviderModel?: string | null | null
            vectorStore?:
              | 'auto'
              | 'embedded'
              | 'pgvector'
              | 'qdrant'
              | 'lancedb'
              | 'sqlite-vec'
              | null
            qdrantUrl?: string | null | null
            qdrantQuantization?: 'none' | 'int8' | 'binary' | null
            qdrantPrefix?: string | null | null
            lancedbFolder?: string | null | null
            coreModel?: string | null | null
            fastModel?: string | null | null
            modelTokensPerDay?: number | null
            auditDays?: number | null
            requestsPerMinute?: number | null
            fileChunkTokens?: number | null
            fileChunkOverlap?: number | null
            fileMinScore?: number | null
            fileMaxResults?: number | null
            fileFusion?: 'adaptive' | 'rrf' | 'weighted' | null
            fileDecayHalfLifeDays?: number | null
            fileMmrLambda?: number | null
            fileCitations?: 'auto' | 'on' | 'off' | null
            redactMails?: boolean | null
            timeZone?: string | null | null
            fileMirror?: boolean | null
            fileSizeMaxBytes?: number | null
            fileEmbeddingBatches?: boolean | null
            fileBackend?: 'builtin' | 'qmd' | null
            fileQmdMode?: 'search' | 'vsearch' | 'query' | null
            fileBackendFailClosed?: boolean | null
            maxTokens?: number | null
            memoryBudgetTokens?: number | null
            embeddingModel?: string | null | null
            embeddingBackend?: 'mlx' | 'none' | null
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the gateway gives models memories and learns from what is said to them. Off by default, because memories cost tokens. Programs that ask for memories themselves get them in any case. */
              enabled: boolean
              /** Where `enabled` is on: whether models are given memories. */
              inject: boolean
              /** Where `enabled` is on: whether what is said is recorded and learned from. */
              extract: boolean
              /** Whether the gateway also learns from what tools return, with less trust. */
              extractToolResults: boolean
              /** Whether memories are recalled and noted in the receipt, but not given to the model: to see what they would cost. */
              shadow: boolean
              /** Where memories stand in a request: after the last words of the person, where prompt caches stay whole (`auto`), in a leading system message (`system`), or before the last words of the person (`user`). */
              injectPosition: 'auto' | 'system' | 'user'
              /** How long a request waits for memories. What takes longer is left out. */
              injectDeadlineMs: number
              /** How many receipts of requests are kept for an owner; the oldest go first. 0 keeps none. */
              receiptsMax: number
              /** For how many days receipts are kept. */
              receiptDays: number
              /** Where recall looks when the caller does not say: in the session that is named, in everything of the owner, or in shared memory as well. */
              recallScope: 'session' | 'owner' | 'global'
              /** What the gateway adds to a prompt: facts (memories), excerpts of earlier conversations, or both. */
              recallSources: 'both' | 'facts' | 'conversations'
              /** The maximum length of an excerpt from an earlier conversation, in characters; the two best may be three times as long. Excerpts end at sentence boundaries. */
              excerptCharacters: number
              /** Whether all owners may read the shared memory (the owner `@shared`), which superadmins write. */
              sharedMemory: boolean
              /** How many memories a search returns when the caller does not say. */
              recallLimit: number
              /** How recall looks: by words and meaning, by meaning, by words, or simply the newest (`recent`, also called `exact`). */
              strategy: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
              /** How words and meaning are joined: by all evidence (`adaptive`), by ranks (`rrf`), or by a weighted sum of scores. */
              fusion: 'adaptive' | 'rrf' | 'weighted'
              /** With `rrf`: the higher, the less the first ranks of each list stand out. */
              rrfK: number
              /** With `weighted`: how much meaning counts; words count the rest. */
              meaningWeight: number
              /** How many of the memories nearest in meaning take part in ranking. */
              vectorCandidates: number
              /** How near the best memory must be for there to be an answer. 1 is as near as the best of so many unrelated ones would be by chance; 0 always answers. */
              answerFloor: number
              /** The same for each further memory of an answer. */
              memberFloor: number
              /** After how many days without use a memory has lost half of its freshness. 0 leaves age out of ranking. Pinned memories stay fresh. */
              halfLifeDays: number
              /** How much of its score a memory can lose with its freshness. */
              ageWeight: number
              /** How much importance and salience can raise or lower a score. */
              importanceWeight: number
              /** Below 1, memories that repeat others move down, the more the lower. 1 orders by fit alone. */
              mmrLambda: number
              /** How many tokens of a prompt memories may take, also called `memoryBudgetTokens`. 0 gives none; otherwise the best one is always given. Who the person is takes half of it at most. */
              contextTokensMax: number
              /** How long recall waits for words, for meaning, and for reranking, each. What is late is left out. */
              legDeadlineMs: number
              /** How many of the best a reranker reads, where one is configured. */
              rerankCandidates: number
              /** How many stored memories with similar words a new one is compared with. 0 finds exact restatements only. */
              neighboursMax: number
              /** How far a restatement lifts the salience of what it repeats, as a share of what is missing to 1. */
              reinforcement: number
              /** How many days a forgotten memory can be restored before consolidation, or `recollect erase --bin`, removes it for good. */
              binDays: number
              /** After how many days without use consolidation forgets an unpinned memory. 0 keeps all. */
              retentionDays: number
              /** When a model distils what was said to models into memories: after the conversation has gone quiet, after every turn, or only when asked to. */
              extractionMode: 'sessionEnd' | 'everyTurn' | 'manual'
              /** Who decides what kind of memories a message needs, if any: nobody (`off`: every message is looked up in all of them, and recall itself finds nothing where nothing fits), rules for seven languages (`heuristic`), or `fastModel` (`llm`), which may take half of `injectDeadlineMs`; where it does not answer, the rules do. Who the person is, is told in any case. */
              relevanceGateMode: 'off' | 'heuristic' | 'llm'
              /** Whether programs that ask their model themselves get memories to put before a prompt. */
              autoRecall: boolean
              /** Whether what such programs hand over after a run is kept where a person asks for it. */
              autoCapture: boolean
              /** How long a message may be that is kept this way. */
              captureMaxChars: number
              /** How long a conversation must be quiet before it is distilled. Going on in another one ends the wait. */
              summaryDebounceSeconds: number
              /** How often a server consolidates the memories of an owner. */
              consolidationIntervalHours: number
              /** Consolidation puts unpinned memories into the bin whose salience has decayed below this. */
              salienceFloor: number
              /** For how many days episodes, the digests of conversations, are kept. 0 keeps them forever. */
              episodeRetentionDays: number
              /** For how many days turns of conversations are kept, counted from when they were said. Consolidation removes older ones for good. 0 keeps them forever. */
              turnRetentionDays: number
              /** Whether the gateway gives models tools to search, save, update and forget memories, and answers their calls itself. */
              skillsEnabled: boolean
              /** Where vectors come from, as `RECOLLECT_EMBEDDING`, which goes before it. */
              embeddingSource: 'auto' | 'transformers' | 'static' | 'remote' | 'none'
              /** The remote embedding model, as `RECOLLECT_EMBEDDING_MODEL`, which goes before it. Its key is in the usual variable of the provider, as `OPENAI_API_KEY`, or in `RECOLLECT_EMBEDDING_KEY`. */
              embeddingProviderModel: string | null
              /** Whether `auto` may use the local model where no remote one can be asked. */
              transformersEnabled: boolean
              /** Whether `auto` may use the static model where the local one is off. */
              staticEnabled: boolean
              /** Whether a reranker is used where one is configured. */
              rerankEnabled: boolean
              /** The model that reranks, as `cohere/rerank-v3.5`, with its key in the usual variable of the provider, as `COHERE_API_KEY`. `RECOLLECT_RERANK_URL` and `RECOLLECT_RERANK_FOLDER` go before it. */
              rerankProviderModel: string | null
              /** What finds memories by meaning. Their vectors are always kept with them (`embedded`, also called `sqlite-vec`; `pgvector` where they are in PostgreSQL). `qdrant` and `lancedb` keep a copy that answers while it is well and up to date. `auto` uses the one that an address or a folder is set for. */
              vectorStore: 'auto' | 'embedded' | 'pgvector' | 'qdrant' | 'lancedb' | 'sqlite-vec'
              /** Where Qdrant is, as `http://127.0.0.1:6333`. Its key is set with `PUT /api/settings/qdrant` or `RECOLLECT_QDRANT_KEY`. */
              qdrantUrl: string | null
              /** Whether Qdrant looks through smaller copies of vectors: a quarter (`int8`) or a thirty-second (`binary`) of the memory. The best are compared exactly in any case. */
              qdrantQuantization: 'none' | 'int8' | 'binary'
              /** What the names of the collections in Qdrant begin with. */
              qdrantPrefix: string | null
              /** The folder where LanceDB keeps its copy. Default: `lancedb` in the data folder, where `vectorStore` is `lancedb`. Needs the package `@lancedb/lancedb`. */
              lancedbFolder: string | null
              /** The model that distils conversations, as `openai/gpt-5-mini`: any provider of the gateway. Without one, conversations wait. */
              coreModel: string | null
              /** The model that reads every turn where `extractionMode` is `everyTurn`, and every message where `relevanceGateMode` is `llm`. Default: the core model. */
              fastModel: string | null
              /** How many tokens of models memory may use for an owner in a day. What is over waits for the next day. 0 sets no limit. */
              modelTokensPerDay: number
              /** How many days the audit log is kept. 0 keeps none. */
              auditDays: number
              /** How many requests a key may make in a minute. 0 sets no limit. */
              requestsPerMinute: number
              /** How large the pieces are that files are cut into, in tokens. Another value cuts all of them anew. */
              fileChunkTokens: number
              /** How much of a piece the next one repeats, in tokens; less than a piece. */
              fileChunkOverlap: number
              /** What lines of a file must score to be told. Those that hold all words of the question always are. */
              fileMinScore: number
              /** How many places in files a question gets where it does not say. */
              fileMaxResults: number
              /** How what was found in files by words and by meaning is joined, as `fusion`. */
              fileFusion: 'adaptive' | 'rrf' | 'weighted'
              /** After how many days dated notes, transcripts and other files count half. 0: age does not matter. `MEMORY.md` and undated notes never age. */
              fileDecayHalfLifeDays: number
              /** Below 1, places in files that say the same as a better one move down; 0.7 is a good value. */
              fileMmrLambda: number
              /** Whether places in files are told as `memory/2026-11-15.md#L5-L9`; `auto`: not in groups and channels. */
              fileCitations: 'auto' | 'on' | 'off'
              /** Whether mail addresses are left out of the index of transcripts. Keys and tokens always are. */
              redactMails: boolean
              /** The time zone that days begin and end in, as `Europe/Berlin`: which note is that of today. */
              timeZone: string | null
              /** Whether pinned facts and identity are kept in `MEMORY.md` as well, between two marks, where they can be edited. */
              fileMirror: boolean
              /** Larger files are not indexed, and the status says so. Transcripts may be larger. Of a file with more than 50,000 pieces, which is some 50 MB, the first are indexed. */
              fileSizeMaxBytes: number
              /** Whether many pieces of files are embedded by the batches of OpenAI, Gemini or Voyage, which cost less and may take an hour. Until then they are found by their words. */
              fileEmbeddingBatches: boolean
              /** What searches in files. `qmd` is a program to be installed, which keeps an index in plain text; where it fails, the built-in index answers. */
              fileBackend: 'builtin' | 'qmd'
              /** How `qmd` searches: by words, by meaning, or by both with a model that ranks. The last two have it download models, and embed all files. */
              fileQmdMode: 'search' | 'vsearch' | 'query'
              /** Whether a question fails where `qmd` does, instead of being answered by the built-in index. */
              fileBackendFailClosed: boolean
              /** The same as contextTokensMax. */
              maxTokens: number
              /** The same as contextTokensMax. */
              memoryBudgetTokens: number
              /** The same as embeddingProviderModel. */
              embeddingModel: string | null
              /** The same as embeddingSource. */
              embeddingBackend: 'mlx' | 'none'
              /** Numbers that were out of their range, and what was set instead. */
              clamped?: {
                name: string
                given: number
                used: number
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    post?: never
    delete?: never
    patch: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** What is set for everybody, or for one owner. Default: owner. */
            level?: 'system' | 'owner'
            enabled?: boolean | null
            inject?: boolean | null
            extract?: boolean | null
            extractToolResults?: boolean | null
            shadow?: boolean | null
            injectPosition?: 'auto' | 'system' | 'user' | null
            injectDeadlineMs?: number | null
            receiptsMax?: number | null
            receiptDays?: number | null
            recallScope?: 'session' | 'owner' | 'global' | null
            recallSources?: 'both' | 'facts' | 'conversations' | null
            excerptCharacters?: number | null
            sharedMemory?: boolean | null
            recallLimit?: number | null
            strategy?: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact' | null
            fusion?: 'adaptive' | 'rrf' | 'weighted' | null
            rrfK?: number | null
            meaningWeight?: number | null
            vectorCandidates?: number | null
            answerFloor?: number | null
            memberFloor?: number | null
            halfLifeDays?: number | null
            ageWeight?: number | null
            importanceWeight?: number | null
            mmrLambda?: number | null
            contextTokensMax?: number | null
            legDeadlineMs?: number | null
            rerankCandidates?: number | null
            neighboursMax?: number | null
            reinforcement?: number | null
            binDays?: number | null
            retentionDays?: number | null
            extractionMode?: 'sessionEnd' | 'everyTurn' | 'manual' | null
            relevanceGateMode?: 'off' | 'heuristic' | 'llm' | null
            autoRecall?: boolean | null
            autoCapture?: boolean | null
            captureMaxChars?: number | null
            summaryDebounceSeconds?: number | null
            consolidationIntervalHours?: number | null
            salienceFloor?: number | null
            episodeRetentionDays?: number | null
            turnRetentionDays?: number | null
            skillsEnabled?: boolean | null
            embeddingSource?: 'auto' | 'transformers' | 'static' | 'remote' | 'none' | null
            embeddingProviderModel?: string | null | null
            transformersEnabled?: boolean | null
            staticEnabled?: boolean | null
            rerankEnabled?: boolean | null
            rerankProviderModel?: string | null | null
            vectorStore?:
              | 'auto'
              | 'embedded'
              | 'pgvector'
              | 'qdrant'
              | 'lancedb'
              | 'sqlite-vec'
              | null
            qdrantUrl?: string | null | null
            qdrantQuantization?: 'none' | 'int8' | 'binary' | null
            qdrantPrefix?: string | null | null
            lancedbFolder?: string | null | null
            coreModel?: string | null | null
            fastModel?: string | null | null
            modelTokensPerDay?: number | null
            auditDays?: number | null
            requestsPerMinute?: number | null
            fileChunkTokens?: number | null
            fileChunkOverlap?: number | null
            fileMinScore?: number | null
            fileMaxResults?: number | null
            fileFusion?: 'adaptive' | 'rrf' | 'weighted' | null
            fileDecayHalfLifeDays?: number | null
            fileMmrLambda?: number | null
            fileCitations?: 'auto' | 'on' | 'off' | null
            redactMails?: boolean | null
            timeZone?: string | null | null
            fileMirror?: boolean | null
            fileSizeMaxBytes?: number | null
            fileEmbeddingBatches?: boolean | null
            fileBackend?: 'builtin' | 'qmd' | null
            fileQmdMode?: 'search' | 'vsearch' | 'query' | null
            fileBackendFailClosed?: boolean | null
            maxTokens?: number | null
            memoryBudgetTokens?: number | null
            embeddingModel?: string | null | null
            embeddingBackend?: 'mlx' | 'none' | null
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the gateway gives models memories and learns from what is said to them. Off by default, because memories cost tokens. Programs that ask for memories themselves get them in any case. */
              enabled: boolean
              /** Where `enabled` is on: whether models are given memories. */
              inject: boolean
              /** Where `enabled` is on: whether what is said is recorded and learned from. */
              extract: boolean
              /** Whether the gateway also learns from what tools return, with less trust. */
              extractToolResults: boolean
              /** Whether memories are recalled and noted in the receipt, but not given to the model: to see what they would cost. */
              shadow: boolean
              /** Where memories stand in a request: after the last words of the person, where prompt caches stay whole (`auto`), in a leading system message (`system`), or before the last words of the person (`user`). */
              injectPosition: 'auto' | 'system' | 'user'
              /** How long a request waits for memories. What takes longer is left out. */
              injectDeadlineMs: number
              /** How many receipts of requests are kept for an owner; the oldest go first. 0 keeps none. */
              receiptsMax: number
              /** For how many days receipts are kept. */
              receiptDays: number
              /** Where recall looks when the caller does not say: in the session that is named, in everything of the owner, or in shared memory as well. */
              recallScope: 'session' | 'owner' | 'global'
              /** What the gateway adds to a prompt: facts (memories), excerpts of earlier conversations, or both. */
              recallSources: 'both' | 'facts' | 'conversations'
              /** The maximum length of an excerpt from an earlier conversation, in characters; the two best may be three times as long. Excerpts end at sentence boundaries. */
              excerptCharacters: number
              /** Whether all owners may read the shared memory (the owner `@shared`), which superadmins write. */
              sharedMemory: boolean
              /** How many memories a search returns when the caller does not say. */
              recallLimit: number
              /** How recall looks: by words and meaning, by meaning, by words, or simply the newest (`recent`, also called `exact`). */
              strategy: 'hybrid' | 'semantic' | 'keyword' | 'recent' | 'exact'
              /** How words and meaning are joined: by all evidence (`adaptive`), by ranks (`rrf`), or by a weighted sum of scores. */
              fusion: 'adaptive' | 'rrf' | 'weighted'
              /** With `rrf`: the higher, the less the first ranks of each list stand out. */
              rrfK: number
              /** With `weighted`: how much meaning counts; words count the rest. */
              meaningWeight: number
              /** How many of the memories nearest in meaning take part in ranking. */
              vectorCandidates: number
              /** How near the best memory must be for there to be an answer. 1 is as near as the best of so many unrelated ones would be by chance; 0 always answers. */
              answerFloor: number
              /** The same for each further memory of an answer. */
              memberFloor: number
              /** After how many days without use a memory has lost half of its freshness. 0 leaves age out of ranking. Pinned memories stay fresh. */
              halfLifeDays: number
              /** How much of its score a memory can lose with its freshness. */
              ageWeight: number
              /** How much importance and salience can raise or lower a score. */
              importanceWeight: number
              /** Below 1, memories that repeat others move down, the more the lower. 1 orders by fit alone. */
              mmrLambda: number
              /** How many tokens of a prompt memories may take, also called `memoryBudgetTokens`. 0 gives none; otherwise the best one is always given. Who the person is takes half of it at most. */
              contextTokensMax: number
              /** How long recall waits for words, for meaning, and for reranking, each. What is late is left out. */
              legDeadlineMs: number
              /** How many of the best a reranker reads, where one is configured. */
              rerankCandidates: number
              /** How many stored memories with similar words a new one is compared with. 0 finds exact restatements only. */
              neighboursMax: number
              /** How far a restatement lifts the salience of what it repeats, as a share of what is missing to 1. */
              reinforcement: number
              /** How many days a forgotten memory can be restored before consolidation, or `recollect erase --bin`, removes it for good. */
              binDays: number
              /** After how many days without use consolidation forgets an unpinned memory. 0 keeps all. */
              retentionDays: number
              /** When a model distils what was said to models into memories: after the conversation has gone quiet, after every turn, or only when asked to. */
              extractionMode: 'sessionEnd' | 'everyTurn' | 'manual'
              /** Who decides what kind of memories a message needs, if any: nobody (`off`: every message is looked up in all of them, and recall itself finds nothing where nothing fits), rules for seven languages (`heuristic`), or `fastModel` (`llm`), which may take half of `injectDeadlineMs`; where it does not answer, the rules do. Who the person is, is told in any case. */
              relevanceGateMode: 'off' | 'heuristic' | 'llm'
              /** Whether programs that ask their model themselves get memories to put before a prompt. */
              autoRecall: boolean
              /** Whether what such programs hand over after a run is kept where a person asks for it. */
              autoCapture: boolean
              /** How long a message may be that is kept this way. */
              captureMaxChars: number
              /** How long a conversation must be quiet before it is distilled. Going on in another one ends the wait. */
              summaryDebounceSeconds: number
              /** How often a server consolidates the memories of an owner. */
              consolidationIntervalHours: number
              /** Consolidation puts unpinned memories into the bin whose salience has decayed below this. */
              salienceFloor: number
              /** For how many days episodes, the digests of conversations, are kept. 0 keeps them forever. */
              episodeRetentionDays: number
              /** For how many days turns of conversations are kept, counted from when they were said. Consolidation removes older ones for good. 0 keeps them forever. */
              turnRetentionDays: number
              /** Whether the gateway gives models tools to search, save, update and forget memories, and answers their calls itself. */
              skillsEnabled: boolean
              /** Where vectors come from, as `RECOLLECT_EMBEDDING`, which goes before it. */
              embeddingSource: 'auto' | 'transformers' | 'static' | 'remote' | 'none'
              /** The remote embedding model, as `RECOLLECT_EMBEDDING_MODEL`, which goes before it. Its key is in the usual variable of the provider, as `OPENAI_API_KEY`, or in `RECOLLECT_EMBEDDING_KEY`. */
              embeddingProviderModel: string | null
              /** Whether `auto` may use the local model where no remote one can be asked. */
              transformersEnabled: boolean
              /** Whether `auto` may use the static model where the local one is off. */
              staticEnabled: boolean
              /** Whether a reranker is used where one is configured. */
              rerankEnabled: boolean
              /** The model that reranks, as `cohere/rerank-v3.5`, with its key in the usual variable of the provider, as `COHERE_API_KEY`. `RECOLLECT_RERANK_URL` and `RECOLLECT_RERANK_FOLDER` go before it. */
              rerankProviderModel: string | null
              /** What finds memories by meaning. Their vectors are always kept with them (`embedded`, also called `sqlite-vec`; `pgvector` where they are in PostgreSQL). `qdrant` and `lancedb` keep a copy that answers while it is well and up to date. `auto` uses the one that an address or a folder is set for. */
              vectorStore: 'auto' | 'embedded' | 'pgvector' | 'qdrant' | 'lancedb' | 'sqlite-vec'
              /** Where Qdrant is, as `http://127.0.0.1:6333`. Its key is set with `PUT /api/settings/qdrant` or `RECOLLECT_QDRANT_KEY`. */
              qdrantUrl: string | null
              /** Whether Qdrant looks through smaller copies of vectors: a quarter (`int8`) or a thirty-second (`binary`) of the memory. The best are compared exactly in any case. */
              qdrantQuantization: 'none' | 'int8' | 'binary'
              /** What the names of the collections in Qdrant begin with. */
              qdrantPrefix: string | null
              /** The folder where LanceDB keeps its copy. Default: `lancedb` in the data folder, where `vectorStore` is `lancedb`. Needs the package `@lancedb/lancedb`. */
              lancedbFolder: string | null
              /** The model that distils conversations, as `openai/gpt-5-mini`: any provider of the gateway. Without one, conversations wait. */
              coreModel: string | null
              /** The model that reads every turn where `extractionMode` is `everyTurn`, and every message where `relevanceGateMode` is `llm`. Default: the core model. */
              fastModel: string | null
              /** How many tokens of models memory may use for an owner in a day. What is over waits for the next day. 0 sets no limit. */
              modelTokensPerDay: number
              /** How many days the audit log is kept. 0 keeps none. */
              auditDays: number
              /** How many requests a key may make in a minute. 0 sets no limit. */
              requestsPerMinute: number
              /** How large the pieces are that files are cut into, in tokens. Another value cuts all of them anew. */
              fileChunkTokens: number
              /** How much of a piece the next one repeats, in tokens; less than a piece. */
              fileChunkOverlap: number
              /** What lines of a file must score to be told. Those that hold all words of the question always are. */
              fileMinScore: number
              /** How many places in files a question gets where it does not say. */
              fileMaxResults: number
              /** How what was found in files by words and by meaning is joined, as `fusion`. */
              fileFusion: 'adaptive' | 'rrf' | 'weighted'
              /** After how many days dated notes, transcripts and other files count half. 0: age does not matter. `MEMORY.md` and undated notes never age. */
              fileDecayHalfLifeDays: number
              /** Below 1, places in files that say the same as a better one move down; 0.7 is a good value. */
              fileMmrLambda: number
              /** Whether places in files are told as `memory/2026-11-15.md#L5-L9`; `auto`: not in groups and channels. */
              fileCitations: 'auto' | 'on' | 'off'
              /** Whether mail addresses are left out of the index of transcripts. Keys and tokens always are. */
              redactMails: boolean
              /** The time zone that days begin and end in, as `Europe/Berlin`: which note is that of today. */
              timeZone: string | null
              /** Whether pinned facts and identity are kept in `MEMORY.md` as well, between two marks, where they can be edited. */
              fileMirror: boolean
              /** Larger files are not indexed, and the status says so. Transcripts may be larger. Of a file with more than 50,000 pieces, which is some 50 MB, the first are indexed. */
              fileSizeMaxBytes: number
              /** Whether many pieces of files are embedded by the batches of OpenAI, Gemini or Voyage, which cost less and may take an hour. Until then they are found by their words. */
              fileEmbeddingBatches: boolean
              /** What searches in files. `qmd` is a program to be installed, which keeps an index in plain text; where it fails, the built-in index answers. */
              fileBackend: 'builtin' | 'qmd'
              /** How `qmd` searches: by words, by meaning, or by both with a model that ranks. The last two have it download models, and embed all files. */
              fileQmdMode: 'search' | 'vsearch' | 'query'
              /** Whether a question fails where `qmd` does, instead of being answered by the built-in index. */
              fileBackendFailClosed: boolean
              /** The same as contextTokensMax. */
              maxTokens: number
              /** The same as contextTokensMax. */
              memoryBudgetTokens: number
              /** The same as embeddingProviderModel. */
              embeddingModel: string | null
              /** The same as embeddingSource. */
              embeddingBackend: 'mlx' | 'none'
              /** Numbers that were out of their range, and what was set instead. */
              clamped?: {
                name: string
                given: number
                used: number
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/settings/qdrant': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the settings name it as what finds memories by meaning. */
              enabled: boolean
              url: string | null
              /** The same in two parts. */
              host: string | null
              port: number | null
              /** What the names of its collections begin with. */
              collection: string
              /** The model of the memories: there is one for all. */
              embeddingModel: string | null
              quantization: 'none' | 'int8' | 'binary'
              /** Whether a key is stored. One of the environment is not told. */
              hasApiKey: boolean
              apiKeyMasked: string | null
              tier: VectorTier
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** False leaves all to the index of the memories. */
            enabled?: boolean
            /** As `http://127.0.0.1:6333`. */
            url?: string | null
            /** With `port`, instead of `url`. */
            host?: string
            port?: number
            collection?: string
            /** Only the one that is in use. */
            embeddingModel?: string | null
            quantization?: 'none' | 'int8' | 'binary'
            /** An empty one takes the stored key away. */
            apiKey?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the settings name it as what finds memories by meaning. */
              enabled: boolean
              url: string | null
              /** The same in two parts. */
              host: string | null
              port: number | null
              /** What the names of its collections begin with. */
              collection: string
              /** The model of the memories: there is one for all. */
              embeddingModel: string | null
              quantization: 'none' | 'int8' | 'binary'
              /** Whether a key is stored. One of the environment is not told. */
              hasApiKey: boolean
              apiKeyMasked: string | null
              tier: VectorTier
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    post?: never
    delete?: never
    patch: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** False leaves all to the index of the memories. */
            enabled?: boolean
            /** As `http://127.0.0.1:6333`. */
            url?: string | null
            /** With `port`, instead of `url`. */
            host?: string
            port?: number
            collection?: string
            /** Only the one that is in use. */
            embeddingModel?: string | null
            quantization?: 'none' | 'int8' | 'binary'
            /** An empty one takes the stored key away. */
            apiKey?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Whether the settings name it as what finds memories by meaning. */
              enabled: boolean
              url: string | null
              /** The same in two parts. */
              host: string | null
              port: number | null
              /** What the names of its collections begin with. */
              collection: string
              /** The model of the memories: there is one for all. */
              embeddingModel: string | null
              quantization: 'none' | 'int8' | 'binary'
              /** Whether a key is stored. One of the environment is not told. */
              hasApiKey: boolean
              apiKeyMasked: string | null
              tier: VectorTier
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/settings/qdrant/health': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              ok: boolean
              latencyMs: number | null
              /** `not_configured` where there is none. */
              error?: string
              /** What it says of itself. */
              detail: string | null
              tier: VectorTier
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/settings/qdrant/search': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            query: string
            topK?: number
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              ok: boolean
              results: {
                id: string
                score: number
              }[]
              error?: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/settings/qdrant/cleanup': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Counts, and removes nothing. */
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              ok: boolean
              deletedCount: number
              /** After how many days unused memories are forgotten; 0: never. */
              retentionDays: number
              error?: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/settings/qdrant/embedding-models': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              models: {
                value: string
                label: string
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/memories': {
    get: {
      parameters: {
        query: {
          instanceId: string
          search?: string
          category?:
            | 'general'
            | 'preference'
            | 'fact'
            | 'event'
            | 'relationship'
            | 'decision'
            | 'entity'
            | 'pattern'
            | 'episode'
            | 'identity'
          importance?: number
          limit?: number
          offset?: number
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              total: number
              limit: number
              offset: number
              memories: InstanceMemory[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            instanceId: string
            content: string
            category?:
              | 'general'
              | 'preference'
              | 'fact'
              | 'event'
              | 'relationship'
              | 'decision'
              | 'entity'
              | 'pattern'
              | 'episode'
              | 'identity'
            importance?: number
            sourceConversationId?: string
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              memory: {
                id: string
                content: string
                event: 'ADD' | 'UPDATE'
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete: {
      parameters: {
        query: {
          instanceId: string
          ids?: string[] | string
          dryRun?: boolean
        }
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            instanceId?: string
            ids?: string[] | string
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              deleted: true
              deletedCount: number
              dryRun: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/memories/{id}': {
    get?: never
    put?: never
    post?: never
    delete: {
      parameters: {
        query: {
          instanceId: string
        }
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            instanceId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              deleted: true
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/receipts': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          model?: string
          memory?: string
          skipped?:
            | 'none'
            | 'off'
            | 'no-memory'
            | 'no-inject'
            | 'no-question'
            | 'no-budget'
            | 'not-needed'
            | 'nothing-relevant'
            | 'no-place'
            | 'shadow'
            | 'late'
            | 'failed'
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              receipts: Receipt[]
              /** Where to go on; a page before it may be short. */
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/receipts/stats': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          since?: string | number
          timeZone?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              total: {
                requests: number
                /** Requests that got memories. */
                withMemories: number
                /** Requests that the provider refused, or didn’t answer. */
                failed: number
                /** Memories that were learned from them. */
                learned: number
                /** Tokens, as the provider counted them; with those of memories. */
                input: number
                output: number
                cached: number
                /** Tokens that memories added. */
                memory: number
              }
              /** Oldest first. Days without requests are left out. */
              days: {
                requests: number
                /** Requests that got memories. */
                withMemories: number
                /** Requests that the provider refused, or didn’t answer. */
                failed: number
                /** Memories that were learned from them. */
                learned: number
                /** Tokens, as the provider counted them; with those of memories. */
                input: number
                output: number
                cached: number
                /** Tokens that memories added. */
                memory: number
                /** As 2026-03-31. */
                day: string
                model: string
              }[]
              /** Requests without memories, by reason. */
              skipped: { [name: string]: number }
              /** False when there were too many to count. */
              isComplete: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/receipts/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              receipt: ReceiptDetail
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/memory/ingest': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            agent_id?: string
            /** Only this user of the owner. */
            user?: string
            /** Its name, which is that of its session. */
            conversation_id: string
            turns: {
              user: string
              assistant?: string | null
            }[]
            /** When it took place; default: now. */
            session_date?: string | number
            /** Only keeps what was said. */
            skip_extraction?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** What was said is kept; `distillation` tells the rest. */
              status: 'ok'
              turns_ingested: number
              /** What became of it: distilled, no_signals, skipped:…, empty:…, dead_letter:n or error:…. */
              distillation: string
              episode_id: string | null
              /** What undo takes. */
              change: string | null
              /** All changes that were made, in their order; undo takes each. */
              changes: string[]
              /** What became of the facts that were found. */
              facts: {
                created: number
                updated: number
                reinforced: number
                superseded: number
                conflicts: number
                /** Of all of these, those that wait for review. */
                suspect: number
                /** Not kept, because they were forgotten. */
                refused: number
              }
              /** How many statements were added to who the person is. */
              identity: number
              /** How many exchanges of the session still wait. */
              pending: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/memory/search': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** pinned: facts; episodes: digests of conversations; transcript: what was said. */
            scope: 'pinned' | 'episodes' | 'transcript'
            query: string
            /** With scope transcript only: how far back. Default: 365. */
            days?: number
            top_k?: number
            /** The same as owner. */
            agent_id?: string
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              scope: 'pinned' | 'episodes' | 'transcript'
              results: {
                id: string
                /** The fact, the summary, or 300 characters of what was said. */
                content: string
                score: number
                /** When it was learned, took place or was said. */
                created_at: string
                /** Empty when it belongs to none. */
                session_id: string
                /** Of facts and episodes. */
                salience?: number
                /** Of episodes. */
                topics?: string[]
                /** Of episodes. */
                decisions?: string[]
                /** Of what was said: who said it. */
                role?: string
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/agents': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              agents: {
                /** The owner. */
                id: string
                name: string
                description: string | null
                /** The model that distils for it. */
                default_model: string | null
                supports_vision: boolean | null
                /** Whether it is what all share. */
                is_built_in: boolean
                /** Facts and episodes that are active. */
                memory_entry_count: number
                /** When its first memory was made. */
                created_at: string | null
                /** When one of its memories was changed the last time. */
                updated_at: string | null
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/episodes': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          day?: string
          from?: string | number
          to?: string | number
          topic?: string[] | string
          status?:
            | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
            | 'active'
            | 'disabled'
            | 'superseded'
            | 'forgotten'
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              episodes: Episode[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/episodes/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-None-Match'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              episode: Episode
              /** Of its turns, those that are not kept any more. */
              goneTurns: string[]
              /** What was distilled from the same turns. */
              facts: Memory[]
            }
          }
        }
        304: { content?: never }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              episode: Episode
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Only if it still is at this version. */
            version?: number
            summary?: string
            topics?: string[]
            decisions?: string[]
            actionItems?: string[]
            entities?: string[]
            salience?: number
            pinned?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              episode: Episode
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/episodes/{id}/disable': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              episode: Episode
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/episodes/{id}/restore': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              episode: Episode
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/identity': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              identities: {
                owner: string
                user: string | null
                /** Oldest first, with those that are disabled. */
                overrides: Memory[]
                narrative: Memory | null
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** One statement that stands on its own. */
            content: string
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              success: true
              /** `known`: it was there, in capitals or not, and was left alone. */
              outcome: 'create' | 'update' | 'duplicate' | 'supersede' | 'conflict' | 'known'
              memory: Memory
              /** What was replaced or contradicted. */
              other: Memory | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/identity/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-None-Match'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              memory: Memory
            }
          }
        }
        304: { content?: never }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only if it still is at this version. */
            version?: number
            content: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/identity/{id}/disable': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/identity/{id}/restore': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/sessions': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              sessions: Session[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/sessions/{id}/turns': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          order?: 'said' | 'lastSaid'
          limit?: number
          after?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              turns: Turn[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/sessions/{id}': {
    get?: never
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          memories?: boolean
        }
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Also puts what was learned in it into the bin, its digest included. */
            memories?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              turns: number
              signals: number
              /** How many went into the bin. */
              memories: number
              /** What brings those back: undo takes it. */
              change: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/turns/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path: {
          id: string
        }
        header?: {
          'If-None-Match'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              turn: Turn
            }
          }
        }
        304: { content?: never }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              id: string
              sessionId: string
              /** Memories that were learned from it, and stay. */
              learned: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'If-Match'?: string
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only if it still is at this version. */
            version?: number
            content: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              turn: Turn
              /** All changes that were made, in their order; undo takes each. */
              changes: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
  }
  '/api/turns/{id}/disable': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              turn: Turn
              /** Memories that were learned from it, and stay. */
              learned: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/turns/{id}/restore': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              turn: Turn
              /** Memories that were learned from it, and stay. */
              learned: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/sessions/{id}/flush': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** What became of it: distilled, no_signals, skipped:…, empty:…, dead_letter:n or error:…. */
              outcome: string
              episode: string | null
              /** What undo takes. */
              change: string | null
              /** All changes that were made, in their order; undo takes each. */
              changes: string[]
              /** What became of the facts that were found. */
              facts: {
                created: number
                updated: number
                reinforced: number
                superseded: number
                conflicts: number
                /** Of all of these, those that wait for review. */
                suspect: number
                /** Not kept, because they were forgotten. */
                refused: number
              }
              /** How many statements were added to who the person is. */
              identity: number
              /** How many exchanges of the session still wait. */
              pending: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/consolidate': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              reports: ConsolidationReport[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              report: ConsolidationReport
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/jobs': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          kind?: string
          status?: 'waiting' | 'running' | 'done' | 'dead' | 'cancelled'
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              jobs: Job[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/jobs/{id}/retry': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              job: Job
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/jobs/{id}/cancel': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              job: Job
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/signals': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          status?: 'pending' | 'processed' | 'dead' | 'forgotten'
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              signals: Signal[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/signals/{id}': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path: {
          id: string
        }
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              signal: Signal
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/signals/forget': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Default: all of the session that is named. */
            ids?: string[]
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Those that waited until now. */
              signals: Signal[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/signals/retry': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** Default: all that failed. */
            ids?: string[]
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** As they are now. */
              signals: Signal[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/signals/report': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** Null when none is configured, and what was said waits. */
              model: string | null
              /** The model failed and is not asked until then. */
              restsUntil: string | null
              /** What models used today; null where there are none. */
              spent: {
                day: string
                calls: number
                input: number
                output: number
                /** Tokens a day; 0 where there is no limit. */
                budget: number
              } | null
              signals: {
                pending: number
                processed: number
                dead: number
                forgotten: number
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/review': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              memories: Memory[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/review/{id}/approve': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/review/{id}/reject': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/review/conflicts': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          user?: string
          sessionId?: string
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              conflicts: Conflict[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/review/settle': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            /** The memory that stays. */
            keep: string
            /** The memory that it takes the place of. */
            drop: string
            /** What the one that stays says from now on; default: its own words. */
            content?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              kept: Memory
              dropped: Memory
              /** What undo takes. */
              change: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/review/{id}/reconcile': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              memory: Memory
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/roots': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              roots: FileRoot[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            kind?: 'workspace' | 'path' | 'sessions'
            /** Absolute, or within the workspace. */
            path: string
            /** Only these, as `**.md`. */
            include?: string[]
            exclude?: string[]
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              success: true
              root: FileRoot
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/roots/{id}': {
    get?: never
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
        }
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              success: true
              id: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/files': {
    get: {
      parameters: {
        query: {
          owner?: string
          apiKeyId?: string
          root: string
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              files: {
                path: string
                /** `partly`: not all of it could be read. `left_out`: none of it. */
                state: 'indexed' | 'partly' | 'left_out'
                source: 'memory' | 'sessions'
                pieces: number
                sizeBytes: number | null
                modifiedAt: string | null
                indexedAt: string | null
                trouble: {
                  /** Empty for the root itself. */
                  path: string
                  because:
                    | 'missing'
                    | 'unreadable'
                    | 'too_large'
                    | 'binary'
                    | 'encoding'
                    | 'outside'
                    | 'changing'
                    | 'failed'
                  message: string
                } | null
              }[]
              total: number
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/files/pieces': {
    get: {
      parameters: {
        query: {
          owner?: string
          apiKeyId?: string
          path: string
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              pieces: {
                /** From 1, as the last line is part of it. */
                startLine: number
                endLine: number
                /** Outermost first. */
                headings: string[]
                text: string
                /** Without, it is found by its words only. */
                hasVector: boolean
              }[]
              total: number
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/files/status': {
    get: {
      parameters: {
        query?: {
          owner?: string
          apiKeyId?: string
          deep?: boolean
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** What would answer now: `builtin` or `qmd`. */
              backend: string
              roots: {
                id: string
                /** `workspace`: MEMORY.md and memory/, which are also written to. `path`: a file, or a folder of notes. `sessions`: transcripts. */
                kind: 'workspace' | 'path' | 'sessions'
                /** What paths of its files begin with. Empty for the workspace. */
                name: string
                /** Where it is; null for those who may not manage. */
                path: string | null
                include: string[]
                exclude: string[]
                files: number
                chunks: number
                /** Something may have changed since the last look. */
                dirty: boolean
                lastSyncAt: string | null
                troubles: {
                  /** Empty for the root itself. */
                  path: string
                  because:
                    | 'missing'
                    | 'unreadable'
                    | 'too_large'
                    | 'binary'
                    | 'encoding'
                    | 'outside'
                    | 'changing'
                    | 'failed'
                  message: string
                }[]
              }[]
              sources: {
                memory: {
                  files: number
                  chunks: number
                }
                sessions: {
                  files: number
                  chunks: number
                }
              }
              watching: {
                mode: 'events' | 'polling' | 'off'
                because: string | null
              }
              /** Of the embedding model; null without one. */
              provider: string | null
              model: string | null
              /** Pieces that are found by their words only, for now. */
              unembedded: number
              /** Why, where something is wrong; null where it is a matter of time. */
              unembeddedBecause: string | null
              rebuilding: {
                filesDone: number
                filesTotal: number
              } | null
              facts: { [name: string]: string | number | boolean }
              probes?: {
                embedding: {
                  ok: boolean
                  error: string | null
                }
                vectors: {
                  ok: boolean
                  error: string | null
                }
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/files/sync': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Reads and cuts every file anew. */
            force?: boolean
            /** Waits until every piece has its vector; else they are made by and by. */
            embed?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              added: number
              changed: number
              moved: number
              removed: number
              unchanged: number
              chunks: number
              troubles: {
                /** Empty for the root itself. */
                path: string
                because:
                  | 'missing'
                  | 'unreadable'
                  | 'too_large'
                  | 'binary'
                  | 'encoding'
                  | 'outside'
                  | 'changing'
                  | 'failed'
                message: string
              }[]
              milliseconds: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/search': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            query: string
            maxResults?: number
            minScore?: number
            /** `memory`: notes. `sessions`: transcripts. Default: both. */
            sources?: ('memory' | 'sessions')[] | 'memory' | 'sessions'
            /** The conversation that asks, as `agent:main:discord:group:42`. */
            sessionKey?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** What has answered: `builtin` or `qmd`. */
              backend: string
              /** Of the embedding model; null without one. */
              provider: string | null
              model: string | null
              /** What it did without, and why. */
              fallback: string | null
              citations: 'auto' | 'on' | 'off'
              mode: 'hybrid' | 'keyword'
              results: {
                path: string
                /** From 1, as the last line is part of it. */
                startLine: number
                endLine: number
                /** 0 to 1. */
                score: number
                snippet: string
                source: 'memory' | 'sessions'
                headings: string[]
                /** As `memory/2026-11-15.md#L5-L9`, where it is wanted. */
                citation?: string
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/text': {
    get: {
      parameters: {
        query: {
          owner?: string
          apiKeyId?: string
          path: string
          from?: number
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              path: string
              text: string
              /** Why there is no text, or not all of it. */
              reason: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/files/append': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Markdown. */
            text: string
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              success: true
              path: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/flush/{id}': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Of distilling, as `distilled` or `no_signals`. */
              outcome: string
              /** The note; null when there is nothing to write. */
              path: string | null
              /** False when the note said it already. */
              written: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/files/memory-tool': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            command: 'view' | 'create' | 'str_replace' | 'insert' | 'delete' | 'rename'
            /** Under /memories; of all commands but rename. */
            path?: string
            /** Of view: first and last line; -1: to the end. */
            view_range?: number[]
            /** Of create. */
            file_text?: string
            /** Of str_replace. */
            old_str?: string
            /** Of str_replace. */
            new_str?: string
            /** Of insert: after which line; 0: before the first. */
            insert_line?: number
            /** Of insert. */
            insert_text?: string
            /** Of rename. */
            old_path?: string
            /** Of rename. */
            new_path?: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** What the model is to read. */
              content: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/hooks/recall': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            prompt: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** Empty when there is nothing to say. */
              block: string
              /** Those that the block tells of, in its order. */
              memories: Memory[]
              /** Turns of earlier conversations that it quotes. */
              turns: {
                id: string
                role: string
                sessionId: string
                createdAt: string
              }[]
              /** Why nothing was looked for: `autoRecall` is off, or the prompt is too short. */
              skipped: 'off' | 'short' | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/hooks/capture': {
    get?: never
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody: {
        content: {
          'application/json': {
            /** Whose memories; default: the home of the key. */
            owner?: string
            /** The same as owner. */
            apiKeyId?: string
            /** Only this user of the owner. */
            user?: string
            /** Only this session. Empty: not narrowed by session. */
            sessionId?: string
            messages: {
              role: string
              /** Text, or parts as models take them, of which only text is read. */
              content:
                | string
                | ({
                    type: string
                  } & { [name: string]: unknown })[]
                | null
            }[]
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              captured: Memory[]
              /** Messages of the person that were left alone. */
              passed: number
              /** `autoCapture` is off, and nothing was looked at. */
              skipped: 'off' | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/keys': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              keys: Key[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody: {
        content: {
          'application/json': {
            /** What it is for. */
            name: string
            /** The owner that is meant when none is named. */
            home: string
            actsFor?: string[]
            role?: 'superadmin' | 'user' | 'agent' | 'reader'
            expiresAt?: string | number | null
          }
        }
      }
      responses: {
        201: {
          content: {
            'application/json': {
              key: Key
              secret: string
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/api/keys/{id}': {
    get?: never
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: never
        path: {
          id: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              key: Key
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/owners': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              owners: {
                owner: string
                user: string | null
                /** With those in the bin. */
                memories: number
                /** Turns of conversations. */
                turns: number
              }[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/owners/memories': {
    get: {
      parameters: {
        query?: {
          type?:
            | ('factual' | 'episodic' | 'procedural' | 'semantic')[]
            | 'factual'
            | 'episodic'
            | 'procedural'
            | 'semantic'
          category?:
            | (
                | 'general'
                | 'preference'
                | 'fact'
                | 'event'
                | 'relationship'
                | 'decision'
                | 'entity'
                | 'pattern'
                | 'episode'
                | 'identity'
              )[]
            | 'general'
            | 'preference'
            | 'fact'
            | 'event'
            | 'relationship'
            | 'decision'
            | 'entity'
            | 'pattern'
            | 'episode'
            | 'identity'
          status?:
            | ('active' | 'disabled' | 'superseded' | 'forgotten')[]
            | 'active'
            | 'disabled'
            | 'superseded'
            | 'forgotten'
          trust?:
            | ('user' | 'assistant' | 'import' | 'tool' | 'suspect')[]
            | 'user'
            | 'assistant'
            | 'import'
            | 'tool'
            | 'suspect'
          source?: string[] | string
          importanceMin?: number
          pinned?: boolean
          key?: string
          createdFrom?: string | number
          createdBefore?: string | number
          includeEnded?: boolean
          q?: string
          order?:
            | 'newest'
            | 'oldest'
            | 'updated'
            | 'importance'
            | 'salience'
            | 'lastUsed'
            | 'mostUsed'
            | 'leastUsed'
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** May be empty while there is a `next`. */
              data: Memory[]
              next: string | null
              /** How many have memories, whatever the filter. */
              owners: number
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/owners/{owner}': {
    get?: never
    put?: never
    post?: never
    delete: {
      parameters: {
        query?: {
          dryRun?: boolean
        }
        path: {
          owner: string
        }
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: {
        content: {
          'application/json': {
            /** Only counts. */
            dryRun?: boolean
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              rows: { [name: string]: number }
              dryRun: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/api/audit': {
    get: {
      parameters: {
        query?: {
          owner?: string
          actor?: string
          operation?: string
          target?: string
          from?: string | number
          before?: string | number
          limit?: number
          after?: string
        }
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              entries: {
                id: string
                at: string
                actor: string | null
                operation: string
                owner: string
                targets: string[]
                targetCount: number
              }[]
              next: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/status': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              version: string
              state: 'ok' | 'degraded' | 'unavailable'
              reasons: string[]
              store: {
                kind: string
                /** For superadmins only. */
                location: string | null
                schemaVersion: number
                sizeBytes: number | null
                /** Of all owners; for superadmins only. */
                memories: number | null
                /** Turns of conversations of all owners; for superadmins only. */
                turns: number | null
                /** What the store says of itself, as whether it is encrypted; for superadmins only. */
                facts: { [name: string]: string | number | boolean }
              }
              /** Of the home owner, active. */
              memories: number
              index: {
                space: string | null
                filling: string | null
                /** Of all owners; for superadmins only. */
                vectors: number | null
                /** Memories and turns that are not embedded yet; for superadmins only. */
                missing: number | null
                because: string | null
                /** How vectors are kept, and how much memory searching them takes; for superadmins only. */
                facts: { [name: string]: string | number | boolean }
                embedder: {
                  source: string
                  model: string
                  state: string
                  /** What runs it, how long it took to be ready, why another one is not used; for superadmins only. */
                  facts: { [name: string]: string | number | boolean }
                }
              } | null
              /** Where memories are looked for by meaning. */
              vectors: VectorTier
              /** From conversations of the home owner. */
              learning: {
                /** Null when none is configured, and what was said waits. */
                model: string | null
                /** The model failed and is not asked until then. */
                restsUntil: string | null
                /** What models used today; null where there are none. */
                spent: {
                  day: string
                  calls: number
                  input: number
                  output: number
                  /** Tokens a day; 0 where there is no limit. */
                  budget: number
                } | null
                /** Why background work could not be looked for. */
                because: string | null
              }
              caller: {
                role: 'superadmin' | 'user' | 'agent' | 'reader'
                home: string
                actsFor: string[]
              }
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/doctor': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              faults: {
                what: string
                count: number
                repairable: boolean
              }[]
              isRepaired: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: {
          'Idempotency-Key'?: string
        }
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              faults: {
                what: string
                count: number
                repairable: boolean
              }[]
              isRepaired: boolean
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete?: never
    patch?: never
  }
  '/health/live': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              status: 'ok'
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/health/ready': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              status: 'ok' | 'degraded' | 'unavailable'
              version: string
              /** What is amiss; why it is, for superadmins. */
              reasons: string[]
              codes: string[]
            }
          }
        }
        503: {
          content: {
            'application/json': {
              status: 'ok' | 'degraded' | 'unavailable'
              version: string
              /** What is amiss; why it is, for superadmins. */
              reasons: string[]
              codes: string[]
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/session': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: {
          content: {
            'application/json': {
              /** The id of the key. */
              key: string | null
              role: 'superadmin' | 'user' | 'agent' | 'reader'
              home: string
              actsFor: string[]
              /** When the session ends; null without one. */
              expiresAt: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody: {
        content: {
          'application/json': {
            /** As rc_…. */
            key: string
          }
        }
      }
      responses: {
        200: {
          content: {
            'application/json': {
              /** The id of the key. */
              key: string | null
              role: 'superadmin' | 'user' | 'agent' | 'reader'
              home: string
              actsFor: string[]
              /** When the session ends; null without one. */
              expiresAt: string | null
            }
          }
        }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    delete: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        204: { content?: never }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    patch?: never
  }
  '/': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'text/html': string } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/openapi.json': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'application/json': { [name: string]: Json } } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/docs': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'text/html': string } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/api/events': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'text/event-stream': string } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
  '/metrics': {
    get: {
      parameters: {
        query?: never
        path?: never
        header?: never
      }
      requestBody?: never
      responses: {
        200: { content: { 'text/plain': string } }
        '4XX': { content: { 'application/json': Error } }
        '5XX': { content: { 'application/json': Error } }
      }
    }
    put?: never
    post?: never
    delete?: never
    patch?: never
  }
}
