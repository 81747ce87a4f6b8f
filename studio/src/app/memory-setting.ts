/** The setting that turns memory in the gateway on for an owner. */
import { useQuery } from '@tanstack/react-query'
import { api, data } from '../api/client.ts'
import { useAttempt } from './mutations.ts'

export type MemorySetting = {
  /** Undefined while it is loading. */
  readonly isOn: boolean | undefined
  readonly contextTokensMax: number
  readonly set: (isOn: boolean) => Promise<void>
}

export function useMemorySetting(owner: string): MemorySetting {
  const attempt = useAttempt(['settings', 'health'])
  const query = useQuery({
    queryKey: ['settings', owner, 'memory'],
    queryFn: () => data(api.GET('/api/settings/memory', { params: { query: { owner } } })),
  })
  return {
    isOn: query.data?.['gateway.enabled'],
    contextTokensMax: query.data?.['gateway.contextTokensMax'] ?? 0,
    set: async (isOn) => {
      await attempt(() =>
        data(api.PUT('/api/settings/memory', { body: { owner, 'gateway.enabled': isOn } })),
      )
    },
  }
}
