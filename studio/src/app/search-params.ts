/** What the address says: whose memories are looked at, and what a page shows of them. */
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useCallback } from 'react'
import { useSession } from './session.tsx'

export type SearchParams = { readonly [name: string]: string | number | boolean | undefined }

/** The owner whose memories are shown. */
export function useOwner(): string {
  const { session } = useSession()
  const { owner } = useSearch({ strict: false }) as { owner?: string } // checked by the root route
  return owner ?? session.home
}

/** A page's part of the address, and a way to change it. What is set to undefined is taken out. */
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
      } as never) // the paths share one kind of search
    },
    [navigate],
  )
  return [search, change]
}

export function textParam(search: SearchParams, name: string): string {
  const value = search[name]
  return value === undefined ? '' : String(value)
}
