import { QueryClient } from '@tanstack/react-query'
import { ApiError } from '../api/client.ts'

const RETRIES_MAX = 2

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      retry: (count, error) =>
        count < RETRIES_MAX && (!(error instanceof ApiError) || error.isRetryable),
    },
  },
})
