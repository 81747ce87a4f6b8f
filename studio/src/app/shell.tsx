import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { api, data } from '../api/client.ts'
import { LANGUAGES, type Language, type MessageKey } from '../i18n/catalog.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { Dot, type Tone } from '../ui/layout.tsx'
import { useTell } from '../ui/toast.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useOwner } from './search-params.ts'
import { keysInUse, useKeys } from './shortcuts.ts'
import { type Liveness, NOTICED_MS, useLive } from './live-updates.ts'
import { type Permission, useSession } from './session.tsx'
import styles from './shell.module.css'
import { chooseTheme, chosenTheme, THEMES, type Theme } from './theme.ts'

type PageName =
  | 'memories'
  | 'timeline'
  | 'map'
  | 'sessions'
  | 'files'
  | 'playground'
  | 'receipts'
  | 'review'
  | 'engine'
  | 'jobs'
  | 'settings'
  | 'access'
  | 'audit'

type Place = {
  readonly path: `/studio/${PageName}`
  readonly icon: IconName
  readonly name: MessageKey
  readonly needs: Permission
}

const PLACES: readonly (readonly Place[])[] = [
  [
    { path: '/studio/memories', icon: 'memories', name: 'shell.memories', needs: 'read' },
    { path: '/studio/timeline', icon: 'timeline', name: 'shell.timeline', needs: 'read' },
    { path: '/studio/map', icon: 'map', name: 'shell.map', needs: 'read' },
    { path: '/studio/sessions', icon: 'sessions', name: 'shell.sessions', needs: 'read' },
    { path: '/studio/files', icon: 'files', name: 'shell.files', needs: 'read' },
  ],
  [
    { path: '/studio/playground', icon: 'playground', name: 'shell.playground', needs: 'read' },
    { path: '/studio/receipts', icon: 'receipts', name: 'shell.receipts', needs: 'read' },
    { path: '/studio/review', icon: 'review', name: 'shell.review', needs: 'read' },
  ],
  [
    { path: '/studio/engine', icon: 'engine', name: 'shell.engine', needs: 'manage' },
    { path: '/studio/jobs', icon: 'jobs', name: 'shell.jobs', needs: 'read' },
    { path: '/studio/settings', icon: 'settings', name: 'shell.settings', needs: 'read' },
    { path: '/studio/access', icon: 'access', name: 'shell.access', needs: 'manage' },
    { path: '/studio/audit', icon: 'audit', name: 'shell.audit', needs: 'manage' },
  ],
]

/** Not in the navigation: one comes there by choosing no owner in particular. */
const EVERYONE = { path: '/studio/everyone', name: 'shell.allOwners' } as const

export function Shell() {
  const { t } = useI18n()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const tell = useTell()
  const live = useLive(() => tell({ text: t('shell.reconnected') }))
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes when another page is opened
  useEffect(() => setMenuOpen(false), [path])
  const place = [...PLACES.flat(), EVERYONE].find((each) => each.path === path)
  const title = place === undefined ? 'Recollect' : `${t(place.name)} · Recollect`
  useEffect(() => {
    document.title = title
  }, [title])
  useKeys({
    '?': () => setHelpOpen(true),
    '/': () => searchField()?.focus(),
  })
  return (
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
        <Health live={live} />
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
        {live === 'connecting' && <Reconnecting />}
        <Outlet />
      </main>
      <KeyboardHelp isOpen={isHelpOpen} onClose={() => setHelpOpen(false)} />
    </div>
  )
}

function Navigation() {
  const { t } = useI18n()
  const { may } = useSession()
  const review = useQuery({
    queryKey: ['review', useOwner(), 'count'],
    queryFn: useReviewCount(),
    refetchInterval: 60_000,
  })
  return PLACES.map((group) => (
    <ul key={group[0]?.path} className={styles.group}>
      {group
        .filter(({ needs }) => may(needs))
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

/** Beyond this the exact number matters to nobody. */
const COUNTED_MAX = 100

function useReviewCount(): () => Promise<number> {
  const owner = useOwner()
  return async () => {
    const params = { query: { owner, limit: COUNTED_MAX } }
    const [{ memories }, { conflicts }] = await Promise.all([
      data(api.GET('/api/review', { params })),
      data(api.GET('/api/review/conflicts', { params })),
    ])
    return memories.length + conflicts.length
  }
}

/** What the address names of one owner: another has no such thing. */
const OF_ONE_OWNER = ['memory', 'episode', 'entity', 'session', 'turn', 'receipt', 'open', 'row']

/** Plain users see their own owners, one at a time; superadmins can go to any, and see all. */
function OwnerPicker() {
  const { t } = useI18n()
  const { session, may } = useSession()
  const owner = useOwner()
  const navigate = useNavigate()
  const isOfAll = useRouterState({ select: ({ location }) => location.pathname === EVERYONE.path })
  const known = useQuery({
    queryKey: ['owners'],
    queryFn: () => data(api.GET('/api/owners')),
    enabled: may('manage'),
  })
  const owners = new Set([
    owner,
    session.home,
    ...session.actsFor,
    ...(known.data?.owners ?? []).map((each) => each.owner),
  ])
  const choose = (chosen: string) => {
    const closed = Object.fromEntries(OF_ONE_OWNER.map((name) => [name, undefined]))
    const search = (before: object) => ({ ...before, ...closed, owner: chosen })
    const to = isOfAll ? '/studio/memories' : '.'
    void navigate({ to, search } as never) // every page has an owner
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
      value={isOfAll ? ALL : `${ONE}${owner}`}
      onChange={({ target: { value } }) =>
        value === ALL ? void navigate({ to: EVERYONE.path }) : choose(value.slice(ONE.length))
      }
    >
      {[...owners].sort().map((name) => (
        <option key={name} value={`${ONE}${name}`}>
          {name}
        </option>
      ))}
      {may('manage') && (
        <>
          <hr />
          <option value={ALL}>{t('shell.allOwners')}</option>
        </>
      )}
    </select>
  )
}

/** An owner may be called anything, even by the name of the other choice. */
const ONE = 'one:'
const ALL = 'all'

const TONES: Record<string, Tone> = { ok: 'good', degraded: 'warn', unavailable: 'bad' }

function Health({ live }: { live: Liveness }) {
  const { t } = useI18n()
  const tell = useTell()
  const query = useQuery({
    queryKey: ['health'],
    queryFn: async () => {
      const response = await fetch('/health/ready', { credentials: 'same-origin' })
      return (await response.json()) as { status: string; reasons: readonly string[] } // as /openapi.json says
    },
    refetchInterval: 15_000,
    retry: false,
  })
  const isLost = query.error !== null || live === 'connecting'
  const status = isLost ? 'unavailable' : (query.data?.status ?? 'ok')
  const reasons = isLost ? [t('shell.reconnecting')] : (query.data?.reasons ?? [])
  const said = reasons.length === 0 ? t('shell.healthy') : reasons.join(' ')
  return (
    <Tooltip text={said}>
      <button
        type="button"
        className={styles.health}
        aria-label={`${t('shell.health')}: ${said}`}
        // A finger can't hover.
        onClick={() => tell({ text: said })}
      >
        <Dot tone={TONES[status] ?? 'warn'}>{null}</Dot>
      </button>
    </Tooltip>
  )
}

function Reconnecting() {
  const { t } = useI18n()
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), NOTICED_MS)
    return () => clearTimeout(timer)
  }, [])
  return isLong ? (
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
          isChosen={tag === language}
          onSelect={() => selectLanguage(tag as Language)} // a key of the table
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
  const [theme, setTheme] = useState(chosenTheme)
  return (
    <Menu
      trigger={<IconButton icon={theme === 'dark' ? 'dark' : 'light'} name={t('shell.theme')} />}
    >
      {THEMES.map((each) => (
        <MenuItem
          key={each}
          isChosen={each === theme}
          onSelect={() => {
            chooseTheme(each)
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

type HelpedKey = {
  readonly key: string
  readonly name: MessageKey
  /** The key that listens where this one is of use; null when that is everywhere. */
  readonly with: string | null
}

const KEYS: readonly HelpedKey[] = [
  { key: '/', name: 'shell.shortcutSearch', with: '/' },
  { key: 'j', name: 'shell.shortcutNext', with: 'j' },
  { key: 'k', name: 'shell.shortcutPrevious', with: 'k' },
  { key: 'Enter', name: 'shell.shortcutOpen', with: 'j' },
  { key: 'e', name: 'shell.shortcutEdit', with: 'e' },
  { key: 'x', name: 'shell.shortcutSelect', with: 'x' },
  { key: 'n', name: 'shell.shortcutAdd', with: 'n' },
  { key: 'Esc', name: 'shell.shortcutClose', with: null },
  { key: '?', name: 'shell.shortcutHelp', with: null },
]

/** Those that do something on the page as it is now. */
function keysHere(): readonly HelpedKey[] {
  const inUse = keysInUse()
  const isHere = (key: string) => inUse.has(key) && (key !== '/' || searchField() !== null)
  return KEYS.filter((each) => each.with === null || isHere(each.with))
}

function searchField(): HTMLInputElement | null {
  return document.querySelector<HTMLInputElement>('[data-search]')
}

function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useI18n()
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('shell.shortcuts')}>
      <dl className={styles.keys}>
        {keysHere().map(({ key, name }) => (
          <Row key={key} term={<kbd>{key}</kbd>}>
            {t(name)}
          </Row>
        ))}
      </dl>
    </Dialog>
  )
}

function Row({ term, children }: { term: ReactNode; children: ReactNode }) {
  return (
    <div>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  )
}
