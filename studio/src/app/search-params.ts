/** State in the URL: the owner and the parameters of a page. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useSession } from './session.tsx'

export type SearchParams = { readonly [name: string]: string | number | boolean | undefined }

/** The selected owner. */
export function useOwner(): string {
  const { session } = useSession()
  const { owner } = useSearch({ strict: false }) as { owner?: string } // checked by the root route
  return owner ?? session.home
}

/**
 * The search parameters and a function that changes them. `undefined` removes a parameter; `isPush` adds a history
 * entry.
 */
export function useSearchParams(): readonly [
  SearchParams,
  (changes: SearchParams, options?: { readonly isPush?: boolean }) => void,
] {
  const search = useSearch({ strict: false }) as SearchParams // checked by the route
  const navigate = useNavigate()
  const change = useCallback(
    (changes: SearchParams, { isPush = false } = {}) => {
      void navigate({
        to: '.',
        search: (before: SearchParams) => ({ ...before, ...changes }),
        replace: !isPush,
      } as never) // all routes share one type of search parameters
    },
    [navigate],
  )
  return [search, change]
}

export function textParam(search: SearchParams, name: string): string {
  const value = search[name]
  return value === undefined ? '' : String(value)
}
