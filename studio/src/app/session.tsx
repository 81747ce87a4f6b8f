/** The browser session. Nothing is rendered or requested before it is known. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import {
  createContext,
  type FormEvent,
  type ReactNode,
  useContext,
  useEffect,
  useState,
} from 'react'
import { ApiError, api, data, setSignedOutListener } from '../api/client.ts'
import type { paths } from '../api/types.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { Button } from '../ui/button.tsx'
import { TextField } from '../ui/field.tsx'
import { ErrorState } from '../ui/layout.tsx'
import styles from './session.module.css'

export type Session =
  paths['/api/session']['get']['responses']['200']['content']['application/json']

/** The permissions of each role. The server enforces them; the Studio only hides what would fail. */
export type Permission = 'read' | 'write' | 'curate' | 'manage'
const PERMISSIONS: Record<Session['role'], readonly Permission[]> = {
  reader: ['read'],
  agent: ['read', 'write'],
  user: ['read', 'write', 'curate'],
  superadmin: ['read', 'write', 'curate', 'manage'],
}

type SessionContext = {
  readonly session: Session
  readonly can: (permission: Permission) => boolean
  readonly signOut: () => Promise<void>
}

const Context = createContext<SessionContext | null>(null)

export function useSession(): SessionContext {
  const session = useContext(Context)
  if (session === null) throw new Error('Nobody is signed in.')
  return session
}

export function SessionGate({ children }: { children: ReactNode }) {
  const cache = useQueryClient()
  const query = useQuery({
    queryKey: ['session'],
    queryFn: () => data(api.GET('/api/session')),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  useEffect(() => {
    setSignedOutListener(() => void cache.resetQueries({ queryKey: ['session'] }))
  }, [cache])
  if (query.data !== undefined) {
    const session = query.data
    const signOut = async () => {
      await api.DELETE('/api/session').catch(() => undefined)
      cache.clear()
      location.assign('/')
    }
    const can = (permission: Permission) => PERMISSIONS[session.role].includes(permission)
    return <Context value={{ session, can, signOut }}>{children}</Context>
  }
  if (query.error === null) return null
  const isUnauthorized = query.error instanceof ApiError && query.error.status === 401
  if (!isUnauthorized) {
    return (
      <main className={styles.sign}>
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      </main>
    )
  }
  return <SignIn onSignedIn={(session) => cache.setQueryData(['session'], session)} />
}

function SignIn({ onSignedIn }: { onSignedIn: (session: Session) => void }) {
  const { t } = useI18n()
  const [key, setKey] = useState('')
  const [fault, setFault] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const signIn = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setFault(undefined)
    try {
      onSignedIn(await data(api.POST('/api/session', { body: { key: key.trim() } })))
    } catch (error) {
      setFault(
        error instanceof ApiError && error.status === 401
          ? t('shell.invalidKey')
          : String(error instanceof Error ? error.message : error),
      )
    } finally {
      setBusy(false)
    }
  }
  return (
    <main className={styles.sign}>
      <form className={styles.card} onSubmit={(event) => void signIn(event)}>
        <img src="/studio/icon.svg" alt="" width="44" height="44" />
        <h1>{t('shell.signInTitle')}</h1>
        <p>{t('shell.signInHelp')}</p>
        <TextField
          label={t('shell.key')}
          type="password"
          autoComplete="current-password"
          placeholder="rc_…"
          required
          autoFocus
          value={key}
          fault={fault}
          onChange={({ target }) => setKey(target.value)}
        />
        <Button type="submit" look="primary" isBusy={isBusy} disabled={key.trim() === ''}>
          {t('shell.signIn')}
        </Button>
        <p className={styles.hint}>
          {t('shell.lostKey')} <code>recollect keys reset</code>
        </p>
      </form>
    </main>
  )
}
