import { AlertDialog, Dialog as Radix } from 'radix-ui'
import { type KeyboardEvent, type ReactNode, useState } from 'react'
import { useI18n } from '../i18n/i18n.tsx'
import { Button, IconButton } from './button.tsx'
import styles from './dialog.module.css'

type DialogProps = {
  isOpen: boolean
  onClose: () => void
  title: string
  /** Announced with the title. */
  description?: string
  children: ReactNode
  shape?: 'dialog' | 'wide'
  footer?: ReactNode
  /** Something was typed that closing would lose: asks first. */
  isDirty?: boolean
  /** Closes only by a button of its own. */
  isPersistent?: boolean
}

export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  shape = 'dialog',
  footer,
  isDirty = false,
  isPersistent = false,
}: DialogProps) {
  const { t } = useI18n()
  const [isAsking, setAsking] = useState(false)
  const close = () => {
    if (isPersistent) return
    if (isDirty) setAsking(true)
    else onClose()
  }
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => open || close()}>
      <Radix.Portal>
        <Radix.Overlay className={styles.overlay} />
        <Radix.Content
          className={[styles.panel, styles[shape]].join(' ')}
          onOpenAutoFocus={focusPanel}
          onKeyDown={submitOnCtrlEnter}
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
        >
          <header className={styles.header}>
            <Radix.Title className={styles.title}>{title}</Radix.Title>
            {!isPersistent && (
              <Radix.Close asChild>
                <IconButton icon="close" name={t('common.close')} />
              </Radix.Close>
            )}
          </header>
          <div className={styles.body}>
            {description !== undefined && (
              <Radix.Description className={styles.description}>{description}</Radix.Description>
            )}
            {children}
          </div>
          {footer !== undefined && <footer className={styles.footer}>{footer}</footer>}
          <Confirm
            isOpen={isAsking}
            onClose={() => setAsking(false)}
            title={t('common.discardTitle')}
            description={t('common.discardHelp')}
            action={t('common.discard')}
            cancel={t('common.keepEditing')}
            onConfirm={onClose}
          />
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Submits the form of the dialog, also from a field in which Enter starts a new line. */
function submitOnCtrlEnter(event: KeyboardEvent<HTMLElement>) {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  event.currentTarget.querySelector('form')?.requestSubmit()
}

/** Focuses the panel instead of the first button, whose tooltip would open and consume the first Escape. */
function focusPanel(event: Event) {
  event.preventDefault()
  if (event.target instanceof HTMLElement) event.target.focus()
}

/** A confirmation dialog. The cancel button has the initial focus. */
export function Confirm({
  isOpen,
  onClose,
  title,
  description,
  children,
  action,
  cancel,
  isDangerous = true,
  onConfirm,
}: {
  isOpen: boolean
  onClose: () => void
  title: string
  description: string
  children?: ReactNode
  action: string
  /** Default: "Cancel". */
  cancel?: string
  isDangerous?: boolean
  onConfirm: () => Promise<unknown> | unknown
}) {
  const { t } = useI18n()
  const [isBusy, setBusy] = useState(false)
  const confirm = async () => {
    setBusy(true)
    try {
      await onConfirm()
    } finally {
      setBusy(false)
      onClose()
    }
  }
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={(open) => open || onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={styles.overlay} />
        <AlertDialog.Content className={[styles.panel, styles.dialog].join(' ')}>
          <header className={styles.header}>
            <AlertDialog.Title className={styles.title}>{title}</AlertDialog.Title>
          </header>
          <div className={styles.body}>
            <AlertDialog.Description className={styles.description}>
              {description}
            </AlertDialog.Description>
            {children}
          </div>
          <footer className={styles.footer}>
            <AlertDialog.Cancel asChild>
              <Button>{cancel ?? t('common.cancel')}</Button>
            </AlertDialog.Cancel>
            <Button
              look={isDangerous ? 'danger' : 'primary'}
              isBusy={isBusy}
              onClick={() => void confirm()}
            >
              {action}
            </Button>
          </footer>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  )
}
