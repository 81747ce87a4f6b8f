import { Tooltip as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useI18n } from '../i18n/i18n.tsx'
import { Icon } from './icon.tsx'
import styles from './tooltip.module.css'

export const TooltipProvider = Radix.Provider

export function Tooltip({ text, children }: { text: ReactNode; children: ReactNode }) {
  return (
    <Radix.Root delayDuration={400}>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content className={styles.tooltip} sideOffset={6} collisionPadding={8}>
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** An info icon that explains a term in a tooltip. */
export function InfoTip({ text }: { text: string }) {
  const { t } = useI18n()
  return (
    <Tooltip text={text}>
      <button type="button" className={styles.info} aria-label={t('common.info')}>
        <Icon name="info" size={14} />
      </button>
    </Tooltip>
  )
}
