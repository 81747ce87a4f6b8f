import { Toast } from 'radix-ui'
import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { useI18n } from '../i18n/i18n.tsx'
import { Button, IconButton } from './button.tsx'
import styles from './toast.module.css'

export type Telling = {
  readonly text: string
  readonly isBad?: boolean
  /** As undo. */
  readonly action?: { readonly name: string; readonly run: () => unknown }
}

const Context = createContext<(telling: Telling) => void>(() => undefined)

const PLAIN_MS = 5_000
/** Long enough to find the way to "Undo" by keyboard. */
const ACTION_MS = 12_000

export function ToastProvider({ children }: { children: ReactNode }) {
  const { t } = useI18n()
  const [told, setTold] = useState<readonly (Telling & { readonly id: number })[]>([])
  const tell = useCallback((telling: Telling) => {
    setTold((before) => [...before.slice(-2), { ...telling, id: Date.now() + Math.random() }])
  }, [])
  const drop = (id: number) => setTold((before) => before.filter((each) => each.id !== id))
  return (
    <Context value={tell}>
      <Toast.Provider label={t('common.notification')}>
        {children}
        {told.map(({ id, text, isBad = false, action }) => (
          <Toast.Root
            key={id}
            className={[styles.toast, isBad ? styles.bad : ''].join(' ')}
            duration={action === undefined ? PLAIN_MS : ACTION_MS}
            type={isBad ? 'foreground' : 'background'}
            onOpenChange={(open) => open || drop(id)}
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
        {/* Each message is read out on its own; this only keeps an open drawer from hiding the way to undo. */}
        <Toast.Viewport className={styles.viewport} aria-live="off" />
      </Toast.Provider>
    </Context>
  )
}

export function useTell(): (telling: Telling) => void {
  return useContext(Context)
}
