import { Dialog as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n/i18n.tsx'
import { IconButton } from './button.tsx'
import dialog from './dialog.module.css'
import styles from './side-panel.module.css'

/** A panel beside the page, which stays usable. Escape closes it; the focus then goes where `onFocusReturn` puts it. */
export function SidePanel({
  isOpen,
  onClose,
  title,
  tools,
  footer,
  onFocusReturn,
  children,
}: {
  isOpen: boolean
  onClose: () => void
  title: string
  /** Buttons beside the title. */
  tools?: ReactNode
  footer?: ReactNode
  onFocusReturn?: () => void
  children: ReactNode
}) {
  const { t } = useI18n()
  return (
    <Radix.Root open={isOpen} modal={false} onOpenChange={(open) => open || onClose()}>
      <Radix.Portal>
        <Radix.Content
          className={[dialog.panel, styles.panel].join(' ')}
          data-side-panel
          aria-describedby={undefined}
          onOpenAutoFocus={(event) => {
            event.preventDefault()
            if (event.target instanceof HTMLElement) event.target.focus()
          }}
          onCloseAutoFocus={(event) => {
            event.preventDefault()
            onFocusReturn?.()
          }}
          // The page beside it is in use while it is open.
          onInteractOutside={(event) => event.preventDefault()}
        >
          <header className={dialog.header}>
            <Radix.Title className={dialog.title}>{title}</Radix.Title>
            <div className={styles.tools}>
              {tools}
              <Radix.Close asChild>
                <IconButton icon="close" name={t('common.close')} />
              </Radix.Close>
            </div>
          </header>
          <div className={[dialog.body, styles.body].join(' ')}>{children}</div>
          {footer !== undefined && <footer className={dialog.footer}>{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
