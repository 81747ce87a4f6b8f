/** The keys that have an effect on the current page. */
import type { ReactNode } from 'react'
import type { MessageKey } from '../i18n/catalog.ts'
import { useI18n } from '../i18n/i18n.tsx'
import { Dialog } from '../ui/dialog.tsx'
import styles from './shell.module.css'
import { activeShortcuts, searchField } from './shortcuts.ts'

type ShortcutHelp = {
  readonly key: string
  readonly name: MessageKey
  /** The shortcut must be active for this one to be listed; null if it is always listed. */
  readonly with: string | null
}

const SHORTCUTS: readonly ShortcutHelp[] = [
  { key: '/', name: 'shell.shortcutSearch', with: '/' },
  { key: 'j', name: 'shell.shortcutNext', with: 'j' },
  { key: 'k', name: 'shell.shortcutPrevious', with: 'k' },
  { key: 'Enter', name: 'shell.shortcutOpen', with: 'j' },
  { key: 'e', name: 'shell.shortcutEdit', with: 'e' },
  { key: 'x', name: 'shell.shortcutSelect', with: 'x' },
  { key: 'n', name: 'shell.shortcutAdd', with: 'n' },
  { key: 'Ctrl K', name: 'shell.shortcutPalette', with: null },
  { key: 'Esc', name: 'shell.shortcutClose', with: null },
  { key: '?', name: 'shell.shortcutHelp', with: null },
]

/** The shortcuts that have an effect on the current page. */
function availableShortcuts(): readonly ShortcutHelp[] {
  const active = activeShortcuts()
  const isActive = (key: string) => active.has(key) && (key !== '/' || searchField() !== null)
  return SHORTCUTS.filter((each) => each.with === null || isActive(each.with))
}

export function KeyboardHelp({ onClose }: { onClose: () => void }) {
  const { t } = useI18n()
  return (
    <Dialog isOpen onClose={onClose} title={t('shell.shortcuts')}>
      <dl className={styles.keys}>
        {availableShortcuts().map(({ key, name }) => (
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
