import { Toast } from 'radix-ui'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { useI18n } from '../i18n/i18n.tsx'
import { Button, IconButton } from './button.tsx'
import styles from './toast.module.css'

type ToastMessage = {
  readonly text: string
  readonly isError?: boolean
  /** An action such as undo. */
  readonly action?: { readonly name: string; readonly run: () => unknown }
}

const Context = createContext<(message: ToastMessage) => void>(() => undefined)

const PLAIN_MS = 5_000
/** Long enough to reach "Undo" by keyboard. */
const ACTION_MS = 12_000

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t } = useI18n()
  const [messages, setMessages] = useState<readonly (ToastMessage & { readonly id: number })[]>([])
  const showToast = useCallback((message: ToastMessage) => {
    setMessages((before) => [...before.slice(-2), { ...message, id: Date.now() + Math.random() }])
  }, [])
  const removeMessage = (id: number) =>
    setMessages((before) => before.filter((each) => each.id !== id))
  return (
    <Context value={showToast}>
      <Toast.Provider label={t('common.notification')}>
        {children}
        {messages.map(({ id, text, isError = false, action }) => (
          <Toast.Root
            key={id}
            className={[styles.toast, isError ? styles.bad : ''].join(' ')}
            duration={action === undefined ? PLAIN_MS : ACTION_MS}
            type={isError ? 'foreground' : 'background'}
            onOpenChange={(open) => open || removeMessage(id)}
          >
            <Toast.Description className={styles.text}>{text}</Toast.Description>
            {action !== undefined && (
              <Toast.Action asChild altText={action.name}>
                <Button isSmall onClick={() => void action.run()}>
                  {action.name}
                </Button>
              </Toast.Action>
            )}
            <Toast.Close asChild>
              <IconButton isSmall icon="close" name={t('common.close')} />
            </Toast.Close>
          </Toast.Root>
        ))}
        {/* Each message is announced separately; `aria-live` only keeps an open drawer from hiding the region. */}
        <Toast.Viewport className={styles.viewport} aria-live="off" />
      </Toast.Provider>
    </Context>
  )
}

export function useToast(): (message: ToastMessage) => void {
  return useContext(Context)
}
