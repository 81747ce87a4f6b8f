/** What a model would be given: the context block of a message, and search over all sources. */

import type { ContextBuilder } from '../conversations/context/context-builder.ts'
import {
  type ContextPreview,
  type PreviewSettings,
  previewContext,
} from '../conversations/context/context-preview.ts'
import { parseScope, type Scope, type ScopeInput } from '../domain/scope.ts'
import { resolveSettings, type Settings } from '../domain/settings/settings.ts'
import type { Files } from '../files/files.ts'
import {
  type SourceSearchQuery,
  type SourceSearchResult,
  searchSources,
} from '../files/search/source-search.ts'
import { NEVER_ABORTED } from '../lib/abort.ts'
import type { MemoryDependencies } from '../memory/types.ts'
import type { Recall } from '../recall/recall-service.ts'
import { estimateTokens } from '../text/tokens.ts'

export interface ContextService {
  /**
   * The block that the gateway would inject for a message, with `trial` settings applied. Changes nothing.
   *
   * @example
   * const { block, skipped } = await engine.context.preview({ owner: 'ada' }, 'Where should I eat?', {
   *   trial: { 'gateway.contextTokensMax': 500 },
   * })
   */
  preview(
    scope: ScopeInput,
    message: string,
    options?: { readonly trial?: PreviewSettings; readonly signal?: AbortSignal },
  ): Promise<ContextPreview>
  /**
   * Searches memories, episodes, conversation turns and files together, best first.
   *
   * @example
   * const { items } = await engine.context.searchSources(
   *   { owner: 'ada' },
   *   { text: 'release date', sources: ['memories', 'files'] },
   * )
   */
  searchSources(scope: ScopeInput, query: SourceSearchQuery): Promise<SourceSearchResult>
}

export type ContextServiceDependencies = {
  readonly ports: MemoryDependencies
  readonly settings: { resolve(owner: Scope['owner']): Promise<Settings> }
  readonly buildContext: ContextBuilder['buildContext']
  readonly recall: Recall['recall']
  readonly files: Files | null
}

export function createContextService({
  ports,
  settings,
  buildContext,
  recall,
  files,
}: ContextServiceDependencies): ContextService {
  const resolve = (scope: ScopeInput) => settings.resolve(parseScope(scope).owner)
  return {
    preview: async (scope, message, { trial = {}, signal = NEVER_ABORTED } = {}) => {
      const tried = resolveSettings(await resolve(scope), trial)
      return previewContext({ ports, buildContext }, scope, message, tried, signal)
    },
    searchSources: async (scope, query) => {
      const { countTokens = estimateTokens } = ports
      return searchSources(
        { recall, files, countTokens, settings: await resolve(scope) },
        scope,
        query,
      )
    },
  }
}
