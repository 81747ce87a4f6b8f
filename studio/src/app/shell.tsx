import { useQuery } from '@tanstack/react-query'
import { Link, Outlet, useNavigate, useRouterState } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { api, data } from '../api/client.ts'
import { LANGUAGES, type Language, type MessageKey } from '../i18n/catalogue.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { IconButton } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon, type IconName } from '../ui/icon.tsx'
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx'
import { Dot, type Tone } from '../ui/surface.tsx'
import { Tooltip } from '../ui/tooltip.tsx'
import { useOwner } from './address.ts'
import { useKeys } from './keyboard.ts'
import { type Liveness, useLive } from './live.ts'
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

export function Shell() {
  const { t } = useI18n()
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isHelpOpen, setHelpOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const live = useLive()
  // biome-ignore lint/correctness/useExhaustiveDependencies: closes when another page is opened
  useEffect(() => setMenuOpen(false), [path])
  useKeys({
    '?': () => setHelpOpen(true),
    '/': () => document.querySelector<HTMLInputElement>('[data-search]')?.focus(),
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
        <Link to="/studio/memories" className={styles.brand}>
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
          name={t('shell.keys')}
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

function useReviewCount(): () => Promise<number> {
  const owner = useOwner()
  return async () => {
    const { memories } = await data(
      api.GET('/api/review', { params: { query: { owner, limit: 100 } } }),
    )
    return memories.length
  }
}

/** Plain users see their own owners; superadmins can go to any. */
function OwnerPicker() {
  const { t, number } = useI18n()
  const { session, may } = useSession()
  const owner = useOwner()
  const navigate = useNavigate()
  const known = useQuery({
    queryKey: ['owners'],
    queryFn: () => data(api.GET('/api/owners')),
    enabled: may('manage'),
  })
  const counts = new Map<string, number | null>(
    [session.home, ...session.actsFor].map((name) => [name, null]),
  )
  for (const { owner: name, memories } of known.data?.owners ?? []) {
    counts.set(name, (counts.get(name) ?? 0) + memories)
  }
  const owners = [...counts].map(([name, memories]) => ({ owner: name, memories }))
  const choose = (chosen: string) =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, owner: chosen }) } as never) // every page has an owner
  if (owners.length < 2) {
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
      value={owner}
      onChange={({ target }) => choose(target.value)}
    >
      {owners.every((each) => each.owner !== owner) && <option value={owner}>{owner}</option>}
      {owners.map(({ owner: name, memories }) => (
        <option key={name} value={name}>
          {memories === null ? name : `${name} (${number(memories)})`}
        </option>
      ))}
    </select>
  )
}

const TONES: Record<string, Tone> = { ok: 'good', degraded: 'warn', unavailable: 'bad' }

function Health({ live }: { live: Liveness }) {
  const { t } = useI18n()
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
  const said = reasons.length === 0 ? t('shell.allWell') : reasons.join(' ')
  return (
    <Tooltip text={said}>
      <button type="button" className={styles.health} aria-label={`${t('shell.health')}: ${said}`}>
        <Dot tone={TONES[status] ?? 'warn'}>{null}</Dot>
      </button>
    </Tooltip>
  )
}

function Reconnecting() {
  const { t } = useI18n()
  const [isLong, setLong] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 1_500)
    return () => clearTimeout(timer)
  }, [])
  return isLong ? (
    <p className={styles.reconnecting} role="status">
      {t('shell.reconnecting')}
    </p>
  ) : null
}

function LanguageMenu() {
  const { t, language, choose } = useI18n()
  return (
    <Menu trigger={<IconButton icon="language" name={t('shell.language')} />}>
      {Object.entries(LANGUAGES).map(([tag, name]) => (
        <MenuItem
          key={tag}
          isChosen={tag === language}
          onSelect={() => choose(tag as Language)} // a key of the table
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
    <Menu trigger={<IconButton icon="access" name={t('shell.account')} />}>
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

const KEYS: readonly (readonly [string, MessageKey])[] = [
  ['/', 'shell.keySearch'],
  ['j', 'shell.keyNext'],
  ['k', 'shell.keyPrevious'],
  ['Enter', 'shell.keyOpen'],
  ['e', 'shell.keyEdit'],
  ['x', 'shell.keySelect'],
  ['n', 'shell.keyNew'],
  ['Esc', 'shell.keyClose'],
  ['?', 'shell.keyHelp'],
]

function KeyboardHelp({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { t } = useI18n()
  return (
    <Dialog isOpen={isOpen} onClose={onClose} title={t('shell.keys')}>
      <dl className={styles.keys}>
        {KEYS.map(([key, name]) => (
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
