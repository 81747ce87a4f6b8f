import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, data } from '../api/client.ts'
import { LANGUAGES, type Language, type MessageKey } from '../i18n/catalog.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { IconButton } from '../ui/button.tsx'
import { Icon } from '../ui/icon.tsx'
import { Dot, type Tone } from '../ui/layout.tsx'
import { lazyPart } from '../ui/lazy-part.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { useToast } from '../ui/toast.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { BulkWorkProvider } from './bulk-work.tsx'
import { useCommandPalette } from './command-palette-key.ts'
import { type ConnectionState, RECONNECT_NOTICE_MS, useLiveUpdates } from './live-updates.ts'
import { useMemorySetting } from './memory-setting.ts'
import { NAVIGATION } from './navigation.ts'
import { useOwner } from './search-params.ts'
import { useSession } from './session.tsx'
import styles from './shell.module.css'
import { searchField, useShortcuts } from './shortcuts.ts'
import { selectTheme, storedTheme, THEMES, type Theme } from './theme.ts'

const CommandPalette = lazyPart(async () => (await import('./command-palette.tsx')).CommandPalette)
const KeyboardHelp = lazyPart(async () => (await import('./keyboard-help.tsx')).KeyboardHelp)

/** Not part of the navigation: opened from the owner picker. */
const ALL_OWNERS = { path: '/studio/all-owners', name: 'shell.allOwners' } as const

export function Shell() {
  const { t } = useI18n()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const [isPaletteOpen, setPaletteOpen] = useCommandPalette()
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const showToast = useToast()
  const connection = useLiveUpdates(() => showToast({ text: t('shell.reconnected') }))
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes when another page is opened
  useEffect(() => setMenuOpen(false), [path])
  const item = [...NAVIGATION.flat(), ALL_OWNERS].find((each) => each.path === path)
  const title = item === undefined ? 'Recollect' : `${t(item.name)} · Recollect`
  useEffect(() => {
    document.title = title
  }, [title])
  useShortcuts({
    '?': () => setHelpOpen(true),
    '/': () => searchField()?.focus(),
  })
  return (
    <BulkWorkProvider>
      <div className={styles.shell}>
        <a className={styles.skip} href="#page">
          {t('shell.skip')}
        </a>
        <header className={styles.bar}>
          <IconButton
            icon="menu"
            name={t('shell.menu')}
            className={styles.menuButton}
            aria-expanded={isMenuOpen}
            aria-controls="navigation"
            onClick={() => setMenuOpen(!isMenuOpen)}
          />
          <Link to="/studio/memories" className={styles.brand} aria-label="Recollect">
            <img src="/studio/icon.svg" alt="" width="26" height="26" />
            <span>Recollect</span>
          </Link>
          <OwnerPicker />
          <span className={styles.gap} />
          <IconButton
            icon="search"
            name={t('shell.shortcutPalette')}
            onClick={() => setPaletteOpen(true)}
          />
          <Health connection={connection} />
          <LanguageMenu />
          <ThemeMenu />
          <IconButton
            icon="keyboard"
            name={t('shell.shortcuts')}
            className={styles.wide}
            onClick={() => setHelpOpen(true)}
          />
          <SignOut />
        </header>
        <nav
          id="navigation"
          className={[styles.navigation, isMenuOpen ? styles.open : ''].join(' ')}
          aria-label={t('shell.navigation')}
        >
          <Navigation />
        </nav>
        <main id="page" className={styles.main} tabIndex={-1}>
          {connection === 'connecting' && <Reconnecting />}
          <Outlet />
        </main>
        {isPaletteOpen && (
          <CommandPalette
            onClose={() => setPaletteOpen(false)}
            onShowHelp={() => setHelpOpen(true)}
          />
        )}
        {isHelpOpen && <KeyboardHelp onClose={() => setHelpOpen(false)} />}
      </div>
    </BulkWorkProvider>
  )
}

function Navigation() {
  const { t } = useI18n()
  const { can } = useSession()
  const review = useQuery({
    queryKey: ['review', useOwner(), 'count'],
    queryFn: useReviewCount(),
    refetchInterval: 60_000,
  })
  return NAVIGATION.map((group) => (
    <ul key={group[0]?.path} className={styles.group}>
      {group
        .filter(({ needs }) => can(needs))
        .map(({ path, icon, name }) => (
          <li key={path}>
            <Link to={path} className={styles.place} activeProps={{ 'aria-current': 'page' }}>
              <Icon name={icon} />
              {t(name)}
              {path === '/studio/review' && (review.data ?? 0) > 0 && (
                <span className={styles.count}>{review.data}</span>
              )}
            </Link>
          </li>
        ))}
    </ul>
  ))
}

/** The badge stops counting here. */
const REVIEW_COUNT_MAX = 100

function useReviewCount(): () => Promise<number> {
  const owner = useOwner()
  return async () => {
    const params = { query: { owner, limit: REVIEW_COUNT_MAX } }
    const [{ memories }, { conflicts }] = await Promise.all([
      data(api.GET('/api/review', { params })),
      data(api.GET('/api/review/conflicts', { params })),
    ])
    return memories.length + conflicts.length
  }
}

/** Parameters that refer to data of one owner and are cleared when the owner changes. */
const OWNER_PARAMS = ['memory', 'episode', 'entity', 'session', 'turn', 'receipt', 'open', 'row']

/** Users can switch between their owners; superadmins between all, and to the page of all owners. */
function OwnerPicker() {
  const { t } = useI18n()
  const { session, can } = useSession()
  const owner = useOwner()
  const navigate = useNavigate()
  const isAllOwners = useRouterState({
    select: ({ location }) => location.pathname === ALL_OWNERS.path,
  })
  const knownOwners = useQuery({
    queryKey: ['owners'],
    queryFn: () => data(api.GET('/api/owners')),
    enabled: can('manage'),
  })
  const owners = new Set([
    owner,
    session.home,
    ...session.actsFor,
    ...(knownOwners.data?.owners ?? []).map((each) => each.owner),
  ])
  const selectOwner = (chosen: string) => {
    const cleared = Object.fromEntries(OWNER_PARAMS.map((name) => [name, undefined]))
    const search = (before: object) => ({ ...before, ...cleared, owner: chosen })
    const to = isAllOwners ? '/studio/memories' : '.'
    void navigate({ to, search } as never) // every page accepts an owner
  }
  if (owners.size < 2) {
    return (
      <span className={styles.owner}>
        <span className="visually-hidden">{t('shell.owner')}: </span>
        {owner}
      </span>
    )
  }
  return (
    <select
      className={styles.ownerPicker}
      aria-label={t('shell.owner')}
      value={isAllOwners ? ALL_OWNERS_VALUE : `${OWNER_PREFIX}${owner}`}
      onChange={({ target: { value } }) =>
        value === ALL_OWNERS_VALUE
          ? void navigate({ to: ALL_OWNERS.path })
          : selectOwner(value.slice(OWNER_PREFIX.length))
      }
    >
      {[...owners].sort().map((name) => (
        <option key={name} value={`${OWNER_PREFIX}${name}`}>
          {name}
        </option>
      ))}
      {can('manage') && (
        <>
          <hr />
          <option value={ALL_OWNERS_VALUE}>{t('shell.allOwners')}</option>
        </>
      )}
    </select>
  )
}

/** Prefixed, because an owner may have any name, also that of the other option. */
const OWNER_PREFIX = 'one:'
const ALL_OWNERS_VALUE = 'all'

const HEALTH_TONES: Record<string, Tone> = { ok: 'good', degraded: 'warn', unavailable: 'bad' }

function Health({ connection }: { connection: ConnectionState }) {
  const { t } = useI18n()
  const showToast = useToast()
  const query = useQuery({
    queryKey: ['health'],
    queryFn: async () => {
      const response = await fetch('/health/ready', { credentials: 'same-origin' })
      return (await response.json()) as { status: string; reasons: readonly string[] } // see /openapi.json
    },
    refetchInterval: 15_000,
    retry: false,
  })
  const memory = useMemorySetting(useOwner())
  const isLost = query.error !== null || connection === 'connecting'
  const status = isLost ? 'unavailable' : (query.data?.status ?? 'ok')
  const reasons = isLost ? [t('shell.reconnecting')] : (query.data?.reasons ?? [])
  const state = reasons.length === 0 ? t('shell.healthy') : reasons.join(' ')
  const isMemoryOff = memory.isOn === false && !isLost
  const message = isMemoryOff ? `${t('shell.memoryOff')}. ${state}` : state
  return (
    <Tooltip text={message}>
      <button
        type="button"
        className={styles.health}
        aria-label={`${t('shell.health')}: ${message}`}
        // Touch devices cannot hover.
        onClick={() => showToast({ text: message })}
      >
        <Dot tone={HEALTH_TONES[status] ?? 'warn'}>
          {isMemoryOff ? <span className={styles.wide}>{t('shell.memoryOff')}</span> : null}
        </Dot>
      </button>
    </Tooltip>
  )
}

function Reconnecting() {
  const { t } = useI18n()
  const [isVisible, setVisible] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setVisible(true), RECONNECT_NOTICE_MS)
    return () => clearTimeout(timer)
  }, [])
  return isVisible ? (
    <p className={styles.reconnecting} role="status">
      {t('shell.reconnecting')}
    </p>
  ) : null
}

function LanguageMenu() {
  const { t, language, selectLanguage } = useI18n()
  return (
    <Menu trigger={<IconButton icon="language" name={t('shell.language')} />}>
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <MenuItem
          key={tag}
          isSelected={tag === language}
          onSelect={() => selectLanguage(tag as Language)} // a key of `LANGUAGES`
        >
          {name}
        </MenuItem>
      ))}
    </Menu>
  )
}

const THEME_NAMES: Record<Theme, MessageKey> = {
  system: 'shell.themeSystem',
  light: 'shell.themeLight',
  dark: 'shell.themeDark',
}

function ThemeMenu() {
  const { t } = useI18n()
  const [theme, setTheme] = useState(storedTheme)
  return (
    <Menu
      trigger={<IconButton icon={theme === 'dark' ? 'dark' : 'light'} name={t('shell.theme')} />}
    >
      {THEMES.map((each) => (
        <MenuItem
          key={each}
          isSelected={each === theme}
          onSelect={() => {
            selectTheme(each)
            setTheme(each)
          }}
        >
          {t(THEME_NAMES[each])}
        </MenuItem>
      ))}
    </Menu>
  )
}

function SignOut() {
  const { t } = useI18n()
  const { session, signOut } = useSession()
  return (
    <Menu trigger={<IconButton icon="person" name={t('shell.account')} />}>
      <div className={styles.account}>
        <strong>{session.role}</strong>
        <span>{session.home}</span>
      </div>
      <MenuLine />
      <MenuItem icon="leave" onSelect={() => void signOut()}>
        {t('shell.signOut')}
      </MenuItem>
    </Menu>
  )
}
