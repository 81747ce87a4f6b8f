/** Setting declarations, effective values, and changes with undo. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { ApiError, api, data, type Schemas } from '../../api/client.ts'
import type { paths } from '../../api/types.ts'
import { useI18n } from '../../i18n/i18n.tsx'
import { useToast } from '../../ui/toast.tsx'

export type Setting = Schemas['Setting']
export type Value = string | number | boolean | null
export type Source = 'default' | 'start' | 'system' | 'owner'
/** The level of a value: all owners, or one owner. */
export type Level = 'system' | 'owner'

type Change = NonNullable<
  paths['/api/settings/memory']['put']['requestBody']
>['content']['application/json']

export type EffectiveSettings = {
  readonly valueOf: (name: string) => Value
  readonly sourceOf: (name: string) => Source
}

export function useSettingDeclarations() {
  return useQuery({
    queryKey: ['settings', 'table'],
    queryFn: async () => (await data(api.GET('/api/settings'))).settings,
    staleTime: Number.POSITIVE_INFINITY,
  })
}

function levelParams(level: Level, owner: string) {
  return level === 'system' ? { level } : { level, owner }
}

function queryKeyOf(level: Level, owner: string) {
  return ['settings', level, level === 'system' ? null : owner]
}

export function useEffectiveSettings(level: Level, owner: string) {
  return useQuery({
    queryKey: queryKeyOf(level, owner),
    queryFn: () =>
      data(
        api.GET('/api/settings/memory', {
          params: { query: { ...levelParams(level, owner), sources: true } },
        }),
      ),
    select: ({ sources = {}, ...values }): EffectiveSettings => {
      const all: { readonly [name: string]: Value } = values
      return {
        valueOf: (name) => all[name] ?? null,
        sourceOf: (name) => sources[name] ?? 'default',
      }
    },
  })
}

/** The result of a change: the validation error, or the value after clamping. */
export type ChangeResult = { readonly fault: string | null; readonly clampedTo: number | null }

/** Returns a function that sets a value; null resets it to the next lower level. */
export function useChange(level: Level, owner: string) {
  const cache = useQueryClient()
  const showToast = useToast()
  const { t } = useI18n()
  const put = async (changes: { readonly [name: string]: Value }) => {
    const body = { ...levelParams(level, owner), ...changes } as Change // the server validates names and values
    // A query in flight started before this change and would restore the old value.
    await cache.cancelQueries({ queryKey: queryKeyOf(level, owner) })
    // Switches and selects update optimistically; numbers stay in their field until the server accepts them.
    const shown = Object.entries(changes).filter(([, value]) => typeof value !== 'number')
    cache.setQueryData(queryKeyOf(level, owner), (before: object | undefined) =>
      before === undefined || shown.some(([, value]) => value === null)
        ? before
        : { ...before, ...Object.fromEntries(shown) },
    )
    try {
      return await data(api.PUT('/api/settings/memory', { body }))
    } finally {
      await Promise.all(
        ['settings', 'engine'].map((name) => cache.invalidateQueries({ queryKey: [name] })),
      )
    }
  }
  return async (name: string, value: Value, before: Value): Promise<ChangeResult> => {
    try {
      const { clamped = [] } = await put({ [name]: value })
      const undo = () => put({ [name]: before }).then(() => showToast({ text: t('common.undone') }))
      showToast({
        text: t(value === null ? 'settings.resetDone' : 'settings.changed', { name }),
        action: { name: t('common.undo'), run: undo },
      })
      return { fault: null, clampedTo: clamped[0]?.used ?? null }
    } catch (error) {
      const message = faultOf(error, name)
      if (message === null) showToast({ text: t('common.unreachable'), isError: true })
      return { fault: message ?? t('common.unreachable'), clampedTo: null }
    }
  }
}

function faultOf(error: unknown, name: string): string | null {
  if (!(error instanceof ApiError)) return String(error)
  if (error.status === 0) return null
  return error.details.find(({ field }) => field === name)?.message ?? error.message
}

/** The value stored at this level, for undo. */
export function storedValue(level: Level, effective: EffectiveSettings, name: string): Value {
  return effective.sourceOf(name) === level ? effective.valueOf(name) : null
}
